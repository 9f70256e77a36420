"""Tests by id over runs: what is gone, muted, moved, and what no exit code tells."""

import pytest

from foundry.engine.evidence.test_ledger import (
    TestLedger,
    account,
    from_json,
    judge_tests,
    preexisting,
    recorded,
    runner_called,
    to_json,
)
from foundry.errors import ArtifactError
from foundry.schema.command import TestCounts
from foundry.schema.tests_by_id import TestReport, by_id


def ledger(*runs):
    value = TestLedger()
    for number, outcomes in enumerate(runs):
        value = recorded(value, str(number), [by_id("pytest", outcomes)])
    return value


def test_what_passed_once_and_does_not_run_is_gone_even_when_a_later_run_lost_it_too() -> None:
    found = account(ledger({"t.py::a": "passed"}, {"t.py::b": "passed"}, {"t.py::b": "passed"}))
    assert found.gone == ("t.py::a",)


def test_what_never_passed_is_not_missed() -> None:
    assert account(ledger({"t.py::a": "failed"}, {"t.py::b": "passed"})).gone == ()


def test_skipped_and_expected_to_fail_is_muted_also_with_its_whole_file() -> None:
    before = {"t.py::a": "passed", "t.py::b": "passed", "u.py::c": "passed"}
    found = account(ledger(before, {"t.py::a": "skipped", "t.py::b": "xfailed", "u.py": "skipped"}))
    assert (found.muted, found.gone) == (("t.py::a", "t.py::b", "u.py::c"), ())


def test_a_moved_test_is_a_pair_and_not_gone() -> None:
    before = {"old.py::T::test_a[1]": "passed", "old.py::test_b": "passed"}
    found = account(ledger(before, {"new.py::test_a[1]": "passed"}))
    assert found.moved == (("old.py::T::test_a[1]", "new.py::test_a[1]"),)
    assert found.gone == ("old.py::test_b",)


def test_new_failures_are_told_from_those_of_the_first_run() -> None:
    found = account(ledger({"a": "failed", "b": "passed"}, {"a": "error", "b": "failed"}))
    assert found.new_failures == ("b",)


def test_without_ids_nothing_is_said_to_be_gone() -> None:
    before = ledger({"a": "passed"})
    now = recorded(before, "now", [TestReport(runner="prove", counts=TestCounts(total=1))])
    assert (account(now).ids_known, account(now).gone) == (False, ())


def test_only_failures_with_ids_that_failed_before_are_preexisting() -> None:
    failing = by_id("pytest", {"a": "failed", "b": "passed"})
    assert preexisting(failing, by_id("pytest", {"a": "error"}))
    assert not preexisting(failing, by_id("pytest", {"a": "passed"}))
    assert not preexisting(by_id("pytest", {"a": "passed"}), failing)
    unknown = TestReport(runner="prove", counts=TestCounts(total=1, failed=1))
    assert not preexisting(unknown, unknown)
    assert not preexisting(None, None)


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        (by_id("pytest", {}), "no test was run"),
        (by_id("pytest", {"a": "skipped", "b": "xfailed"}), "all 2 tests were skipped"),
        (by_id("pytest", {"a": "failed", "b": "passed"}), "1 failed by the test report"),
        (by_id("pytest", {"a": "passed"}, incomplete="pytest ended early"), "pytest ended early"),
        (by_id("pytest", {"a": "passed", "b": "skipped"}), ""),
        (None, ""),
    ],
)
def test_an_exit_code_of_zero_is_not_enough(report, reason) -> None:
    assert judge_tests("make test", report, False, False) == reason


def test_a_promised_report_and_a_called_runner_are_waited_for() -> None:
    passed = by_id("pytest", {"a": "passed"})
    assert "promised" in judge_tests("make test", passed, True, False)
    found = passed.model_copy(update={"promised_found": True})
    assert judge_tests("make test", found, True, False) == ""
    assert "no test was seen" in judge_tests("pytest", None, False, True)


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("pytest tests -k a", "pytest"),
        ("python3 -m unittest", "unittest"),
        ("node --test", "node --test"),
        ("pytest --version", ""),
        ("pytest -qq", ""),
        ("python -I -m pytest", ""),
        ("PYTHONPATH=src pytest", ""),
        ("pytest | tee log", ""),
        ("echo pytest", ""),
        ("npm test", ""),
    ],
)
def test_only_a_certain_call_of_a_runner_is_one(command, runner) -> None:
    assert runner_called(command) == runner


def test_ten_thousand_ids_are_stored_in_less_than_a_megabyte() -> None:
    names = [
        f"tests/package_{n // 500}/test_module_{n // 50}.py::TestSomething::test_does_this_{n}[a b]"
        for n in range(10_000)
    ]
    value = ledger(*([dict.fromkeys(names, "passed")] * 4), {"no file": "failed"})
    text = to_json(value)
    assert len(text.encode()) < 1_000_000
    assert from_json(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"format":2}',
        '{"format":1,"runs":["a"],"known":[true],"tests":{"f":{"t":"pp"}}}',
        '{"format":1,"runs":["a"],"known":[true],"tests":{"f":{"t":"?"}}}',
        '{"format":1,"runs":["a"],"known":[],"tests":{}}',
        "[" * 100_000,
    ],
)
def test_what_is_no_ledger_is_refused(text) -> None:
    with pytest.raises(ArtifactError):
        from_json(text)
