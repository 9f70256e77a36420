"""Start a circular run, and take it up again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from foundry.circular.assignment import (
    assigned,
    changed_since,
    check_settings,
    context_text,
    given_file,
    given_prompt,
    reread,
    role_models,
)
from foundry.circular.history import ASSIGNMENT, assignment_of
from foundry.circular.patches import hand_over
from foundry.circular.schema import MESSAGE, Assignment, ModelsBy, Settings
from foundry.conversation.loop import WORKING_WINDOW
from foundry.engine import session
from foundry.engine.pinned_workflow import Chosen
from foundry.engine.runner import Ended
from foundry.engine.session import Watch, Wish
from foundry.engine.workspace import check_branch, check_spec
from foundry.errors import InputError
from foundry.model import prices
from foundry.model.tokens import estimate
from foundry.schema.base import Json
from foundry.schema.journal import Entry
from foundry.schema.messages import text_block
from foundry.schema.run import RunOptions
from foundry.schema.workflow import LoopStep, Workflow
from foundry.store.git.repository import Repository
from foundry.workflow.load import builtin

OPENING = 5_000
"""Tokens, about: what every conversation begins with beside its task."""

DOUBT = "doubt"
"""The step of circular.yaml that is held once for each confirmation."""


@dataclass(frozen=True, slots=True)
class CircularOptions:
    """The options of `foundry circular` that are its own."""

    prompt: str
    context: Path | None = None
    folder: Path = Path()
    checks: tuple[str, ...] = ()
    threshold: float = 0.60
    max_iterations: int = 20
    confirmations: int = 1
    commit: bool = True
    branch: str = ""
    message: str = MESSAGE
    adaptive: bool = False
    parallel: int = 1
    progressive: bool = False
    models: tuple[str, ...] = ()
    """From the cheapest to the strongest; one or none is the model of every thread."""
    models_by: ModelsBy = "escalate"
    refine: bool = False

    @property
    def settings(self) -> Settings:
        """How the iterations are to adapt."""
        return Settings(
            threshold=self.threshold,
            adaptive=self.adaptive,
            parallel=self.parallel,
            progressive=self.progressive,
            refine=self.refine,
            models=self.models if len(self.models) > 1 else (),
            models_by=self.models_by,
        )


def new_run(asked: CircularOptions) -> Wish:
    """The run that is asked for; raises InputError or ArtifactError for what can't be used."""
    prompt = given_prompt(asked.prompt)
    text = check_spec(prompt.text)
    context = given_file(asked.context, "the base context") if asked.context else None
    assignment = assigned(
        text,
        prompt_file=prompt.file,
        context=context,
        confirmations=asked.confirmations,
        commit=asked.commit,
        message=_checked_message(asked.message),
        checked=bool(asked.checks),
        settings=asked.settings,
    )
    check_settings(assignment)
    check_branch(asked.branch)
    if not asked.commit and not _is_repository(asked.folder):
        raise InputError(
            "--no-commit puts the result into a checkout, and there is none",
            hint=f"Leave it out: {asked.folder.resolve()} is no repository with a commit",
        )
    workflow = shaped(
        builtin("circular"),
        threshold=asked.threshold,
        max_iterations=asked.max_iterations,
        confirmations=asked.confirmations,
        refine=asked.refine,
    )
    return Wish(
        spec=text,
        folder=asked.folder,
        chosen=Chosen(workflow),
        checks=asked.checks,
        own={ASSIGNMENT: assignment.model_dump(mode="json", exclude_none=True)},
        branch=asked.branch,
        patient=True,
        models=role_models(asked.settings.models),
    )


def start_run(wish: Wish, watch: Watch) -> Ended:
    """Work on a new run until it ends or pauses, and hand over what it made.

    Raises InputError when what a conversation is told leaves it no room to work.
    """
    assignment = Assignment.model_validate(wish.own[ASSIGNMENT])
    for name in {wish.model, *wish.models.values()}:
        check_room(assignment, name)
    ended = session.build(wish, watch)
    hand_over(wish.folder or Path(), ended, watch)
    return ended


