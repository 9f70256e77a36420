"""Reads the runners that print a line for every test: go, cargo, ctest."""

import re
from collections.abc import Callable, Iterator

from foundry.schema.command import TestCounts
from foundry.schema.tests_by_id import FAILING, MAX_TESTS, Outcome, TestReport, by_id, counted

Outcomes = dict[str, Outcome]


def read_named(text: str, *, whole: bool) -> Iterator[TestReport]:
    """A report for every such runner in `text`.

    Ids count as known when the text is `whole` and as many tests are named as were counted;
    otherwise only failures keep theirs.
    """
    for runner, read in _RUNNERS.items():
        found = read(text)
        if found is None:
            continue
        outcomes, counts = found
        bad: Outcomes = {name: each for name, each in outcomes.items() if each in FAILING}
        if whole and counts == counted(outcomes.values()) and len(outcomes) <= MAX_TESTS:
            yield by_id(runner, outcomes)
        else:
            yield TestReport(runner=runner, outcomes=bad, counts=counts)


_GO_TEST = re.compile(r"^ *--- (PASS|FAIL|SKIP): (\S+) \(")
_GO_PACKAGE = re.compile(r"^(?:ok  |FAIL|\?   )\t(\S+)")
_GO: dict[str, Outcome] = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}


def _go(text: str) -> tuple[Outcomes, TestCounts] | None:
    """go test: results precede the line of their package; without -v only failures are named.

    A package that names nothing counts as one test: at least that many ran.
    """
    outcomes: Outcomes = {}
    unnamed, packages = 0, 0
    pending: Outcomes = {}
    verbose = False
    for line in text.split("\n"):
        verbose |= line.startswith("=== RUN ")
        if match := _GO_TEST.match(line):
            pending[match[2]] = _GO[match[1]]
        elif match := _GO_PACKAGE.match(line):
            packages += 1
            if line.startswith("FAIL") and not FAILING.intersection(pending.values()):
                pending[""] = "error"  # it did not compile, or ended early
            outcomes |= {
                f"{match[1]}::{name}".removesuffix("::"): pending[name] for name in pending
            }
            empty = line.endswith(("[no test files]", "[no tests to run]"))
            unnamed += not verbose and not empty
            pending, verbose = {}, False
    counts = counted(outcomes.values()) + TestCounts(total=unnamed)
    return (outcomes, counts) if packages else None


_CARGO_TARGET = re.compile(r"^ +Running (?:unittests )?(\S+) \(|^ +Doc-tests (\S+)")
_CARGO_TEST = re.compile(r"^test (.+?)(?: - should panic)? \.\.\. (?:.*\b)?(ok|FAILED|ignored)\b")
_CARGO_SUM = re.compile(
    r"^test result: \w+\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored", re.MULTILINE
)
_CARGO: dict[str, Outcome] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}


def _cargo(text: str) -> tuple[Outcomes, TestCounts] | None:
    """cargo test: names are unique within a target; examples of one item are numbered."""
    sums = _CARGO_SUM.findall(text)
    if not sums:
        return None
    outcomes: Outcomes = {}
    target = ""
    for line in text.split("\n"):
        if match := _CARGO_TARGET.match(line):
            target = match[1] or f"doc {match[2]}"
        elif match := _CARGO_TEST.match(line):
            name = base = f"{target}::{re.sub(r' [(]line [0-9]+[)]', '', match[1])}"
            number = 1
            while name in outcomes and number < 1_000:
                number += 1
                name = f"{base} #{number}"
            outcomes[name] = _CARGO[match[2]]
    passed, failed, ignored = (sum(map(int, column)) for column in zip(*sums, strict=True))
    total = passed + failed + ignored
    return outcomes, TestCounts(total=total, failed=failed, skipped=ignored)


_CTEST = re.compile(
    r"^ *\d+/\d+ Test +#\d+: (\S.*?) \.{2,} *\**"
    r"(Passed|Skipped|Not Run \(Disabled\)|[A-Z][A-Za-z ]*)",
    re.MULTILINE,
)
_CTEST_SUM = re.compile(r"^\d+% tests passed, \d+ tests? failed out of (\d{1,9})", re.MULTILINE)
_CTEST_NONE = "No tests were found!!!"
_CTEST_MUTED = ("Skipped", "Not Run (Disabled)")


def _ctest(text: str) -> tuple[Outcomes, TestCounts] | None:
    outcomes: Outcomes = {
        name: "passed" if said == "Passed" else "skipped" if said in _CTEST_MUTED else "failed"
        for name, said in _CTEST.findall(text)
    }
    sums = [int(each) for each in _CTEST_SUM.findall(text)]
    if not sums and _CTEST_NONE not in text:
        return None
    more = max(sum(sums) - len(outcomes), 0)
    return outcomes, counted(outcomes.values()) + TestCounts(total=more)


_RUNNERS: dict[str, Callable[[str], tuple[Outcomes, TestCounts] | None]] = {
    "go test": _go,
    "cargo test": _cargo,
    "ctest": _ctest,
}
