"""The breaker: every way of getting nowhere ends within k + 1 iterations, and no progress does."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.circular.breaker import Trip, TripKind, tripped
from foundry.circular.schema import ChangeSummary
from foundry.schema.command import KEPT_OUTPUT
from tests.support.iterations import Histories, changed, check

quick = settings(deadline=None, max_examples=25)
ks = st.integers(1, 6)
TESTS = [f"t::{n}" for n in range(60)]
COMMENTS = changed(substantive=0, cosmetic=4, code_lines=0)
DOCUMENTS = changed("README.md", substantive=0, documentation=9, code_lines=0)


def progress(history: Histories, iterations: int) -> list[str]:
    """Iterations that each mend a test; the tests that fail after them."""
    failing = TESTS[:30]
    for _ in range(iterations):
        failing = failing[1:]
        history.then(checks=[check(failing, total=60)])
    return failing


Step = Callable[[Histories, list[str], int], Any]


def same_tree(history: Histories, failing: list[str], _turn: int) -> None:
    tree = history.states[-1].tree
    history.then(tree, [check(failing, total=60)], change=ChangeSummary())


def oscillation(history: Histories, failing: list[str], turn: int) -> None:
    history.then("AB"[turn % 2], [check(failing, total=60)])


def long_cycle(history: Histories, _failing: list[str], turn: int) -> None:
    history.then("ABCD"[turn % 4], [check(name="lint", output="7")])


def same_failures(history: Histories, failing: list[str], _turn: int) -> None:
    history.then(checks=[check(failing, total=60)])


def whack_a_mole(history: Histories, failing: list[str], turn: int) -> None:
    """What one iteration mends, the next one breaks: tests that had all failed before."""
    history.then(checks=[check(failing[:-1] if turn % 2 else failing, total=60)])


def same_count(history: Histories, _failing: list[str], turn: int) -> None:
    at = f"src/{turn}.py:1"
    history.then(checks=[check(name="lint", output=f"{at}: legacy\nFound 4 errors in 0.{turn}2s")])


def same_output(history: Histories, _failing: list[str], turn: int) -> None:
    history.then(checks=[check(name="run", output=f"segmentation fault at 0x{turn:04x}")])


def silent_check(history: Histories, _failing: list[str], _turn: int) -> None:
    """A check that says nothing, over work that goes over the same file again and again."""
    history.then(checks=[check(name="quiet", status="failed")], change=changed("src/same.py"))


def same_errors(history: Histories, failing: list[str], turn: int) -> None:
    error = f"2026-01-01T00:00:{turn:02d} cannot connect to the database after {turn}.5 s"
    history.then(errors=(error,), checks=[check(failing, total=60)])


def cosmetic(history: Histories, failing: list[str], turn: int) -> None:
    change = (COMMENTS, DOCUMENTS, ChangeSummary())[turn % 3]
    history.then(change=change, checks=[check(failing, total=60)])


def polish(history: Histories, _failing: list[str], turn: int) -> None:
    history.then(change=(COMMENTS, DOCUMENTS)[turn % 2])


def fewer_tests(history: Histories, failing: list[str], turn: int) -> None:
    history.then(
        checks=[check(failing, total=59 - turn)],
        change=changed("tests/test_a.py", code_lines=0, test_lines=-4, test_functions=-1),
    )


def new_skips(history: Histories, _failing: list[str], turn: int) -> None:
    history.then(
        checks=[check(total=60, skipped=turn + 1)], change=changed("tests/test_a.py", skips=1)
    )


STUCK: dict[Step, set[TripKind]] = {
    same_tree: {TripKind.SAME_TREE},
    oscillation: {TripKind.OSCILLATION, TripKind.SAME_FAILURES},
    long_cycle: {TripKind.OSCILLATION, TripKind.SAME_FAILURES},
    same_failures: {TripKind.SAME_FAILURES},
    whack_a_mole: {TripKind.SAME_FAILURES},
    same_count: {TripKind.SAME_FAILURES},
    same_output: {TripKind.SAME_FAILURES},
    silent_check: {TripKind.SAME_FAILURES},
    same_errors: {TripKind.SAME_ERRORS},
    cosmetic: {TripKind.COSMETIC, TripKind.SAME_FAILURES},
    polish: {TripKind.COSMETIC},
    fewer_tests: {TripKind.SHRINKING_TESTS, TripKind.SAME_FAILURES},
    new_skips: {TripKind.SHRINKING_TESTS},
}


@pytest.mark.parametrize("step", STUCK, ids=lambda step: step.__name__)
@given(k=ks, before=st.integers(1, 8))
@quick
def test_every_way_of_getting_nowhere_ends_in_time(step: Step, k: int, before: int) -> None:
    history = Histories([check(TESTS[:30], total=60)])
    failing = progress(history, before)
    assert tripped(history.states, k) is None
    trip = None
    first = len(history.states) + 1
    for turn in range(2 * k + 4):
        step(history, failing, turn)
        trip = tripped(history.states, k)
        if trip:
            break
    assert trip is not None
    assert trip.kind in STUCK[step]
    stuck = len(history.states) - first + 1
    news = {oscillation: 2, long_cycle: 4, whack_a_mole: 2}.get(step, 0)  # the first round is new
    assert stuck <= news + k + 1
    assert set(trip.iterations) <= {state.number for state in history.states}
    assert trip.iterations[-1] == history.states[-1].number
    assert trip.evidence
    assert trip.advice


@pytest.mark.parametrize(
    "step", [each for each in STUCK if each is not new_skips], ids=lambda step: step.__name__
)
def test_fewer_iterations_do_not_trip(step: Step) -> None:
    """New skips aside: failures that go away with their tests trip at once."""
    history = Histories([check(TESTS[:30], total=60)])
    failing = progress(history, 3)
    for turn in range(2):
        step(history, failing, turn)
    assert tripped(history.states, 4) is None


kinds = st.sampled_from(["fix", "find", "feature", "comments", "doubt", "error", "regress", "grow"])


@given(ks.filter(lambda k: k > 1), st.lists(kinds, max_size=25))
@quick
def test_real_progress_never_trips(k: int, plan: Sequence[str]) -> None:
    """Every second iteration at the latest mends something; what is between is of any kind."""
    history = Histories([check(TESTS[:20], total=60)])
    failing, total, fresh = TESTS[:20], 60, 0
    for kind in plan:
        fields: dict[str, Any] = {}
        if kind == "find":
            fresh += 1
            total += 1
            failing = [*failing, f"new::{fresh}"]
        elif kind == "comments":
            fields["change"] = COMMENTS
        elif kind == "doubt":
            number = len(history.states) or 1
            fields = {"kind": "doubt", "number": number, "change": ChangeSummary()}
            history.then("same", [check(failing, total=total)], **fields)
            continue
        elif kind == "error":
            fields["errors"] = ("the server crashed",)
        elif kind == "regress" and len(failing) < 20:
            failing = [*failing, next(each for each in TESTS if each not in failing)]
        elif kind == "grow":
            total += 3
            fields["change"] = changed("tests/test_b.py", test_lines=9, test_functions=3)
        history.then(checks=[check(failing, total=total)], **fields)
        assert tripped(history.states, k) is None
        never_mended = [each for each in failing if each not in mended(history)]
        if not never_mended:
            return
        failing = [each for each in failing if each != never_mended[0]]
        history.then(checks=[check(failing, total=total)])
        assert tripped(history.states, k) is None


def mended(history: Histories) -> set[str]:
    return {issue.id for state in history.states for issue in state.issues_resolved}


@given(ks, st.integers(1, 20))
@quick
def test_a_count_that_falls_is_progress(k: int, left: int) -> None:
    history = Histories([check(name="lint", output=f"Found {left + 1} errors in 3 files")])
    for count in range(left, 0, -1):
        output = f"Found {count} errors in 3 files"
        history.then(checks=[check(name="lint", output=output)], change=changed("src/one.py"))
        assert tripped(history.states, k) is None


def test_a_check_that_only_fails_leaves_time_for_other_files() -> None:
    history = Histories()
    for number in range(12):
        silent = check(name="quiet", status="failed")
        history.then(checks=[silent], change=changed(f"src/{number}.py"))
        assert tripped(history.states, 3) is None


def test_a_check_whose_output_is_cut_can_not_tell_that_nothing_moves() -> None:
    history, still = Histories(), Histories()
    long = check(name="grep", output="src/one.py:1: legacy\n" * KEPT_OUTPUT)
    cut = long.model_copy(update={"output": long.output[-KEPT_OUTPUT:]})
    for _ in range(8):
        history.then(checks=[cut], change=changed("src/one.py"))
        still.then(checks=[cut], change=ChangeSummary())
        assert tripped(history.states, 3) is None
    trip = tripped(still.states, 3)
    assert trip is not None
    assert trip.kind == TripKind.SAME_FAILURES


def test_work_without_any_check_goes_on_while_code_changes() -> None:
    history = Histories()
    for number in range(12):
        history.then(change=changed(f"src/{number % 2}.py"))
        assert tripped(history.states, 3) is None


def test_going_back_once_and_on_again_is_no_oscillation() -> None:
    history = Histories()
    for tree in ("A", "B", "A", "C", "D", "E", "F"):
        history.then(tree)
        assert tripped(history.states, 3) is None


def test_being_where_one_was_k_iterations_ago_is_no_progress() -> None:
    history = Histories()
    for tree in ("A", "B", "C"):
        history.then(tree)
    trip = tripped(history.then("A").states, 3)
    assert trip is not None
    assert (trip.kind, trip.iterations) == (TripKind.OSCILLATION, (1, 2, 3, 4))
    assert "iterations 1 to 4 went back and forth between 3 states" in trip.evidence


def test_doubts_leave_the_tree_alone_and_are_not_judged() -> None:
    history = Histories().then("A")
    for _ in range(5):
        history.then("A", kind="doubt", change=ChangeSummary())
    assert tripped(history.states, 3) is None


def test_a_failure_that_goes_away_with_its_test_trips_at_once() -> None:
    history = Histories([check(["t::1", "t::2"], total=9)])
    history.then(checks=[check(["t::1", "t::2"], total=9)])
    history.then(
        checks=[check(["t::1"], total=8)],
        change=changed("tests/test_a.py", code_lines=0, test_lines=-6, test_functions=-1),
    )
    trip = tripped(history.states, 3)
    assert isinstance(trip, Trip)
    assert trip.kind == TripKind.SHRINKING_TESTS
    assert "1 test functions fewer" in trip.evidence
    assert "1 tests fewer were run" in trip.evidence


def test_tests_may_go_with_the_code_that_they_test() -> None:
    history = Histories([check(["t::1"], total=40)])
    for number in range(8):
        change = changed(
            f"src/legacy{number}.py", code_lines=-90, test_lines=-30, test_functions=-4
        )
        history.then(checks=[check(total=36 - 4 * number)], change=change)
        assert tripped(history.states, 3) is None


def test_tests_that_grow_between_start_the_count_anew() -> None:
    history = Histories()
    for number in range(9):
        delta = 2 if number % 2 else -1
        change = changed("tests/test_a.py", code_lines=1, test_functions=delta)
        history.then(change=change)
        assert tripped(history.states, 3) is None


def test_a_runner_that_crashed_did_not_shrink_the_tests() -> None:
    history = Histories([check(["t::1", "t::2"], total=9)])
    history.then(checks=[check(["t::1", "t::2"], total=9)])
    history.then(checks=[check(output="error: cannot import name 'x'")])
    assert tripped(history.states, 2) is None
    assert not history.states[-1].issues_resolved


def test_finding_more_is_no_standstill() -> None:
    history = Histories([check(["t::0"], total=9)])
    for number in range(6):
        failing = [f"t::{n}" for n in range(number + 1)]
        history.then(checks=[check(failing, total=9 + number)])
        assert tripped(history.states, 2) is None


def test_errors_that_differ_or_come_with_gain_do_not_trip() -> None:
    differ, gain = Histories(), Histories([check(TESTS, total=60)])
    for number in range(6):
        differ.then(errors=(f"cannot open {'abcdef'[number]}.db",))
        gain.then(errors=("the server crashed",), checks=[check(TESTS[number + 1 :], total=60)])
        assert tripped(differ.states, 3) is None
        assert tripped(gain.states, 3) is None


def test_no_change_at_all_is_not_cosmetic() -> None:
    history = Histories()
    for _ in range(5):
        history.then(change=ChangeSummary())
    assert tripped(history.states, 3) is None


def test_documents_and_formatting_that_are_the_task_do_not_trip() -> None:
    """Until documents come back to the same files, or what the check says stays the same."""
    written, formatted = Histories(), Histories()
    for number in range(9):
        chapter = min(number, 5)
        page = changed(f"docs/{chapter}.md", substantive=0, documentation=9, code_lines=0)
        said = f"Would reformat: {'abcdefghi'[chapter]}.py"
        written.then(change=page, checks=[check(name="quiet", status="failed")])
        tidied = changed(f"src/{chapter}.py", substantive=0, cosmetic=4, code_lines=0)
        formatted.then(change=tidied, checks=[check(name="format", output=said)])
        assert bool(tripped(written.states, 3)) == (number >= 8)
        assert bool(tripped(formatted.states, 3)) == (number >= 6)
    counted = Histories()
    for number in range(3):
        page = changed(f"docs/{number}.md", substantive=0, documentation=9, code_lines=0)
        counted.then(change=page, checks=[check(name="lint", output="Found 4 errors")])
    assert tripped(counted.states, 3)


def test_tests_that_shrink_trip_at_the_kth_iteration() -> None:
    history = Histories()
    for number in range(1, 4):
        history.then(change=changed("tests/test_a.py", test_functions=-1, code_lines=1))
        assert bool(tripped(history.states, 3)) == (number == 3)


def test_one_of_two_runners_that_was_not_run_did_not_shrink_the_tests() -> None:
    both = [check(["t::1", "t::2"], total=9), check(total=5, name="more")]
    history = Histories(both).then(checks=both)
    history.then(checks=[check(total=9), check(status="not_run", name="more")])
    assert tripped(history.states, 3) is None


def test_only_the_watched_kinds_trip() -> None:
    history = Histories()
    for _ in range(5):
        history.then(change=DOCUMENTS)
    found = tripped(history.states, 3)
    assert found is not None
    assert found.kind == TripKind.COSMETIC
    others = set(TripKind) - {TripKind.COSMETIC}
    assert tripped(history.states, 3, watch=others) is None


def test_k_is_at_least_one() -> None:
    with pytest.raises(ValueError, match="k is 0"):
        tripped((), 0)
