"""How the next thread is set up, from what the ones before it achieved, and why. Pure.

What a person fixed stays; what they left to adapt (`--adaptive`, `--progressive`, several models,
`--refine`) is decided here. While a wording of the prompt is on trial, threshold and model stay as
they were: two changes at once could not be told apart.

*Adaptive threshold*: hill climbing, one step an iteration, within bounds. Only threads that the
threshold ended say anything about it. What is climbed is gain per token: a low threshold pays the
base context more often, a high one pays for a full window with every call and, as windows fill, for
worse work.

*Several models*, from the cheapest to the strongest. Escalate: a model that gained nothing in an
iteration hands over to the next; the stronger one hands back when it gained something in CALM
iterations in a row, but never to a model that was stuck twice. Rotate: each in its turn.

*Progressive context*: the base context shrinks as parts of the work are done. The objective's
primary sentence and every constraint are always there.

1. A part that is done loses its details and paths: it is one line that says so.
2. From HALF of the known issues on, the history is told by where it came from and went to, and its
   notes are left out.
3. From MOST on, the project is told by its name and stack, and the history and the secondary
   objective are left out.
4. When the last iteration gained nothing, everything is back: what was left out may be what is
   missing.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from foundry.circular.history import assignment_of, states_of
from foundry.circular.metrics import PER_TOKENS, gains, overall_progress, work
from foundry.circular.partitions import alone, done_parts
from foundry.circular.prompt_versions import Prompts, PromptVersion, prompts_of
from foundry.circular.schema import Assignment, BaseContext, IterationState, ModelsBy, Settings
from foundry.schema.journal import Entry
from foundry.schema.workflow import Step
from foundry.workflow.cursor import Instruction

DEFAULT = 0.60
"""The seed's threshold."""

LOW, HIGH, STEP = 0.30, 0.80, 0.05

MARGIN = 0.10
"""By what share gain per token has to differ to be more than chance."""

CALM = 2
"""Iterations with gain after which a weaker model has its turn again."""

STUCK = 2
"""How often a model may be stuck and still be gone back to."""

HALF, MOST = 0.5, 0.8
"""Shares of the known issues that are resolved."""

DONE = "(done)"
"""What the title of a part that is done ends with."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What one thread begins with, and why by what was decided."""

    version: PromptVersion
    threshold: float
    model: str = ""
    """Its name as it was given, where there are several."""
    rank: int = 0
    """Of the model among several, from 1; else 0."""
    context: BaseContext | None = None
    left_out: tuple[str, ...] = ()
    """Fields of the base context that the thread is not told."""
    reasons: dict[str, str] = field(default_factory=dict)


def setup_of(entries: Sequence[Entry], *, doubts: bool = False) -> Setup | None:
    """How the thread that works (or `doubts`) next is set up; None in a run of another command.

    Raises ArtifactError for a proposed wording that is not the one that was journalled.
    """
    assignment, prompts = assignment_of(entries), prompts_of(entries)
    if assignment is None or prompts is None:
        return None
    return (_doubt_setup if doubts else _work_setup)(assignment, prompts, entries)


def _work_setup(assignment: Assignment, prompts: Prompts, entries: Sequence[Entry]) -> Setup:
    settings, states = assignment.settings, states_of(entries)
    version, last = prompts.active, next(reversed(work(states)), None)
    trial = ""
    if last and version.decision == "trial":
        trial = f"as before, while version {version.number} of the prompt is on trial"
    threshold, model, reasons = settings.threshold, "", {}
    context = assignment.base_context
    left_out: tuple[str, ...] = ()
    if settings.adaptive:
        threshold, reasons["threshold"] = _threshold(settings, states, last, trial)
    if settings.models:
        model, why = _model(settings, states, last, trial)
        reasons["model"] = f"{model}: {why}"
    if settings.progressive and context:
        context, left_out, why = shrunk_context(context, states, done_parts(entries))
        reasons["context"] = why + (f"; left out: {', '.join(left_out)}" if left_out else "")
    if settings.parallel > 1 and (why := alone(entries)):
        reasons["partitions"] = why
    if settings.refine:
        reasons["prompt"] = prompts.news or f"version {version.number}"
    rank = settings.models.index(model) + 1 if model else 0
    return Setup(version, threshold, model, rank, context, left_out, reasons)


