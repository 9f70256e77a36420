"""How the next thread is set up, from what the ones before it achieved, and why. Pure.

What a person fixed stays; what they left to adapt (`--adaptive`, `--progressive`, several models,
`--refine`) is decided here. While a wording of the prompt is on trial, threshold and model stay as
they were: two changes at once could not be told apart.

*Adaptive threshold*: hill climbing, one step an iteration, within bounds. Only threads that the
threshold ended say anything about it. What is climbed is gain per token: a low threshold pays the
base context more often, a high one pays for a full window with every call and, as windows fill, for
worse work.

*Several models*, from the cheapest to the strongest. Escalate: a model that gained nothing in
`patience` iterations in a row hands over to the next; the stronger one hands back when it gained
something in CALM iterations in a row, but never to a model that was stuck twice. Rotate: each in
its turn.

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
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from foundry.circular.history import assignment_of, states_of
from foundry.circular.metrics import PER_TOKENS, gains, progress_state, work
from foundry.circular.partitions import alone, done_parts
from foundry.circular.prompt_versions import Prompts, prompts_of
from foundry.circular.schema import (
    Assignment,
    BaseContext,
    IterationState,
    Part,
    ProgressState,
    PromptVersion,
    Settings,
)
from foundry.schema.journal import Entry
from foundry.schema.workflow import Step
from foundry.workflow.cursor import Instruction

DEFAULT = 0.60
"""The seed's threshold."""

LOW, HIGH, STEP = 0.30, 0.80, 0.05

MARGIN = 0.10
"""By what share gain per token has to differ to be more than chance."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """The share of the window at which the next thread ends, and why."""

    value: float
    reason: str


@dataclass(frozen=True, slots=True)
class _Trial:
    """The last threads that one threshold ended."""

    threshold: float
    rate: float
    """Gain per million tokens."""


def adapted(
    history: Sequence[IterationState],
    default: float = DEFAULT,
    low: float = LOW,
    high: float = HIGH,
) -> Threshold:
    """The threshold of the next iteration; a history that says nothing leaves it as it is."""
    if not 0 < low <= high <= 1:
        raise ValueError(f"the bounds {low} and {high} are no shares of a window")
    trials = _trials(history)
    if not trials:
        value, reason = default, "no thread was ended by the threshold so far"
    elif not any(trial.rate for trial in trials[-2:]):
        value, reason = (
            default,
            "the last threads that it ended gained nothing: back to the default",
        )
    else:
        value, reason = _climbed(trials)
    bounded = round(min(high, max(low, value)), 4)
    if bounded != round(value, 4):
        reason += f"; {_percent(value)} is out of bounds"
    return Threshold(bounded, f"{_percent(bounded)}: {reason}")


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
        return last.threshold - STEP, f"a first step down, to compare {_rated(last)} with"
    before = trials[-2]
    step = STEP if last.threshold > before.threshold else -STEP
    against = f"{_rated(last)} against {_rated(before)}"
    if last.rate > before.rate * (1 + MARGIN):
        return last.threshold + step, f"{against}: further the same way"
    if last.rate < before.rate * (1 - MARGIN):
        return last.threshold - step, f"{against}: back the other way"
    return last.threshold, f"{against}: no difference worth a step"


def _rated(trial: _Trial) -> str:
    return f"{trial.rate:.3g} issues a million tokens at {_percent(trial.threshold)}"


def _percent(share: float) -> str:
    return f"{share * 100:g}%"


Mode = Literal["escalate", "rotate"]

CALM = 2
"""Iterations with gain after which a weaker model has its turn again."""

STUCK = 2
"""How often a model may be stuck and still be gone back to."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The model of the next iteration, and why."""

    model: str
    reason: str


def choose(
    models: Sequence[str],
    history: Sequence[IterationState],
    mode: Mode = "escalate",
    patience: int = 1,
) -> Choice:
    """The model of the next iteration; raises ValueError without any model."""
    if not models:
        raise ValueError("there is no model to choose from")
    if len(models) == 1:
        return Choice(models[0], "the only model")
    return (_rotated if mode == "rotate" else _escalated)(models, history, patience)


def _rotated(models: Sequence[str], history: Sequence[IterationState], _patience: int) -> Choice:
    known = [state.model for state in history if state.kind == "work" and state.model in models]
    if not known:
        return Choice(models[0], "the first in the rotation")
    place = (models.index(known[-1]) + 1) % len(models)
    return Choice(models[place], f"the next in the rotation after {known[-1]}")


