"""Whether a run is verified. Pure, and the only place that says so."""

from collections.abc import Mapping, Sequence
from typing import Any

from foundry.engine.steps import has_checks
from foundry.schema.checks import CheckResult
from foundry.schema.journal import StepRecord
from foundry.schema.run import Status
from foundry.schema.workflow import Workflow

NO_CHECK = (
    "this workflow ran no check that could verify it: begin it with --check COMMAND, or give it a "
    "step with `action: checks`"
)


def verdict(
    workflow: Workflow, records: Sequence[StepRecord], warnings: Sequence[str]
) -> tuple[Status, str]:
    """How a run whose steps are done stands, and why. Only passed checks make it verified."""
    tests = last_tests(records)
    if has_checks(workflow):
        if not tests:
            return Status.UNVERIFIED, "the tests were skipped"
        if not tests.get("passed"):
            failing = bool(last_checks(records))
            why = "checks are still failing" if failing else "there is no check to run"
            return Status.UNVERIFIED, why
    elif not any(record.checks for record in records):
        return Status.UNVERIFIED, NO_CHECK
    if warnings:
        return Status.UNVERIFIED, "; ".join(warnings)
    return Status.VERIFIED, "all gates passed"


def last_tests(records: Sequence[StepRecord]) -> Mapping[str, Any]:
    """What the last run of the checks said: from the journal, where only the harness sets it."""
    return next((r.patch["tests"] for r in reversed(records) if "tests" in r.patch), {})


def last_checks(records: Sequence[StepRecord]) -> tuple[CheckResult, ...]:
    """The results of the last run of the checks."""
    return next((r.checks for r in reversed(records) if "tests" in r.patch), ())