def _doubt_setup(assignment: Assignment, prompts: Prompts, entries: Sequence[Entry]) -> Setup:
    """The whole context, and the prompt as the person gave it."""
    settings, model, rank, reasons = assignment.settings, "", 0, {}
    if settings.models:
        model, why = settings.models[-1], "the strongest one doubts"
        if settings.models_by == "rotate":
            model, why = next_model(settings.models, states_of(entries), "rotate")
        rank = settings.models.index(model) + 1
        reasons["model"] = f"{model}: {why}"
    original, context = prompts.history.versions[0], assignment.base_context
    return Setup(original, settings.threshold, model, rank, context, reasons=reasons)


def tuned_work(due: Instruction, entries: tuple[Entry, ...]) -> Step:
    """The step that works, with the threshold and the model that are due."""
    return _tuned(due, setup_of(entries), entries)


def tuned_doubt(due: Instruction, entries: tuple[Entry, ...]) -> Step:
    """The step that doubts, with the model that is due."""
    return _tuned(due, setup_of(entries, doubts=True), entries)


def _tuned(due: Instruction, setup: Setup | None, entries: Sequence[Entry]) -> Step:
    step, assignment = due.step, assignment_of(entries)
    if setup is None or assignment is None:
        return step
    if assignment.settings.adaptive:
        budget = step.budget.model_copy(update={"threshold": setup.threshold})
        step = step.model_copy(update={"budget": budget})
    return step.model_copy(update={"role": f"{step.role}:{setup.rank}"}) if setup.rank else step


# -- the threshold ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Trial:
    """The last threads that one threshold ended."""

    threshold: float
    rate: float
    """Gain per million tokens."""

    def __str__(self) -> str:
        return f"{self.rate:.3g} issues a million tokens at {_percent(self.threshold)}"


def next_threshold(
    history: Sequence[IterationState],
    default: float = DEFAULT,
    low: float = LOW,
    high: float = HIGH,
) -> tuple[float, str]:
    """The threshold of the next iteration, and why; a history that says nothing leaves it."""
    trials = _trials(history)
    if not trials:
        value, reason = default, "no thread was ended by the threshold so far"
    elif not any(trial.rate for trial in trials[-2:]):
        value = default
        reason = "the last threads that it ended gained nothing: back to the default"
    else:
        value, reason = _climbed(trials)
    bounded = round(min(high, max(low, value)), 4)
    if bounded != round(value, 4):
        reason += f"; {_percent(value)} is out of bounds"
    return bounded, f"{_percent(bounded)}: {reason}"


def _threshold(
    settings: Settings, states: Sequence[IterationState], last: IterationState | None, trial: str
) -> tuple[float, str]:
    if last and trial:
        return last.threshold, f"{last.threshold:.0%}: {trial}"
    default = settings.threshold
    return next_threshold(states, default, min(LOW, default), max(HIGH, default))


def _trials(history: Sequence[IterationState]) -> list[_Trial]:
    """Runs of threads that the same threshold ended, oldest first."""
    trials: list[list[tuple[IterationState, int]]] = []
    for state, gain in zip(history, gains(history), strict=True):
        if state.kind != "work" or state.reason != "threshold" or not state.tokens:
            continue
        if not trials or trials[-1][-1][0].threshold != state.threshold:
            trials.append([])
        trials[-1].append((state, gain))
    return [_Trial(trial[0][0].threshold, _rate(trial)) for trial in trials]


def _rate(trial: Sequence[tuple[IterationState, int]]) -> float:
    tokens = sum(state.tokens for state, _ in trial)
    return sum(gain for _, gain in trial) * PER_TOKENS / tokens