def check_room(assignment: Assignment, model: str) -> None:
    """Raise InputError where a conversation would be at its threshold before it has start_run."""
    window = min(prices.window(model) or WORKING_WINDOW, WORKING_WINDOW)
    room = int(window * assignment.settings.threshold)
    told = estimate([text_block(assignment.prompt + context_text(assignment.base_context))])
    if told + OPENING > room:
        raise InputError(
            f"a conversation with {model} ends at {room:,} tokens, and is told about "
            f"{told + OPENING:,} before it begins: {told:,} of them by the prompt and base context",
            hint="Shorten those, or put details into files of the project; or raise --threshold",
        )


def _is_repository(folder: Path) -> bool:
    return folder.is_dir() and bool(Repository(folder).head())


def _checked_message(template: str) -> str:
    if not template.strip() or "\n" in template:
        raise InputError(
            f"--message {template!r} is no line",
            hint="Give one line; {iteration}, {files} and {issues} are filled in",
        )
    return template.strip()


def resume_run(
    folder: Path,
    change: Callable[[RunOptions], RunOptions],
    watch: Watch,
    given: Mapping[str, Json],
    *,
    accept: bool | None = None,
    models: tuple[str, ...] = (),
    any_run: bool = False,
) -> Ended:
    """Go on after the last saved iteration.

    `accept` decides about a prompt or base context whose file says something else now; None asks.
    Raises InputError when nobody is there to ask. `models`, if any, replace those that the run
    began with; how it adapts otherwise stays. With `any_run` a run of another kind goes on too.
    """

    def own(entries: tuple[Entry, ...]) -> Mapping[str, Json]:
        assignment = assignment_of(entries)
        if assignment:
            return _renewed(assignment, models, lambda changed: _accepted(changed, accept, watch))
        if any_run:
            return {}
        raise InputError(
            f"the newest run in {folder} is not one of `foundry circular`",
            hint="`foundry resume` goes on with it",
        )

    ended = session.resume(folder, change, watch, given, own)
    hand_over(folder, ended, watch)
    return ended


def _renewed(
    assignment: Assignment, models: tuple[str, ...], accepted: Callable[[tuple[str, ...]], bool]
) -> Mapping[str, Json]:
    """The variable of the assignment, where the person changed something of it."""
    anew = assignment
    changed = changed_since(assignment)
    if changed and accepted(changed):
        anew = reread(assignment)
    if models:
        several = models if len(models) > 1 else ()
        settings = anew.settings.model_copy(update={"models": several})
        anew = anew.model_copy(update={"settings": settings})
    if anew == assignment:
        return {}
    return {ASSIGNMENT: anew.model_dump(mode="json", exclude_none=True)}


def _accepted(changed: tuple[str, ...], accept: bool | None, watch: Watch) -> bool:
    if accept is not None:
        return accept
    what = f"{' and '.join(changed)} changed since the run began"
    answer = watch.ask(f"{what}. Go on with what stands there now? (no: with what it began with)")
    if answer is None:
        raise InputError(
            what,
            hint="`foundry circular resume --accept-changes` goes on with what stands there now, "
            "--ignore-changes with what the run began with",
        )
    return answer


# -- the workflow ----------------------------------------------------------------------------------


def shaped(
    workflow: Workflow,
    *,
    threshold: float,
    max_iterations: int,
    confirmations: int = 1,
    refine: bool = False,
) -> Workflow:
    """The workflow in which every thread ends at `threshold`, with so many doubting threads."""
    steps = (
        _shaped_loop(step, threshold, max_iterations, confirmations, refine=refine)
        if isinstance(step, LoopStep)
        else step
        for step in workflow.steps
    )
    return workflow.model_copy(update={"steps": tuple(steps)})


def _shaped_loop(
    loop: LoopStep, threshold: float, max_iterations: int, confirmations: int, *, refine: bool
) -> LoopStep:
    doubts = [DOUBT, *(f"{DOUBT}-{number}" for number in range(2, confirmations + 1))]
    body = []
    for step in loop.steps:
        budget = step.budget.model_copy(update={"threshold": threshold})
        contract = "circular-refining" if refine and step.contract == "circular" else step.contract
        for name in doubts if step.id == DOUBT else [step.id]:
            update = {"id": name, "budget": budget, "contract": contract}
            body.append(step.model_copy(update=update))
    most = loop.loop.model_copy(update={"max_iterations": max_iterations})
    return loop.model_copy(update={"loop": most, "body": tuple(body)})
