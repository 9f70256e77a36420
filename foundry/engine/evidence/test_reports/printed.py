"""Reads what runners print where no hook speaks: ids where each test has a line, else counts.

The text is the output of a project: a test can print anything.
"""

import re
from collections.abc import Callable
from functools import reduce

from foundry.engine.evidence.test_reports.named import read_named
from foundry.schema.command import TestCounts
from foundry.schema.tests_by_id import TestReport

MAX_OUTPUT = 5_000_000
"""Characters; of more the end is read, where summaries stand."""

LONGEST_LINE = 2_000
"""Characters; no runner prints longer ones about its tests, and a pattern could take long."""

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_CUT = re.compile(r"^\[… \d+ bytes left out …\]$", re.MULTILINE)
"""The sandbox's marker (HeadTail): lines are missing here."""


def read_printed(output: str) -> tuple[TestReport, ...]:
    """A report for every runner whose lines stand in `output`."""
    text = _ANSI.sub("", output[-MAX_OUTPUT:]).replace("\r\n", "\n")
    whole = len(output) <= MAX_OUTPUT and not _CUT.search(text)
    lines = [line for line in text.split("\n") if len(line) <= LONGEST_LINE]
    text = "\n".join(lines)
    counting = (
        TestReport(runner=runner, counts=_total([count(each) for each in pattern.finditer(text)]))
        for runner, (pattern, count) in _PATTERNS.items()
        if pattern.search(text) or _NOTHING.get(runner) in lines
    )
    return (*read_named(text, whole=whole), *counting)


_WORDS = {
    "passed": r"(\d+) pass(?:ed|ing)\b",
    "failed": r"(\d+) fail(?:ed|ing)\b",
    "errors": r"(\d+) errors?\b",
    "skipped": r"(\d+) (?:skipped|pending|todo|ignored)\b",
    "xfailed": r"(\d+) xfailed\b",
}


def _words(line: str) -> TestCounts:
    """`3 passed, 1 skipped`: the form that pytest, jest and others share."""
    found = {name: re.search(pattern, line) for name, pattern in _WORDS.items()}
    number = {name: int(match[1][:9]) if match else 0 for name, match in found.items()}
    xpassed = re.search(r"(\d+) xpassed\b", line)
    passed = number["passed"] + (int(xpassed[1][:9]) if xpassed else 0)
    return _counts(passed, number["failed"], number["skipped"], number["errors"], number["xfailed"])


def _counts(
    passed: int, failed: int = 0, skipped: int = 0, errors: int = 0, xfailed: int = 0
) -> TestCounts:
    return TestCounts(
        total=passed + failed + skipped + errors + xfailed,
        failed=failed + errors,
        skipped=skipped + xfailed,
        errors=errors,
        xfailed=xfailed,
    )


def _of_total(total: str, failed: int = 0, skipped: int = 0, errors: int = 0) -> TestCounts:
    """Where the whole is printed, and what did not pass of it."""
    return TestCounts(total=int(total[:9]), failed=failed + errors, skipped=skipped, errors=errors)


def _named(text: str, *names: str) -> int:
    """The number behind the first of these names: `failures=2`, `Failures: 2`."""
    for name in names:
        if match := re.search(rf"{name}[=:]\s*(\d{{1,9}})", text, re.IGNORECASE):
            return int(match[1])
    return 0


def _details(match: re.Match[str]) -> TestCounts:
    """`Tests run: 5, Failures: 1, Errors: 0, Skipped: 1`, as JUnit and PHPUnit count."""
    line = match[0]
    skipped = _named(line, "Skipped") + _named(line, "Incomplete")
    total = match[match.lastindex or 1]
    return _of_total(total, _named(line, "Failures"), skipped, _named(line, "Errors"))


def _unittest(match: re.Match[str]) -> TestCounts:
    end = match[2] or ""
    failed = _named(end, "(?<!expected )failures") + _named(end, "unexpected successes")
    expected = _named(end, "expected failures")
    counts = _of_total(match[1], failed, _named(end, "skipped") + expected, _named(end, "errors"))
    return counts.model_copy(update={"xfailed": expected})