def _escalated(models: Sequence[str], history: Sequence[IterationState], patience: int) -> Choice:
    place, reason = 0, "the first model, as nothing is stuck"
    idle = calm = 0
    stuck: Counter[int] = Counter()
    for state, gain in zip(history, gains(history), strict=True):
        if state.kind != "work" or state.model != models[place]:
            continue  # another model answered: it says nothing about this one
        idle, calm = (0, calm + 1) if gain else (idle + 1, 0)
        name = models[place]
        if idle >= patience and place + 1 < len(models):
            stuck[place] += 1
            place, idle, calm = place + 1, 0, 0
            reason = f"{name} gained nothing in {_iterations(patience)}"
        elif calm >= CALM and place and stuck[place - 1] < STUCK:
            place, idle, calm = place - 1, 0, 0
            reason = f"{name} gained something in {_iterations(CALM)}: back to the weaker model"
        elif idle >= patience:
            reason = f"{name} is stuck, and there is no stronger model"
    return Choice(models[place], reason)


def _iterations(count: int) -> str:
    return "an iteration" if count == 1 else f"{count} iterations in a row"


HALF, MOST = 0.5, 0.8
"""Shares of the known issues that are resolved."""

DONE = "(done)"
"""What the title of a part that is done ends with."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the next thread is told, what it is not, and why."""

    context: BaseContext
    left_out: tuple[str, ...]
    """Fields of the base context."""
    reason: str


def shown(context: BaseContext, progress: ProgressState, done_parts: Collection[str] = ()) -> Shown:
    """The part of a base context that is of use at this point."""
    states = work(progress.completed_iterations)
    if states and not gains(progress.completed_iterations)[-1 - _doubts(progress)]:
        return Shown(context, (), "the last iteration gained nothing: the whole context again")
    share = progress.overall_progress
    result, left_out = context, []
    for applies, shorten in (
        (bool(done_parts), _without_done(done_parts)),
        (HALF <= share < MOST, _short_history),
        (share >= MOST, _essence),
    ):
        if applies:
            result, fields = shorten(result)
            left_out += fields
    if not left_out:
        return Shown(context, (), f"{share:.0%} of the known issues are resolved: all of it")
    return Shown(result, tuple(left_out), f"{share:.0%} of the known issues are resolved")


_Shortened = tuple[BaseContext, list[str]]


def _without_done(done: Collection[str]) -> Callable[[BaseContext], _Shortened]:
    def shorten(context: BaseContext) -> _Shortened:
        parts = tuple(_line(part) if part.id in done else part for part in context.parts)
        left_out = [f"parts.{part.id}" for part in context.parts if part.id in done]
        return context.model_copy(update={"parts": parts}), left_out

    return shorten


def _line(part: Part) -> Part:
    return part.model_copy(update={"title": f"{part.title} {DONE}", "details": "", "paths": ()})


def _short_history(context: BaseContext) -> _Shortened:
    if context.history is None or not context.history.notes:
        return context, []
    short = context.history.model_copy(update={"notes": ()})
    return context.model_copy(update={"history": short}), ["history.notes"]


def _essence(context: BaseContext) -> _Shortened:
    project = context.project.model_copy(update={"description": ""})
    objective = context.objective.model_copy(update={"secondary": ""})
    left_out = [
        name
        for name, there in (
            ("project.description", context.project.description),
            ("history", context.history),
            ("objective.secondary", context.objective.secondary),
        )
        if there
    ]
    update = {"project": project, "history": None, "objective": objective}
    return context.model_copy(update=update), left_out


def _doubts(progress: ProgressState) -> int:
    """How many doubts come after the last iteration that worked."""
    count = 0
    for state in reversed(progress.completed_iterations):
        if state.kind == "work":
            break
        count += 1
    return count


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
    threshold = _next_threshold(settings, states, prompts)
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


def _next_threshold(
    settings: Settings, states: Sequence[IterationState], prompts: Prompts
) -> Threshold:
    default = settings.threshold
    if not settings.adaptive:
        return Threshold(default, "")
    if (last := _last(states)) and (trial := _on_trial(prompts)):
        return Threshold(last.threshold, f"{last.threshold:.0%}: {trial}")
    return adapted(states, default, min(LOW, default), max(HIGH, default))


def _model(settings: Settings, states: Sequence[IterationState], prompts: Prompts) -> Choice | None:
    if not settings.models:
        return None
    last, trial = _last(states), _on_trial(prompts)
    if last and trial and last.model in settings.models:
        return Choice(last.model, trial)
    return choose(settings.models, states, settings.models_by)


def _on_trial(prompts: Prompts) -> str:
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
