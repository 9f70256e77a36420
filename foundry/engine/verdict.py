"""Whether a run is verified. Pure, and the only place that says so."""

from collections.abc import Mapping, Sequence
from typing import Any

from foundry.engine.counts import open_findings
from foundry.engine.findings import reviewed
from foundry.engine.requirements import built_tasks, last, last_look, requirements
from foundry.engine.step_context import is_documentation, own_files
from foundry.engine.step_kind import has_checks
from foundry.schema.command import CheckResult
from foundry.schema.flag import Flag
from foundry.schema.journal import Entry, Resume, StepRecord
from foundry.schema.plan import Plan
from foundry.schema.run import Status
from foundry.schema.workflow import Workflow

SHOWN = 5
"""Files that are named."""

NO_CHECK = (
    "this workflow ran no check that could verify it: begin it with --check COMMAND, or give it a "
    "step with `action: checks`"
)


def verdict(
    workflow: Workflow, entries: Sequence[Entry], warnings: Sequence[str], plan: Plan | None
) -> tuple[Status, str]:
    """How a run whose steps are done stands, and why.

    Only checks that passed make it verified, only what they were run on, and only where they were
    seen to be able to fail.
    """
    if found := reasons(workflow, entries, warnings, plan):
        return Status.UNVERIFIED, "; ".join(found)
    return Status.VERIFIED, "all gates passed"


def reasons(
    workflow: Workflow, entries: Sequence[Entry], warnings: Sequence[str], plan: Plan | None
) -> list[str]:
    """All that keeps a run from being verified; nothing when it is."""
    records = [entry for entry in entries if isinstance(entry, StepRecord)]
    unproven = last(records, "unproven")
    found = [str(unproven)] if unproven else []
    if unchecked := _unchecked(workflow, records):
        found += unchecked
    elif edited := _edited(workflow, entries):
        found += edited
    else:
        found += _unshown(workflow, entries, plan)
    return [*found, *(each for each in warnings if each not in found)]


def flags_of(entries: Sequence[Entry]) -> tuple[Flag, ...]:
    """All flags of a run, the newest of each id; of those that a look at a commit makes only the
    last look's."""
    look = last_look([entry for entry in entries if isinstance(entry, StepRecord)])
    found: dict[str, Flag] = {}
    for entry in entries:
        if not getattr(entry, "examination", None) or entry is look:
            found |= {flag.id: flag for flag in getattr(entry, "flags", ())}
    return tuple(found.values())


def unruled(records: Sequence[StepRecord]) -> tuple[Flag, ...]:
    """The flags that keep a run from being verified and that no ruling calls justified."""
    said: dict[str, bool] = {}
    for ruling in reviewed(records).rulings:  # of two reviewers, the one who sees a loss is heard
        said[ruling.flag] = said.get(ruling.flag, True) and ruling.justified
    justified = {flag for flag, yes in said.items() if yes}
    rulable = ("tests", "protected")
    return tuple(
        flag
        for flag in flags_of(records)
        if flag.blocks and not (flag.kind in rulable and flag.id in justified)
    )


def _unshown(workflow: Workflow, entries: Sequence[Entry], plan: Plan | None) -> list[str]:
    """What speaks against a run whose checks hold: what they do not show."""
    records = [entry for entry in entries if isinstance(entry, StepRecord)]
    look = last_look(records)
    if look is None or not has_checks(workflow):
        return []
    built = built_tasks(workflow, entries)
    met = requirements(plan, built, {}, look.checks, look.examination)
    missing = [each.id for each in met if each.state == "missing"]
    claimed = [each.id for each in met if each.state == "claimed" and each.testable]
    opened = open_findings(records)
    return [
        *([f"{_list(missing)} not met"] if missing else []),
        *([f"{_list(claimed)} only claimed: no check that can fail shows it"] if claimed else []),
        *(flag.words for flag in unruled(records)),
        *([f"open findings of the reviewer: {_list(opened)}"] if opened else []),
    ]


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _unchecked(workflow: Workflow, records: Sequence[StepRecord]) -> list[str]:
    """What speaks against it by the checks."""
    if not has_checks(workflow):
        newest = {check.name: check for record in records for check in record.checks}
        failing = [check.name for check in newest.values() if not check.holds]
        return _failing(failing) if newest else [NO_CHECK]
    tests = last_tests(records)
    if not tests:
        return ["the tests were skipped"]
    if tests.get("passed"):
        return []
    if not any(check.kind != "verify" for check in last_checks(records)):
        return ["there is no check to run"]
    failing = [check.name for check in last_checks(records) if not check.holds]
    return _failing(failing) or ["a fault was found"]


def _failing(names: Sequence[str]) -> list[str]:
    return [f"checks are still failing: {_list(names)}"] if names else []


def _edited(workflow: Workflow, entries: Sequence[Entry]) -> list[str]:
    """What a person changed in a pause after the checks had run; documentation decides nothing."""
    tested, changed = has_checks(workflow), list[str]()
    for entry in entries:
        if isinstance(entry, StepRecord):
            looked = "tests" in entry.patch if tested else bool(entry.checks)
            changed = [] if looked else [*changed, *_own(entry.files)]
        elif isinstance(entry, Resume):
            changed += _own(entry.changes)
    named = list(dict.fromkeys(changed))
    return [f"changed after the checks ran: {_list(named)}"] if named else []


def _own(paths: tuple[str, ...]) -> list[str]:
    return [path for path in own_files(paths) if not is_documentation(path)]


def last_tests(records: Sequence[StepRecord]) -> Mapping[str, Any]:
    """What the last run of the checks said: from the journal, where only the harness sets it."""
    return last(records, "tests") or {}


def last_checks(records: Sequence[StepRecord]) -> tuple[CheckResult, ...]:
    """The results of the last run of the checks."""
    return next((r.checks for r in reversed(records) if "tests" in r.patch), ())
