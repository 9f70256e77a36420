"""How the next thread is set up, from what the ones before it achieved, and why. Pure.

What a person fixed stays; what they left to adapt (`--adaptive`, `--progressive`, several models,
`--refine`) is decided here by the policies. While a wording of the prompt is on trial, threshold
and model stay as they were: two changes at once could not be told apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from foundry.circular.adaptation import HIGH, LOW, Threshold, adapted
from foundry.circular.escalation import Choice, choose
from foundry.circular.history import assignment_of, states_of
from foundry.circular.metrics import progress_state, work
from foundry.circular.parts import alone, done_parts
from foundry.circular.progressive import Shown, shown
from foundry.circular.prompts import Prompts, prompts_of
from foundry.circular.schema import IterationState, PromptVersion
from foundry.circular.state_schema import Assignment, Settings
from foundry.schema.journal import Entry
from foundry.schema.workflow import Step
from foundry.workflow.cursor import Instruction


@dataclass(frozen=True, slots=True)
class Setup:
    """What one thread begins with. `place` is that of its model among several, from 1; else 0."""

    version: PromptVersion
    threshold: float
    place: int = 0
    model: str = ""
    shown: Shown | None = None
    reasons: dict[str, str] = field(default_factory=dict)


def setup_of(entries: Sequence[Entry]) -> Setup | None:
    """How the thread that works next is set up; None in a run of another command."""
    assignment, prompts = assignment_of(entries), prompts_of(entries)
    if assignment is None or prompts is None:
        return None
    settings, states = assignment.settings, states_of(entries)
    reasons = {}
    threshold = _threshold(settings, states, prompts)
    if settings.adaptive:
        reasons["threshold"] = threshold.reason
    choice = _model(settings, states, prompts)
    if choice:
        reasons["model"] = f"{choice.model}: {choice.reason}"
    told = _shown(assignment, states, entries)
    if told:
        reasons["context"] = _context_reason(told)
    if settings.parallel > 1 and (why := alone(entries)):
        reasons["partitions"] = why
    if settings.refine:
        reasons["prompt"] = prompts.news or f"version {prompts.active.number}"
    return Setup(
        version=prompts.active,
        threshold=threshold.value,
        place=settings.models.index(choice.model) + 1 if choice else 0,
        model=choice.model if choice else "",
        shown=told,
        reasons=reasons,
    )


def doubt_of(entries: Sequence[Entry]) -> Setup | None:
    """How a thread that doubts is set up: the whole context, the prompt as the person gave it."""
    assignment, prompts = assignment_of(entries), prompts_of(entries)
    if assignment is None or prompts is None:
        return None
    original, settings = prompts.history.versions[0], assignment.settings
    if not settings.models:
        return Setup(original, settings.threshold)
    if settings.models_by == "rotate":
        choice = choose(settings.models, states_of(entries), "rotate")
    else:
        choice = Choice(settings.models[-1], "the strongest one doubts")
    return Setup(
        original,
        settings.threshold,
        place=settings.models.index(choice.model) + 1,
        model=choice.model,
        reasons={"model": f"{choice.model}: {choice.reason}"},
    )


def tuned_work(due: Instruction, entries: tuple[Entry, ...]) -> Step:
    """The step that works, with the threshold and the model that are due."""
    return _tuned(due, setup_of(entries), entries)


def tuned_doubt(due: Instruction, entries: tuple[Entry, ...]) -> Step:
    """The step that doubts, with the model that is due."""
    return _tuned(due, doubt_of(entries), entries)


def _tuned(due: Instruction, setup: Setup | None, entries: Sequence[Entry]) -> Step:
    step, assignment = due.step, assignment_of(entries)
    if setup is None or assignment is None:
        return step
    if assignment.settings.adaptive:
        budget = step.budget.model_copy(update={"threshold": setup.threshold})
        step = step.model_copy(update={"budget": budget})
    return step.model_copy(update={"role": f"{step.role}:{setup.place}"}) if setup.place else step


def _threshold(settings: Settings, states: Sequence[IterationState], prompts: Prompts) -> Threshold:
    default = settings.threshold
    if not settings.adaptive:
        return Threshold(default, "")
    if (last := _last(states)) and (trial := _trial(prompts)):
        return Threshold(last.threshold, f"{last.threshold:.0%}: {trial}")
    return adapted(states, default, min(LOW, default), max(HIGH, default))


def _model(settings: Settings, states: Sequence[IterationState], prompts: Prompts) -> Choice | None:
    if not settings.models:
        return None
    last, trial = _last(states), _trial(prompts)
    if last and trial and last.model in settings.models:
        return Choice(last.model, trial)
    return choose(settings.models, states, settings.models_by)


def _trial(prompts: Prompts) -> str:
    """Why something stays as it was; empty where nothing is on trial."""
    version = prompts.active
    on = version.decision == "trial"
    return f"as before, while version {version.number} of the prompt is on trial" if on else ""


def _last(states: Sequence[IterationState]) -> IterationState | None:
    return next(reversed(work(states)), None)


def _shown(
    assignment: Assignment, states: Sequence[IterationState], entries: Sequence[Entry]
) -> Shown | None:
    if not assignment.settings.progressive or assignment.base_context is None:
        return None
    return shown(assignment.base_context, progress_state(states, 0), done_parts(entries))


def _context_reason(told: Shown) -> str:
    left_out = f"; left out: {', '.join(told.left_out)}" if told.left_out else ""
    return f"{told.reason}{left_out}"
