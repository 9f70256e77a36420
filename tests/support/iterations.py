"""Histories of circular prompting, as the harness would have recorded them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from foundry.circular.failures import issues_between, read_failures
from foundry.circular.history import ASSIGNMENT, MARK
from foundry.circular.schema import (
    Assignment,
    ChangeSummary,
    Failure,
    IterationState,
    IterationStatus,
    Mark,
    Measure,
    Report,
)
from foundry.schema.command import CheckResult, TestCounts
from foundry.schema.journal import Entry, Start, StepRecord

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
MINUTES = 10


def check(
    failing: Iterable[str] = (),
    *,
    total: int = 0,
    skipped: int = 0,
    output: str = "",
    name: str = "tests",
    status: str = "",
) -> CheckResult:
    """A check's result: by test ids where `total` is given, else by its output."""
    ids = tuple(sorted(failing))
    failed = bool(ids or output)
    return CheckResult(
        name=name,
        kind="test",
        command="run",
        status=status or ("failed" if failed else "passed"),
        exit_code=int(failed),
        tests=TestCounts(total=total, failed=len(ids), skipped=skipped) if total else None,
        failing=ids,
        output=output,
    )


def changed(path: str = "src/a.py", **figures: int) -> ChangeSummary:
    """A change of code, unless the figures say something else."""
    lines = {"substantive": 5, "added": 5, "code_lines": 5} | figures
    return ChangeSummary(files=(path,), **lines)


@dataclass
class Histories:
    """Builds a history, iteration by iteration, from a baseline of failures."""

    baseline: Sequence[CheckResult] = ()
    states: list[IterationState] = field(default_factory=list)

    def then(
        self, tree: str = "", checks: Sequence[CheckResult] = (), **fields: Any
    ) -> "Histories":
        """One iteration more; a new tree and a change of code unless something else is said."""
        number = len(self.states) + 1
        work = [state for state in self.states if state.kind == "work"]
        before = work[-1].failures if work else read_failures(self.baseline)
        after = read_failures(checks)
        resolved, discovered = issues_between(before, after)
        began = BEGAN + timedelta(minutes=MINUTES * number)
        defaults: dict[str, Any] = {
            "number": number,
            "started_at": began,
            "ended_at": began + timedelta(minutes=MINUTES),
            "tokens": 100_000,
            "reason": "threshold",
            "tree": tree or f"new-{number}",
            "checks": tuple(checks),
            "failures": after,
            "issues_resolved": resolved,
            "issues_discovered": discovered,
            "change": changed(f"src/{tree or f'new-{number}'}.py"),
        }
        self.states.append(IterationState(**{**defaults, **fields}))
        return self


# -- journals --------------------------------------------------------------------------------------


def journal_of(assignment: Assignment, *marks: Mark) -> tuple[Entry, ...]:
    """The journal of a run whose steps left these marks."""
    context = {ASSIGNMENT: assignment.model_dump(mode="json", exclude_none=True)}
    start = Start(seq=1, at=BEGAN, run="r", spec="Do it.", workflow="circular", workflow_hash="",
                  context=context)  # fmt: skip
    steps = (
        StepRecord(seq=number, at=BEGAN, run="r", step=f"iterations[{number}]/work", phase="p",
                   patch={MARK: mark.model_dump(mode="json", exclude_none=True)})
        for number, mark in enumerate(marks, 2)
    )  # fmt: skip
    return (start, *steps)


def worked(**fields: Any) -> Mark:
    """What a thread leaves that handed in `more`, unless the fields of its report say otherwise."""
    values = {"kind": "work", "ending": "submitted", "reason": "completion", "verdict": "more"}
    return Mark(number=1, report=Report.model_validate({**values, **fields}))


def measured(*ids: str) -> Mark:
    """What the measure after it leaves: these tests fail."""
    failures = (Failure(check="tests", ids=ids),) if ids else ()
    return Mark(number=1, measure=Measure(status=IterationStatus.CONTINUE, failures=failures))
