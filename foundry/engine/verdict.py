"""Whether a run is verified. Pure, and the only place that says so."""

from collections.abc import Mapping, Sequence
from typing import Any

from foundry.engine.step_context import is_documentation, own_files
from foundry.engine.step_kind import has_checks
from foundry.schema.command import CheckResult
from foundry.schema.journal import Entry, Resume, StepRecord
from foundry.schema.run import Status
from foundry.schema.workflow import Workflow

SHOWN = 5
"""Files that are named."""

NO_CHECK = (
    "this workflow ran no check that could verify it: begin it with --check COMMAND, or give it a "
    "step with `action: checks`"
)


def verdict(
    workflow: Workflow, entries: Sequence[Entry], warnings: Sequence[str]
) -> tuple[Status, str]:
    """How a run whose steps are done stands, and why.

    Only checks that passed make it verified, and only what they were run on.
    """
    records = [entry for entry in entries if isinstance(entry, StepRecord)]
    reasons = _unchecked(workflow, records) or _edited(workflow, entries) or list(warnings)
    if unproven := last(records, "unproven"):
        reasons.insert(0, unproven)
    if reasons:
        return Status.UNVERIFIED, "; ".join(reasons)
    return Status.VERIFIED, "all gates passed"


def _unchecked(workflow: Workflow, records: Sequence[StepRecord]) -> list[str]:
    """What speaks against it by the checks."""
    if not has_checks(workflow):
        return [] if any(record.checks for record in records) else [NO_CHECK]
    tests = last_tests(records)
    if not tests:
        return ["the tests were skipped"]
    if tests.get("passed"):
        return []
    return ["checks are still failing" if last_checks(records) else "there is no check to run"]


def _edited(workflow: Workflow, entries: Sequence[Entry]) -> list[str]:
    """What a person changed in a pause after the checks had run; documentation decides nothing."""
    tested, changed = has_checks(workflow), list[str]()
    for entry in entries:
        if isinstance(entry, StepRecord):
            changed = [] if ("tests" in entry.patch if tested else entry.checks) else changed
        elif isinstance(entry, Resume):
            changed += [path for path in own_files(entry.changes) if not is_documentation(path)]
    shown = ", ".join(dict.fromkeys(changed[:SHOWN]))
    more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
    return [f"changed by hand after the checks ran: {shown}{more}"] if changed else []


def last_tests(records: Sequence[StepRecord]) -> Mapping[str, Any]:
    """What the last run of the checks said: from the journal, where only the harness sets it."""
    return last(records, "tests") or {}


def last(records: Sequence[StepRecord], name: str) -> Any:
    """The newest value of a variable that only steps of the harness set; None: never set."""
    return next((r.patch[name] for r in reversed(records) if name in r.patch), None)


def last_checks(records: Sequence[StepRecord]) -> tuple[CheckResult, ...]:
    """The results of the last run of the checks."""
    return next((r.checks for r in reversed(records) if "tests" in r.patch), ())
