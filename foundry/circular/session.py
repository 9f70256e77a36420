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
)
from foundry.circular.history import ASSIGNMENT, assignment_of
from foundry.circular.patches import hand_over
from foundry.circular.schema import MESSAGE, Assignment, ModelsBy, Settings
from foundry.conversation.loop import WORKING_WINDOW
from foundry.engine import session
from foundry.engine.pinned_workflow import PinnedWorkflow
from foundry.engine.runner import Ended
from foundry.engine.session import RunObserver
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
    """The options of `foundry circular` that are its own; the others are those of any run."""

    prompt: str
    context: Path | None = None
    threshold: float = 0.60
    max_iterations: int = 20
    confirmations: int = 1
    commit: bool = True
    message: str = MESSAGE
    adaptive: bool = False
    parallel: int = 1
    progressive: bool = False
    several: tuple[str, ...] = ()
    """Models from the cheapest to the strongest; one or none is the model of every thread."""
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
            models=self.several if len(self.several) > 1 else (),
            models_by=self.models_by,
        )


@dataclass(frozen=True, slots=True)
class NewRun:
    """A circular run that can begin: what session.build is given."""

    options: RunOptions
    workflow: PinnedWorkflow
    own: Mapping[str, Json]


def start_run(asked: CircularOptions, options: RunOptions, observer: RunObserver) -> Ended:
    """Work on a new run until it ends or pauses, and hand over what it made.

    Raises what `new_run` raises.
    """
    run = new_run(asked, options)
    ended = session.build(run.options, observer, workflow=run.workflow, own=run.own)
    hand_over(run.options.folder or Path(), ended, observer)
    return ended


def new_run(asked: CircularOptions, options: RunOptions) -> NewRun:
    """The run that is asked for.

    Raises InputError or ArtifactError for what can't be used, InputError also where what a
    conversation is told leaves it no room to work.
    """
    prompt = given_prompt(asked.prompt)
    spec, folder = check_spec(prompt.text), options.folder or Path()
    assignment = assigned(
        spec,
        prompt_file=prompt.file,
        context=given_file(asked.context, "the base context") if asked.context else None,
        confirmations=asked.confirmations,
        commit=asked.commit,
        message=_checked_message(asked.message),
        checked=bool(options.checks),
        settings=asked.settings,
    )
    check_settings(assignment)
    check_branch(options.branch)
    if not asked.commit and not _is_repository(folder):
        raise InputError(
            "--no-commit puts the result into a checkout, and there is none",
            hint=f"Leave it out: {folder.resolve()} is no repository with a commit",
        )
    for name in {options.model, *options.models.values()}:
        _check_fits(assignment, name)
    workflow = shaped(
        builtin("circular"),
        threshold=asked.threshold,
        max_iterations=asked.max_iterations,
        confirmations=asked.confirmations,
        refine=asked.refine,
    )
    return NewRun(
        options.model_copy(update={"spec": spec, "folder": folder, "patient": True}),
        PinnedWorkflow(workflow),
        {ASSIGNMENT: assignment.model_dump(mode="json", exclude_none=True)},
    )


def _check_fits(assignment: Assignment, model: str) -> None:
    """Raise InputError where a conversation would be at its threshold before it has begun."""
    window = min(prices.window(model) or WORKING_WINDOW, WORKING_WINDOW)
    limit = int(window * assignment.settings.threshold)
    given = estimate([text_block(assignment.prompt + context_text(assignment.base_context))])
    if given + OPENING > limit:
        raise InputError(
            f"a conversation with {model} ends at {limit:,} tokens, and is told about "
            f"{given + OPENING:,} before it begins: {given:,} of them by the prompt and base "
            "context",
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
    observer: RunObserver,
    given: Mapping[str, Json],
    *,
    accept: bool | None = None,
    several: tuple[str, ...] = (),
    any_run: bool = False,
) -> Ended:
    """Go on after the last saved iteration.

    `accept` decides about a prompt or base context whose file says something else now; None asks.
    Raises InputError when nobody is there to ask. `several` models, if any, replace those that the
    run began with; how it adapts otherwise stays. With `any_run` a run of another kind goes on too.
    """

    def own(entries: tuple[Entry, ...]) -> Mapping[str, Json]:
        assignment = assignment_of(entries)
        if assignment:
            return _renewed(
                assignment, several, lambda changed: _accepted(changed, accept, observer)
            )
        if any_run:
            return {}
        raise InputError(
            f"the newest run in {folder} is not one of `foundry circular`",
            hint="`foundry resume` goes on with it",
        )

    ended = session.resume(folder, change, observer, given, own)
    hand_over(folder, ended, observer)
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


def _accepted(changed: tuple[str, ...], accept: bool | None, observer: RunObserver) -> bool:
    if accept is not None:
        return accept
    what = f"{' and '.join(changed)} changed since the run began"
    answer = observer.ask(
        f"{what}. Go on with what stands there now? (no: with what it began with)"
    )
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
