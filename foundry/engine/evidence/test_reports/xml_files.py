"""Outcomes by id from JUnit XML files, the promised one and those that Maven and Gradle leave."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from foundry.engine.evidence.test_reports.junit import read_cases, report_file
from foundry.engine.evidence.test_reports.written import stable_id
from foundry.schema.tests_by_id import MAX_TESTS, Outcome

FOLDERS = ("target/surefire-reports", "target/failsafe-reports", "build/test-results")
"""Where Maven and Gradle leave reports without being asked."""

MAX_FOLDERS = 20_000
MAX_FILES = 2_000
CLOCK_SECONDS = 0.01
"""What a file's time may lie before the clock's: kernels stamp files by the tick."""

_NOT_ENTERED = frozenset((".git", "node_modules", ".venv", "venv", "__pycache__"))


def promised(root: Path, junit: str, started: float) -> Mapping[str, Outcome] | None:
    """The outcomes in the file `junit` below `root`; None when it is missing, unreadable or older
    than `started` (seconds since the epoch)."""
    file = report_file(root, junit) if junit else None
    return _outcomes(root, file) if file and _is_new(file, started) else None


def collected(root: Path, started: float) -> Mapping[str, Outcome]:
    """The outcomes in the reports that Maven and Gradle wrote below `root` since `started`."""
    found: dict[str, Outcome] = {}
    for number, file in enumerate(_left_behind(root)):
        if number >= MAX_FILES or len(found) >= MAX_TESTS:
            break
        if _is_new(file, started):
            found |= _outcomes(root, file) or {}
    return found


def _left_behind(root: Path) -> Iterator[Path]:
    for number, (folder, below, files) in enumerate(os.walk(root)):
        if number >= MAX_FOLDERS:
            return
        below[:] = sorted(name for name in below if name not in _NOT_ENTERED)
        place = f"/{Path(folder).relative_to(root).as_posix()}/"
        if any(f"/{each}/" in place for each in FOLDERS):
            yield from (
                Path(folder, name)
                for name in sorted(files)
                if name.startswith("TEST-") and name.endswith(".xml")
            )


def _is_new(file: Path, started: float) -> bool:
    try:
        return not file.is_symlink() and file.stat().st_mtime >= started - CLOCK_SECONDS
    except OSError:
        return False


def _outcomes(root: Path, file: Path) -> dict[str, Outcome] | None:
    cases = read_cases(file)
    if cases is None:
        return None
    return {stable_id(name, root): outcome for name, outcome in cases[:MAX_TESTS]}
