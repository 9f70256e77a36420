"""Tests that ran once and do not any more: counted, and told unless their old form still holds."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from foundry.engine.evidence.protected import SHOWN, is_named
from foundry.engine.evidence.test_ledger import TestLedger, account, from_json
from foundry.schema.examination import Tests
from foundry.schema.flag import Flag
from foundry.schema.plan import ObsoleteTest
from foundry.schema.tests_by_id import MUTED
from foundry.store.artifacts import read_text
from foundry.store.project import FOLDER, TEST_LEDGER, Project

KEPT = 200
"""Ids that a flag keeps."""


_TEST = re.compile(r"(^|/)(test_[^/]+|[^/]+_test)\.py$|\.(test|spec)\.[cm]?[jt]sx?$|_test\.go$")
"""Files that hold tests, and not what tests need."""


def read_ledger(project: Project) -> TestLedger:
    """The ledger of the run so far, an empty one before the tests ran.

    Raises ArtifactError when the file can't be read as one.
    """
    text = read_text(project, TEST_LEDGER)
    return from_json(text, f"{FOLDER}/{TEST_LEDGER}") if text else TestLedger()


def count_tests(ledger: TestLedger) -> Tests:
    """What the last run came to."""
    last = len(ledger.runs) - 1
    outcomes = ledger.outcomes(last) if ledger.runs else {}
    skipped = sum(1 for outcome in outcomes.values() if outcome in MUTED)
    lost = account(ledger)
    return Tests(
        ran=len(outcomes) - skipped,
        skipped=skipped,
        removed=len(lost.gone),
        known=bool(outcomes) and ledger.known[last],
    )


def lost_flags(
    ledger: TestLedger, old: Iterable[Flag], obsolete: Sequence[ObsoleteTest]
) -> tuple[Flag, ...]:
    """Tests that are gone or muted, less those that another flag names already.

    Those that never passed and do not count now are only named: a platform may want that.
    """
    told, lost = {test for flag in old for test in flag.tests}, account(ledger)
    flags = [
        _flag(what, [test for test in tests if test not in told], obsolete)
        for what, tests in (("gone", lost.gone), ("muted", lost.muted))
        if set(tests) - told
    ]
    if any(ledger.known[:-1]) and not ledger.known[-1]:
        words = "the tests were told by id before, and are not any more"
        flags.append(Flag(kind="tests", about="unknown", words=words, blocks=True))
    now = ledger.outcomes(len(ledger.runs) - 1) if ledger.runs else {}
    idle = sorted({test for test, is_ in now.items() if is_ in MUTED} - {*lost.muted, *told})
    if idle:
        words = f"tests that are skipped or expected to fail: {_shown(idle)}"
        flags.append(Flag(kind="tests", about="idle", words=words, tests=tuple(idle[:KEPT])))
    return tuple(flags)


def unrun_flags(files: Iterable[str], ledger: TestLedger) -> tuple[Flag, ...]:
    """The test files that a project had and no check runs, where the checks tell what they run."""
    last = len(ledger.runs) - 1
    if last < 0 or not ledger.known[last] or not ledger.tests:
        return ()
    ran = "\n".join(ledger.tests)
    idle = [path for path in files if _TEST.search(path) and PurePosixPath(path).stem not in ran]
    if not idle:
        return ()
    words = f"the project has tests that no check runs: {_shown(idle)}"
    return (Flag(kind="tests", about="not run", words=words, tests=tuple(idle[:KEPT])),)


def _shown(tests: Sequence[str]) -> str:
    return ", ".join(tests[:SHOWN]) + (f" and {len(tests) - SHOWN} more" if tests[SHOWN:] else "")


def _flag(what: str, tests: Sequence[str], obsolete: Sequence[ObsoleteTest]) -> Flag:
    left = [test for test in tests if not any(is_named(test, each.test) for each in obsolete)]
    shown = left or list(tests)
    how = "do not run any more" if what == "gone" else "are skipped or expected to fail now"
    why = "" if left else "; the plan says that the spec takes them away"
    return Flag(
        kind="tests",
        about=what,
        words=f"tests that passed before {how}: {_shown(shown)}{why}",
        tests=tuple(shown[:KEPT]),
        blocks=bool(left),
    )
