"""Test ids and counts from a JUnit XML report. The report is a project's output: untrusted."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foundry.schema.command import TestCounts
from foundry.schema.tests_by_id import FAILING, Outcome, counted

MAX_BYTES = 20_000_000
KEPT_FAILURES = 200


@dataclass(frozen=True, slots=True)
class JunitReport:
    """What a report counted, and the ids of the tests that failed."""

    counts: TestCounts
    failing: tuple[str, ...]


def report_file(root: Path, path: str) -> Path | None:
    """The report that `path` names, if there is one: an XML file below `root`, none of git's.

    A model chose the path, and the file is removed before the command that writes it runs.
    """
    try:
        file = Path(os.path.realpath(root / path))
        inside = file.relative_to(os.path.realpath(root))
        there = file.is_file()
    except (OSError, ValueError):  # outside, too long, or no path at all
        return None
    return file if there and file.suffix == ".xml" and ".git" not in inside.parts else None


def read_junit(root: Path, path: str) -> JunitReport | None:
    """The report at `path` below `root`; None when there is none that can be read as JUnit XML."""
    file = report_file(root, path)
    cases = read_cases(file) if file else None
    if cases is None:
        return None
    failing = sorted(name for name, outcome in cases if outcome in FAILING)
    return JunitReport(counted(outcome for _, outcome in cases), tuple(failing[:KEPT_FAILURES]))


def read_cases(file: Path) -> list[tuple[str, Outcome]] | None:
    """Every test case of a report with its id, in order; None when it is no JUnit XML.

    The elements are walked here and not by the library, which follows nested suites by recursion.
    """
    from xml.etree.ElementTree import ParseError, parse

    from junitparser import TestCase

    try:
        if file.stat().st_size > MAX_BYTES:
            return None
        report = parse(file).getroot()
    except (ParseError, ValueError, LookupError, OSError):  # LookupError: an unknown encoding
        return None
    if report.tag not in ("testsuites", "testsuite"):
        return None
    cases = (
        TestCase.fromelem(element)  # type: ignore[no-untyped-call]
        for element in report.iter("testcase")
    )
    return [(_id(case), _outcome(case)) for case in cases]


def _outcome(case: Any) -> Outcome:
    if case.is_skipped:
        kinds = {getattr(result, "type", None) for result in case.result}
        return "xfailed" if "pytest.xfail" in kinds else "skipped"
    if case.is_passed:
        return "passed"
    return "failed" if case.is_failure else "error"


def _id(case: object) -> str:
    classname = str(getattr(case, "classname", "") or "")
    name = str(getattr(case, "name", "") or "")
    return f"{classname}::{name}" if classname else name
