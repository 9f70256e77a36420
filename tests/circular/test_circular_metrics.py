"""What iterations achieved: failures compared, gains counted once, the seed's figures."""

import pytest

from foundry.circular.failures import NOT_RUN, issues_between, read_failures, reported, steady
from foundry.circular.metrics import (
    NEARLY,
    balances,
    completion,
    final_metrics,
    gains,
    hides_failures,
    overall_progress,
    progress_per_token,
    shrank,
)
from foundry.circular.schema import ChangeSummary, Failure, IterationState
from foundry.schema.command import KEPT_OUTPUT
from tests.support.iterations import Histories, changed, check


def one(output: str) -> Failure:
    return read_failures([check(name="lint", output=output)])[0]


@pytest.mark.parametrize(
    ("output", "count"),
    [
        ("Found 7 errors in 3 files (checked 20 source files)", 7),
        ("x\n\u2716 12 problems", 12),
        ("FAILED (failures=2, errors=1)", 3),
        ("3 failed, 20 passed in 1.02s", 3),
        ("14\n", 14),
        ("src/a.py:3: legacy\nsrc/b.py:9: legacy\nsrc/a.py:3: legacy\n", 2),
        ("src/a.py\nsrc/b.py\n", 2),
        ("it does not work", None),
        ("0\n", None),
        ("in 12 s", None),
        ("src/a.py:1: legacy\n" * KEPT_OUTPUT, None),
    ],
)
def test_how_much_an_output_finds(output: str, count: int | None) -> None:
    assert one(output[-KEPT_OUTPUT:]).count == count


def test_outputs_compare_without_what_differs_every_time() -> None:
    base = one("2026-01-01T10:00:00 crash at 0x7f after 1.5 s in /tmp/x1/a seed=3")
    assert one("2027-02-03T11:12:13 crash at 0x9a after 22 ms in /tmp/y/b/c seed=77") == base
    assert one("2027-02-03T11:12:13 crash at 0x9a after 22 ms in /home/b seed=77") != base
    assert one("crash 3") != one("crash 4")
    assert base.is_opaque


def test_a_check_that_holds_fails_nothing_and_one_that_was_not_run_is_unknown() -> None:
    known = check(name="known", output="1", status="preexisting")
    assert read_failures([check(), known]) == ()
    assert read_failures([check(status="not_run")]) == (Failure(check="tests", digest=NOT_RUN),)


def test_issues_between_two_results() -> None:
    before = read_failures(
        [
            check(["t::1", "t::2"], total=9),
            check(name="lint", output="7"),
            check(name="x", output="?"),
        ]
    )
    after = read_failures([check(["t::2", "t::3"], total=9), check(name="lint", output="9")])
    resolved, discovered = issues_between(before, after)
    assert [(each.id, each.kind, each.count) for each in resolved] == [
        ("t::1", "test", 1),
        ("x", "check", 1),
    ]
    assert [(each.id, each.kind, each.count) for each in discovered] == [
        ("t::3", "test", 1),
        ("lint", "check", 2),
    ]
    resolved, _ = issues_between(before, ())
    assert [each.count for each in resolved] == [1, 1, 7, 1]
    assert sum(each.extent for each in before) == 10


@pytest.mark.parametrize("after", [check(status="not_run"), check(output="cannot import x")])
def test_a_check_that_can_not_tell_any_more_resolves_nothing(after: object) -> None:
    before = read_failures([check(["t::1", "t::2"], total=9)])
    assert issues_between(before, read_failures([after])) == ((), ())  # type: ignore[list-item]


def test_claims_are_told_apart_by_their_words() -> None:
    issues = reported(["Fix `a.py`!", "fix a.py", "", "fix b.py"])
    assert [(each.id, each.description) for each in issues] == [
        ("fix a.py", "Fix `a.py`!"),
        ("fix b.py", "fix b.py"),
    ]
    assert steady(["b after 1 s", "a", "B after 22 s"]) == ("a", "b after <time>")


# -- gains ---------------------------------------------------------------------------------------


def test_only_what_is_mended_for_the_first_time_is_a_gain() -> None:
    history = Histories([check(["t::1", "t::2", "t::3"], total=9)])
    for failing in (["t::2", "t::3"], ["t::1", "t::3"], ["t::3"], []):
        history.then(checks=[check(failing, total=9)])
    assert gains(history.states) == (1, 1, 0, 1)
    assert [each.found for each in balances(history.states)] == [0, 1, 0, 0]


def test_counts_gain_below_their_low_and_what_was_found_can_be_gained() -> None:
    history = Histories([check(name="lint", output="10")])
    for count in (7, 9, 7, 6, 20, 15, 20, 12):
        history.then(checks=[check(name="lint", output=str(count))])
    history.then()
    assert gains(history.states) == (3, 0, 0, 1, 0, 5, 0, 3, 12)
    assert [each.found for each in balances(history.states)] == [0, 0, 0, 0, 10, 0, 0, 0, 0]


