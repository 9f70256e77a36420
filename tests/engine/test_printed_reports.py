"""What runners print: endings of real runs, and of PHPUnit, dotnet, prove, minitest and deno as
their manuals show them."""

import pytest

from foundry.engine.evidence.test_reports.printed import read_printed
from foundry.schema.command import TestCounts

SUMMARIES = {
    "pytest": [
        ("==== 3 passed, 1 skipped, 1 xfailed in 0.12s ====", (5, 0, 2)),
        ("1 failed, 2 passed, 1 error, 1 subtests passed in 4.99s", (4, 2, 0)),
        ("=== no tests ran in 0.01s ===", (0, 0, 0)),
        ("no tests collected (5 deselected) in 0.02s", (0, 0, 0)),
    ],
    "unittest": [
        ("Ran 3 tests in 0.000s\n\nOK (skipped=1, expected failures=1)", (3, 0, 2)),
        ("Ran 4 tests in 0.000s\n\nFAILED (failures=1, errors=2)", (4, 3, 0)),
        ("Ran 0 tests in 0.000s\n\nNO TESTS RAN", (0, 0, 0)),
    ],
    "node --test": [
        ("# tests 4\n# pass 2\n# fail 0\n# cancelled 0\n# skipped 1\n# todo 1\n", (4, 0, 2)),
        ("\u2139 tests 2\n\u2139 suites 0\n\u2139 pass 1\n\u2139 fail 1\n", (2, 1, 0)),
    ],
    "jest": [("Tests:       1 failed, 2 skipped, 3 passed, 6 total", (6, 1, 2))],
    "vitest": [("      Tests  1 failed | 3 passed | 1 skipped (5)", (5, 1, 1))],
    "mocha": [("  3 passing (5ms)\n  1 pending\n  2 failing\n", (6, 2, 1))],
    "rspec": [
        ("4 examples, 1 failure, 2 pending", (4, 1, 2)),
        ("No examples found.\n", (0, 0, 0)),
    ],
    "phpunit": [
        ("OK (3 tests, 5 assertions)", (3, 0, 0)),
        ("Tests: 7, Assertions: 9, Errors: 1, Failures: 2, Skipped: 1, Incomplete: 1.", (7, 3, 2)),
        ("No tests executed!\n", (0, 0, 0)),
    ],
    "dotnet test": [
        (
            "Passed!  - Failed:     0, Passed:     3, Skipped:     1, Total:     4, Duration: 9 ms",
            (4, 0, 1),
        )
    ],
    "maven": [("[INFO] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1", (5, 2, 1))],
    "minitest": [("4 runs, 5 assertions, 1 failures, 1 errors, 1 skips", (4, 2, 1))],
    "prove": [
        ("Files=2, Tests=5,  0 wallclock secs ( 0.01 usr)\nResult: PASS", (5, 0, 0)),
    ],
    "deno test": [("ok | 3 passed | 1 ignored (12ms)", (4, 0, 1))],
}  # fmt: skip
CASES = [(name, *each) for name, cases in SUMMARIES.items() for each in cases]


@pytest.mark.parametrize(("runner", "text", "counts"), CASES)
def test_counts_are_read_from_a_summary(runner, text, counts) -> None:
    (report,) = read_printed(f"some line\n{text}\n")
    found = (report.counts.total, report.counts.failed, report.counts.skipped)
    assert (report.runner, found, report.ids_known) == (runner, counts, False)


GO = """=== RUN   TestA
=== RUN   TestA/sub_one
--- FAIL: TestA (0.00s)
    --- PASS: TestA/sub_one (0.00s)
=== RUN   TestS
--- SKIP: TestS (0.00s)
FAIL
FAIL\tx/a\t0.002s
?   \tx/e\t[no test files]
FAIL
"""
CARGO = """     Running unittests src/lib.rs (target/debug/deps/x-b885370c02d1f6ea)

running 2 tests
test tests::ig ... ignored
test tests::sp - should panic ... ok

test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests x

running 2 tests
test src/lib.rs - a (line 1) ... ok
test src/lib.rs - a (line 9) ... FAILED

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.19s
"""
CTEST = """1/4 Test #1: ok ...............................   Passed    0.01 sec
2/4 Test #2: bad ..............................***Failed    0.00 sec
3/4 Test #3: skip .............................***Skipped   0.00 sec
4/4 Test #4: dis ..............................***Not Run (Disabled)   0.00 sec

50% tests passed, 1 tests failed out of 3
"""


@pytest.mark.parametrize(
    ("text", "outcomes"),
    [
        (GO, {"x/a::TestA": "failed", "x/a::TestA/sub_one": "passed", "x/a::TestS": "skipped"}),
        (
            CARGO,
            {
                "src/lib.rs::tests::ig": "skipped",
                "src/lib.rs::tests::sp": "passed",
                "doc x::src/lib.rs - a": "passed",
                "doc x::src/lib.rs - a #2": "failed",
            },
        ),
        (CTEST, {"ok": "passed", "bad": "failed", "skip": "skipped", "dis": "skipped"}),
    ],
    ids=["go", "cargo", "ctest"],
)
def test_ids_are_read_where_every_test_has_a_line(text, outcomes) -> None:
    (report,) = read_printed(text)
    assert (report.outcomes, report.ids_known) == (outcomes, True)
    (cut,) = read_printed("[… 9 bytes left out …]\n" + text)
    bad = {name for name, outcome in outcomes.items() if outcome == "failed"}
    assert (set(cut.outcomes), cut.ids_known) == (bad, False)


def test_go_without_v_names_only_its_failures() -> None:
    (report,) = read_printed("ok  \tx/a\t0.1s\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\tx/b\t0.1s\n")
    assert (report.failing, report.ids_known, report.nothing_ran) == (("x/b::TestB",), False, False)
    (empty,) = read_printed("ok  \tx\t0.004s [no tests to run]\n?   \tx/e\t[no test files]\n")
    assert empty.nothing_ran
    (broken,) = read_printed("FAIL\tx/c [build failed]\n")
    assert broken.failing == ("x/c",)


def test_nothing_is_read_out_of_ordinary_output() -> None:
    assert read_printed("built 3 files in 0.1s\n10 passed the exam\nTests: see README\n") == ()


def test_text_that_is_made_to_be_slow_is_read() -> None:
    hostile = "1 a1 a1 a" * 200_000 + "\n" + "1 passed, " * 190 + "\n" + "test a ... " * 150 + "\n"
    (report,) = read_printed(hostile * 2 + "test result: ok. 1 passed; 0 failed; 0 ignored;")
    assert report.counts == TestCounts(total=1)
