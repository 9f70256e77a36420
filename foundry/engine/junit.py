"""Test ids and counts from a JUnit XML report. The report is a project's output: untrusted."""

from dataclasses import dataclass
from pathlib import Path

from foundry.schema.checks import TestCounts

MAX_BYTES = 20_000_000
KEPT_FAILURES = 200


@dataclass(frozen=True, slots=True)
class JunitReport:
    """What a report counted, and the ids of the tests that failed."""

    counts: TestCounts
    failing: tuple[str, ...]


def read_junit(root: Path, path: str) -> JunitReport | None:
    """The report at `path` below `root`; None when there is none that can be read as JUnit XML."""
    from xml.etree.ElementTree import ParseError

    from junitparser import JUnitXml, JUnitXmlError, TestSuite

    file = (root / path).resolve()
    if not path or not file.is_relative_to(root.resolve()) or not file.is_file():
        return None
    if file.stat().st_size > MAX_BYTES:
        return None
    try:
        parsed = JUnitXml.fromfile(str(file))
    except (ParseError, JUnitXmlError, ValueError):
        return None
    suites = [parsed] if isinstance(parsed, TestSuite) else list(parsed)
    cases = [case for suite in suites for case in suite]
    failing = [_id(case) for case in cases if not (case.is_passed or case.is_skipped)]
    skipped = sum(1 for case in cases if case.is_skipped)
    counts = TestCounts(total=len(cases), failed=len(failing), skipped=skipped)
    return JunitReport(counts, tuple(sorted(failing)[:KEPT_FAILURES]))


def _id(case: object) -> str:
    classname = str(getattr(case, "classname", "") or "")
    name = str(getattr(case, "name", "") or "")
    return f"{classname}::{name}" if classname else name