def _climbed(trials: Sequence[_Trial]) -> tuple[float, str]:
    last = trials[-1]
    if len(trials) == 1:
        return last.threshold - STEP, f"a first step down, to compare {last} with"
    before = trials[-2]
    step = STEP if last.threshold > before.threshold else -STEP
    against = f"{last} against {before}"
    if last.rate > before.rate * (1 + MARGIN):
        return last.threshold + step, f"{against}: further the same way"
    if last.rate < before.rate * (1 - MARGIN):
        return last.threshold - step, f"{against}: back the other way"
    return last.threshold, f"{against}: no difference worth a step"


def _percent(share: float) -> str:
    return f"{share * 100:g}%"


# -- the model -------------------------------------------------------------------------------------


def next_model(
    models: Sequence[str], history: Sequence[IterationState], mode: ModelsBy = "escalate"
) -> tuple[str, str]:
    """The model of the next iteration, and why; there has to be one at least."""
    if len(models) == 1:
        return models[0], "the only model"
    return (_rotated if mode == "rotate" else _escalated)(models, history)


def _model(
    settings: Settings, states: Sequence[IterationState], last: IterationState | None, trial: str
) -> tuple[str, str]:
    if last and trial and last.model in settings.models:
        return last.model, trial
    return next_model(settings.models, states, settings.models_by)


def _rotated(models: Sequence[str], history: Sequence[IterationState]) -> tuple[str, str]:
    known = [state.model for state in history if state.kind == "work" and state.model in models]
    if not known:
        return models[0], "the first in the rotation"
    following = (models.index(known[-1]) + 1) % len(models)
    return models[following], f"the next in the rotation after {known[-1]}"


def _escalated(models: Sequence[str], history: Sequence[IterationState]) -> tuple[str, str]:
    rank, reason = 0, "the first model, as nothing is stuck"
    calm = 0
    stuck: Counter[int] = Counter()
    for state, gain in zip(history, gains(history), strict=True):
        name = models[rank]
        if state.kind != "work" or state.model != name:
            continue  # another model answered: it says nothing about this one
        calm = calm + 1 if gain else 0
        if not gain and rank + 1 < len(models):
            stuck[rank] += 1
            rank += 1
            reason = f"{name} gained nothing in an iteration"
        elif not gain:
            reason = f"{name} is stuck, and there is no stronger model"
        elif calm >= CALM and rank and stuck[rank - 1] < STUCK:
            rank, calm = rank - 1, 0
            reason = f"{name} gained something in {CALM} iterations in a row: back to the weaker "\
                     "model"  # fmt: skip
    return models[rank], reason


# -- the base context ------------------------------------------------------------------------------


def shrunk_context(
    context: BaseContext, history: Sequence[IterationState], done: Collection[str] = ()
) -> tuple[BaseContext, tuple[str, ...], str]:
    """What of a base context is of use now, the fields that are left out, and why.

    `done` are the ids of the parts in which nothing is left.
    """
    worked = [gain for state, gain in zip(history, gains(history), strict=True)
              if state.kind == "work"]  # fmt: skip
    if worked and not worked[-1]:
        return context, (), "the last iteration gained nothing: the whole context again"
    share = overall_progress(history)
    why = f"{share:.0%} of the known issues are resolved"
    left_out = [f"parts.{part.id}" for part in context.parts if part.id in done]
    update: dict[str, object] = {
        "parts": tuple(
            part.model_copy(update={"title": f"{part.title} {DONE}", "details": "", "paths": ()})
            if part.id in done
            else part
            for part in context.parts
        )
    }
    if share >= MOST:
        update |= {
            "project": context.project.model_copy(update={"description": ""}),
            "history": None,
            "objective": context.objective.model_copy(update={"secondary": ""}),
        }
        fields = {
            "project.description": context.project.description,
            "history": context.history,
            "objective.secondary": context.objective.secondary,
        }
        left_out += [name for name, value in fields.items() if value]
    elif share >= HALF and context.history and context.history.notes:
        update["history"] = context.history.model_copy(update={"notes": ()})
        left_out.append("history.notes")
    if not left_out:
        return context, (), f"{why}: all of it"
    return context.model_copy(update=update), tuple(left_out), why
