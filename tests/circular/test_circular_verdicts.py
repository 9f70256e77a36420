"""A verdict is verified before it is one, and prose is never taken for one."""

from typing import Any

import pytest

from foundry.circular.schema import IterationStatus, Report, Submission
from foundry.circular.verdicts import Verification, claim_of, settle
from tests.support.iterations import check

HOLDS = Verification(checks=True, clean=True, committed=True, needed=2)
PRAISE = "Done. The codebase is clean: no work left to do, and all tests pass."


def report(verdict: str | None, **fields: Any) -> Report:
    given = {"kind": "work", "ending": "submitted", "reason": "completion", "evidence": "pytest"}
    return Report.model_validate({**given, "verdict": verdict, **fields})


def silent(said: str) -> Report:
    return report(None, ending="not_submitted", said=said)


def test_evidence_is_asked_for() -> None:
    with pytest.raises(ValueError, match="evidence"):
        Submission.model_validate({"verdict": "done", "evidence": ""})


@pytest.mark.parametrize("said", [PRAISE, "Shall I go on?", ""])
def test_what_a_thread_writes_instead_of_a_verdict_decides_nothing(said: str) -> None:
    """Only the checks tell whether it looks done; then further threads have to doubt it."""
    passed, failed = check(total=3), check(["t::1"], total=3)
    looks_done = settle(claim_of(silent(said), [passed]), HOLDS)
    assert (looks_done.status, looks_done.doubted) == (IterationStatus.UNKNOWN, True)
    goes_on = settle(claim_of(silent(said), [passed, failed]), HOLDS)
    assert (goes_on.status, goes_on.doubted) == (IterationStatus.CONTINUE, False)
    ambiguous = settle(claim_of(silent(said), []), HOLDS)
    assert (ambiguous.status, ambiguous.doubted) == (IterationStatus.UNKNOWN, False)


def test_a_claim_is_doubted_only_where_nothing_measured_speaks_against_it() -> None:
    done = claim_of(report("done"), [])
    cases = {
        (True, True, True): (IterationStatus.UNKNOWN, True),
        (None, True, True): (IterationStatus.UNKNOWN, True),
        (False, True, True): (IterationStatus.CONTINUE, False),
        (True, False, True): (IterationStatus.CONTINUE, False),
        (True, True, False): (IterationStatus.CONTINUE, False),
    }
    for (checks, clean, committed), expected in cases.items():
        settled = settle(done, Verification(checks, clean, committed, needed=3))
        assert (settled.status, settled.doubted) == expected
        assert settled.reason
    assert settle(done, HOLDS).reason == "1 of 2 threads find it done"


def test_more_and_blocked_go_on_whatever_the_checks_say() -> None:
    for verdict, status in (("more", IterationStatus.CONTINUE), ("blocked", "blocked")):
        settled = settle(claim_of(report(verdict, remaining=["b.py"]), []), HOLDS)
        assert (settled.status, settled.doubted) == (status, False)
    cut = claim_of(report(None, ending="context_full", reason="threshold"), [check(total=3)])
    assert cut.kind == "more" and "threshold (context full)" in cut.reason
