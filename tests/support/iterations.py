"""Histories of circular prompting, as the harness would have recorded them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from foundry.circular.failures import issues_between, read_failures
from foundry.circular.schema import ChangeSummary, IterationState
from foundry.schema.command import CheckResult, TestCounts

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