def test_a_failure_that_went_away_with_its_test_is_no_gain() -> None:
    history = Histories([check(["t::1", "t::2"], total=9)])
    history.then(checks=[check(["t::1"], total=9)])
    history.then(checks=[check(total=8)], change=changed("tests/test_a.py", test_functions=-1))
    assert gains(history.states) == (1, 0)


def test_words_count_only_without_checks_and_with_new_code() -> None:
    history = Histories()
    claims = {"issues_resolved": reported(["a", "b"])}
    history.then("A", **claims).then("B", **claims)
    history.then("C", issues_resolved=reported(["c"]), change=ChangeSummary())
    history.then("A", issues_resolved=reported(["d"])).then("E", issues_resolved=reported(["e"]))
    assert gains(history.states) == (2, 0, 0, 0, 1)
    history.then("F", [check(["t::1"], total=3)], issues_resolved=reported(["f"]))
    assert gains(history.states) == (0,) * 6


def test_a_doubt_gains_nothing() -> None:
    history = Histories([check(["t::1"], total=9)]).then(kind="doubt", number=1)
    assert gains(history.states) == (0,)


def test_progress_per_token_and_overall() -> None:
    history = Histories([check([f"t::{n}" for n in range(10)], total=20)])
    history.then(checks=[check([f"t::{n}" for n in range(4, 10)], total=20)], tokens=500_000)
    history.then(checks=[check([f"t::{n}" for n in range(5, 10)], total=20)], tokens=500_000)
    assert progress_per_token(history.states) == 5.0
    assert progress_per_token(()) == 0.0
    assert completion(history.states) == 0.5
    assert overall_progress(history.states) == 0.5
    history.then(checks=[check(total=20)])
    assert overall_progress(history.states) == NEARLY
    assert overall_progress(history.states, complete=True) == 1.0
    assert overall_progress(()) == 0.0


def test_completion_follows_what_breaks_again() -> None:
    history = Histories([check(["t::1", "t::2"], total=9), check(name="lint", output="6")])
    history.then(checks=[check(total=9), check(name="lint", output="3")])
    assert completion(history.states) == 5 / 8
    history.then(checks=[check(["t::1"], total=9), check(name="lint", output="5")])
    assert completion(history.states) == 2 / 8


def test_completion_by_words_where_there_is_nothing_else() -> None:
    history = Histories().then(
        issues_resolved=reported(["a", "b"]), issues_discovered=reported(["b", "c", "d"])
    )
    assert completion(history.states) == 0.5


def test_the_seeds_metrics() -> None:
    history = Histories([check(["t::1", "t::2"], total=9)])
    history.then(checks=[check(["t::2"], total=9)], peak_context=0.4, cost_usd=0.5)
    history.then(checks=[check(["t::2"], total=9)], reason="error", cost_usd=0.25)
    metrics = final_metrics(history.states, complete=False)
    assert [row.gain for row in metrics.per_iteration] == [1, 0]
    assert metrics.per_iteration[0].context_window_usage == 0.4
    assert metrics.per_iteration[0].execution_duration == 600.0
    overall = metrics.overall
    assert (overall.total_iterations, overall.total_tokens_consumed) == (2, 200_000)
    assert (overall.completion_rate, overall.error_rate) == (0.5, 0.5)
    assert (overall.total_execution_time, overall.total_cost_usd) == (1200.0, 0.75)
    assert overall.progress_per_token == 5.0
    success = final_metrics(history.then().states, complete=True)
    assert success.overall.completion_rate == 1.0
    assert success.overall.total_cost_usd is None
    assert final_metrics((), complete=False).overall.error_rate == 0.0


def test_what_shrinks_the_tests() -> None:
    history = Histories([check(["t::1"], total=9)]).then(checks=[check(["t::1"], total=9)])
    before = history.states[-1]

    def after(change: ChangeSummary, *, total: int = 9, skipped: int = 0) -> tuple[bool, bool]:
        state = Histories([check(["t::1"], total=9)]).then(
            checks=[check(total=total, skipped=skipped)], change=change
        ).states[-1]  # fmt: skip
        return bool(shrank(state, before)), bool(hides_failures(state, before))

    assert after(changed()) == (False, False)
    assert after(changed(assertions=-1)) == (True, True)
    assert after(changed(skips=1)) == (True, True)
    assert after(changed(), skipped=1) == (True, True)
    assert after(changed(), total=8) == (True, True)
    assert after(changed(code_lines=-50, test_lines=-20, test_functions=-3), total=6) == (
        False,
        False,
    )
    assert after(changed(code_lines=-5, test_lines=-20, test_functions=-3), total=6) == (True, True)
    assert after(changed(code_lines=-50, skips=1)) == (True, True)


def test_states_survive_their_json() -> None:
    state = Histories([check(["t::1"], total=9)]).then(checks=[check(output="Found 2 errors")])
    text = state.states[0].model_dump_json()
    assert IterationState.model_validate_json(text) == state.states[0]
