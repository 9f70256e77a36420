"""The adaptive threshold climbs towards more progress per token, within bounds."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.circular.adaptation import DEFAULT, HIGH, LOW, STEP, adapted
from tests.support.iterations import Histories, check

LEFT = 10_000


def run(*threads: tuple[float, int, int], reason: str = "threshold") -> Histories:
    """Threads by threshold, gain and tokens."""
    history = Histories([check(name="lint", output=str(LEFT))])
    left = LEFT
    for threshold, gain, tokens in threads:
        left -= gain
        found = [check(name="lint", output=str(left))]
        history.then(checks=found, threshold=threshold, tokens=tokens, reason=reason)
    return history


def climb(peak: float, iterations: int) -> list[float]:
    """Thresholds of a run whose gain per token is best at `peak`."""
    history, values = run(), [DEFAULT]
    left = LEFT
    for _ in range(iterations):
        gain = round(100 * (1 - 3 * abs(values[-1] - peak)))
        left -= gain
        found = [check(name="lint", output=str(left))]
        history.then(checks=found, threshold=values[-1])
        values.append(adapted(history.states).value)
    return values


@pytest.mark.parametrize("peak", [0.35, 0.45, 0.60, 0.70, 0.80])
def test_it_finds_the_best_threshold_and_stays_near(peak: float) -> None:
    values = climb(peak, 20)
    assert all(abs(value - peak) <= 2 * STEP + 0.001 for value in values[-6:])
    steps = [abs(b - a) for a, b in pairwise(values)]
    assert max(steps) <= STEP + 0.001


threads = st.tuples(st.sampled_from([0.3, 0.5, 0.6, 0.8]), st.integers(0, 9), st.integers(0, 10**6))


@given(st.lists(threads, max_size=12))
@settings(deadline=None, max_examples=50)
def test_it_stays_in_bounds_and_says_why(history: list[tuple[float, int, int]]) -> None:
    threshold = adapted(run(*history).states)
    assert LOW <= threshold.value <= HIGH
    assert f"{threshold.value * 100:g}%" in threshold.reason


def test_what_says_nothing_about_it_changes_nothing() -> None:
    assert adapted(()).value == DEFAULT
    assert adapted(run((0.4, 5, 100_000), reason="completion").states).value == DEFAULT
    doubts = run()
    doubts.then(kind="doubt", threshold=0.4)
    assert adapted(doubts.states).value == DEFAULT
    assert adapted((), default=0.5).value == 0.5


def test_without_gain_it_goes_back_to_the_default() -> None:
    history = run((0.6, 9, 100_000), (0.55, 0, 100_000), (0.5, 0, 100_000))
    threshold = adapted(history.states)
    assert threshold.value == DEFAULT
    assert "gained nothing" in threshold.reason


def test_each_way_to_step() -> None:
    assert adapted(run((0.6, 5, 100_000)).states).value == 0.55
    up = run((0.5, 5, 100_000), (0.55, 9, 100_000))
    assert adapted(up.states).value == 0.6
    assert "90 issues a million tokens at 55% against 50" in adapted(up.states).reason
    assert adapted(run((0.6, 5, 100_000), (0.55, 2, 100_000)).states).value == 0.6
    assert adapted(run((0.6, 50, 100_000), (0.55, 51, 100_000)).states).value == 0.55
    assert adapted(run((0.35, 2, 100_000), (0.3, 9, 100_000)).states).value == LOW


def test_bounds_that_are_no_shares_are_refused() -> None:
    with pytest.raises(ValueError, match=r"bounds 0\.9 and 0\.3"):
        adapted((), low=0.9, high=0.3)