def _lines_of_node(match: re.Match[str]) -> TestCounts:
    number = {name: int(value[:9]) for name, value in re.findall(r"(\w+) (\d+)", match[0])}
    failed = number.get("fail", 0) + number.get("cancelled", 0)
    return _of_total(match[1], failed, number.get("skipped", 0) + number.get("todo", 0))


def _words_before(match: re.Match[str]) -> TestCounts:
    number = {name: int(value[:9]) for value, name in re.findall(r"(\d+) (\w+)", match[0])}
    missing = number.get("skips", 0) + number.get("pendings", 0) + number.get("omissions", 0)
    return _of_total(match[1], number.get("failures", 0), missing, number.get("errors", 0))


_SUMMARIES: dict[str, tuple[str, Callable[[re.Match[str]], TestCounts]]] = {
    "pytest": (
        r"^(?:=+ )?(\d+ [a-z ]+(?:, \d+ [a-z ]+)*|no tests [a-z]+(?: \([^)\n]*\))?)"
        r" in [\d.]+s\b.*$",
        lambda match: _words(match[1]),
    ),
    "unittest": (
        r"^Ran (\d+) tests? in [\d.]+s\n+((?:OK|FAILED|NO TESTS RAN)[^\n]*)$",
        _unittest,
    ),
    "node --test": (r"^(?:#|\u2139) tests (\d+)\n(?:(?:#|\u2139) \w+ [\d.]+\n?)+", _lines_of_node),
    "jest": (r"^Tests: +((?:\d+ \w+, )*)(\d+) total$", lambda match: _words(match[1])),
    "vitest": (
        r"^ +Tests  (\d+ [a-z]+(?: \| \d+ [a-z]+)*) \(\d+\)$",
        lambda match: _words(match[1]),
    ),
    "mocha": (
        r"^ +\d+ passing \([^)\n]*\)(?:\n +\d+ (?:pending|failing))*$",
        lambda match: _words(match[0]),
    ),
    "rspec": (
        r"^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?.*$",
        lambda match: _of_total(match[1], int(match[2][:9]), int((match[3] or "0")[:9])),
    ),
    "phpunit": (
        r"^(?:OK \((\d+) tests?, \d+ assertions?\)|Tests: (\d+), Assertions: \d+.*\.)$",
        _details,
    ),
    "dotnet test": (
        r"^(?:Passed|Failed|Skipped)! +- Failed: +(\d+), Passed: +(\d+), Skipped: +(\d+), Total:",
        lambda match: _counts(int(match[2][:9]), int(match[1][:9]), int(match[3][:9])),
    ),
    "maven": (
        r"^(?:\[\w+\] )?Tests run: (\d+), Failures: \d+, Errors: \d+, Skipped: \d+$",
        _details,
    ),
    "minitest": (
        r"^(\d+) (?:runs|tests), \d+ assertions, \d+ failures, \d+ errors, .*$",
        _words_before,
    ),
    "prove": (r"^Files=\d+, Tests=(\d+),.*$", lambda match: _of_total(match[1])),
    "deno test": (
        r"^(?:ok|FAILED) \| (\d+ passed.*?) \([\d.]+m?s\)$",
        lambda match: _words(match[1]),
    ),
}

_PATTERNS = {
    runner: (re.compile(pattern, re.MULTILINE), count)
    for runner, (pattern, count) in _SUMMARIES.items()
}

_NOTHING = {
    "phpunit": "No tests executed!",
    "rspec": "No examples found.",
    "prove": "Result: NOTESTS",
    "vitest": "No test files found",
    "jest": "No tests found, exiting with code 0",
}
"""What a runner prints instead of counts when there is nothing to run."""


def _total(counts: list[TestCounts]) -> TestCounts:
    return reduce(TestCounts.__add__, counts, TestCounts())
