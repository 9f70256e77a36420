"""The adaptive threshold: how full a window may get, from what the last threads achieved. Pure.

Hill climbing, one step an iteration, within bounds. Only threads that the threshold ended say
anything about it. What is climbed is gain per token: a low threshold pays the base context more
often, a high one pays for a full window with every call and, as windows fill, for worse work.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from foundry.circular.metrics import PER_TOKENS, gains
from foundry.circular.schema import IterationState

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
        return last.threshold - STEP, f"a first step down, to compare {_told(last)} with"
    before = trials[-2]
    step = STEP if last.threshold > before.threshold else -STEP
    against = f"{_told(last)} against {_told(before)}"
    if last.rate > before.rate * (1 + MARGIN):
        return last.threshold + step, f"{against}: further the same way"
    if last.rate < before.rate * (1 - MARGIN):
        return last.threshold - step, f"{against}: back the other way"
    return last.threshold, f"{against}: no difference worth a step"


def _told(trial: _Trial) -> str:
    return f"{trial.rate:.3g} issues a million tokens at {_percent(trial.threshold)}"


def _percent(share: float) -> str:
    return f"{share * 100:g}%"
