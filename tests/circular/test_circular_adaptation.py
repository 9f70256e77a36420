"""How the next thread is set up: its threshold, its model, and what it is told."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.circular.adaptation import (
    DEFAULT,
    HIGH,
    LOW,
    STEP,
    next_model,
    next_threshold,
    shrunk_context,
)
from foundry.circular.assignment import parse_base_context
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
        values.append(next_threshold(history.states)[0])
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
    threshold, reason = next_threshold(run(*history).states)
    assert LOW <= threshold <= HIGH
    assert f"{threshold * 100:g}%" in reason


def test_what_says_nothing_about_it_changes_nothing() -> None:
    assert next_threshold(())[0] == DEFAULT
    assert next_threshold(run((0.4, 5, 100_000), reason="completion").states)[0] == DEFAULT
    doubts = run()
    doubts.then(kind="doubt", threshold=0.4)
    assert next_threshold(doubts.states)[0] == DEFAULT
    assert next_threshold((), default=0.5)[0] == 0.5


def test_without_gain_it_goes_back_to_the_default() -> None:
    history = run((0.6, 9, 100_000), (0.55, 0, 100_000), (0.5, 0, 100_000))
    threshold, reason = next_threshold(history.states)
    assert threshold == DEFAULT
    assert "gained nothing" in reason


def test_each_way_to_step() -> None:
    assert next_threshold(run((0.6, 5, 100_000)).states)[0] == 0.55
    up = run((0.5, 5, 100_000), (0.55, 9, 100_000))
    assert next_threshold(up.states)[0] == 0.6
    assert "90 issues a million tokens at 55% against 50" in next_threshold(up.states)[1]
    assert next_threshold(run((0.6, 5, 100_000), (0.55, 2, 100_000)).states)[0] == 0.6
    assert next_threshold(run((0.6, 50, 100_000), (0.55, 51, 100_000)).states)[0] == 0.55
    assert next_threshold(run((0.35, 2, 100_000), (0.3, 9, 100_000)).states)[0] == LOW


# -- the model ----------------------------------------------------------------------------------

MODELS = ("small", "middle", "large")


def played(gains: str, mode: str = "escalate") -> list[str]:
    """The models of a run in which an iteration gains something for every `+`."""
    history = Histories([check(name="lint", output="100")])
    left = 100
    models = []
    for sign in gains:
        model, reason = next_model(MODELS, history.states, mode)  # type: ignore[arg-type]
        assert reason
        models.append(model)
        if sign == "d":
            history.then(kind="doubt", model="other")
            continue
        left -= sign == "+"
        history.then(model=model, checks=[check(name="lint", output=str(left))])
    return models


def test_nothing_is_stuck() -> None:
    assert played("++++") == ["small"] * 4


def test_stuck_models_hand_over_up_to_the_strongest() -> None:
    assert played("+---+") == ["small", "small", "middle", "large", "large"]
    assert played("-----") == ["small", "middle", "large", "large", "large"]


def test_the_weaker_model_has_its_turn_again_but_not_for_ever() -> None:
    assert played("-++-++++") == ["small", "middle", "middle", "small", *["middle"] * 4]


def test_doubts_say_nothing_about_a_model() -> None:
    assert played("+ddd+".replace(" ", "")) == ["small"] * 5


def test_rotation() -> None:
    assert played("+-+-+", "rotate") == ["small", "middle", "large", "small", "middle"]


def test_the_reason_names_what_happened() -> None:
    history = Histories([check(name="lint", output="9")])
    history.then(model="small", checks=[check(name="lint", output="9")])
    assert next_model(MODELS, history.states)[1] == "small gained nothing in an iteration"
    history.then(model="somebody else", checks=[check(name="lint", output="9")])
    assert next_model(MODELS, history.states)[0] == "middle"


def test_one_model() -> None:
    assert next_model(("only",), ())[0] == "only"


# -- the base context ------------------------------------------------------------------------------

CONTEXT = """
project: {name: shop, description: A shop}
objective: {primary: no legacy calls, secondary: a robust shop}
history: {from: a, to: b, notes: [the API moved]}
constraints: [keep the API]
parts:
  - {id: api, title: The API, paths: ["src/api/**"], details: routes are in routes.ts}
  - {id: db, title: The database, paths: [src/db]}
"""
BASE = parse_base_context(CONTEXT, "c.yaml")


def after(mended: int, *more: int) -> Histories:
    history = Histories([check([f"t::{n}" for n in range(10)], total=20)])
    for count in (mended, *more):
        history.then(checks=[check([f"t::{n}" for n in range(count, 10)], total=20)])
    return history


def test_the_context_shrinks_with_progress_and_objective_and_constraints_stay() -> None:
    essence = ("project.description", "history", "objective.secondary")
    expected = {0: (), 1: (), 5: ("history.notes",), 8: essence, 10: essence}
    for mended, fields in expected.items():
        context, left_out, reason = shrunk_context(BASE, after(mended).states)
        assert left_out == fields
        assert context.objective.primary == BASE.objective.primary
        assert context.constraints == BASE.constraints
        assert context.project.name == BASE.project.name
        assert reason
    assert shrunk_context(BASE, ())[0] == BASE


def test_parts_that_are_done_are_a_line() -> None:
    context, left_out, _ = shrunk_context(BASE, after(2).states, {"api"})
    assert left_out == ("parts.api",)
    api, db = context.parts
    assert (api.title, api.details, api.paths) == ("The API (done)", "", ())
    assert db == BASE.parts[1]


def test_everything_is_back_when_nothing_was_gained() -> None:
    context, left_out, reason = shrunk_context(BASE, after(9, 9).states, {"api"})
    assert (context, left_out) == (BASE, ())
    assert "gained nothing" in reason
    doubted = after(9).then(kind="doubt", number=1, checks=[check(["t::9"], total=20)])
    assert shrunk_context(BASE, doubted.states)[1]
