"""From what a person asks for on the command line to a run of circular.yaml, and its end."""

from dataclasses import dataclass
from pathlib import Path

from foundry.circular.assignment import assigned, given_file, given_prompt
from foundry.circular.handover import hand_over
from foundry.circular.history import ASSIGNMENT
from foundry.circular.prompt_values import rendered
from foundry.circular.settings import check_settings, role_models
from foundry.circular.shape import shaped
from foundry.circular.state_schema import MESSAGE, Assignment, ModelsBy, Settings
from foundry.conversation.loop import WORKING_WINDOW
from foundry.engine import session
from foundry.engine.pinned_workflow import Chosen
from foundry.engine.runner import Ended
from foundry.engine.session import Watch, Wish
from foundry.engine.workspace import check_branch, check_spec
from foundry.errors import InputError
from foundry.model import prices
from foundry.model.tokens import estimate
from foundry.schema.messages import text_block
from foundry.store.git.repository import Repository
from foundry.workflow.load import builtin

OPENING = 5_000
"""Tokens, about: what every conversation begins with beside its task."""


@dataclass(frozen=True, slots=True)
class Asked:
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


def circular_wish(asked: Asked) -> Wish:
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


def begun(wish: Wish, watch: Watch) -> Ended:
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
    """Raise InputError where a conversation would be at its threshold before it has begun."""
    window = min(prices.window(model) or WORKING_WINDOW, WORKING_WINDOW)
    room = int(window * assignment.settings.threshold)
    told = estimate([text_block(assignment.prompt + rendered(assignment.base_context))])
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
