"""What a check showed. Exit codes decide; test ids (JUnit) tell which failures are new."""

from typing import Literal

from foundry.schema.base import Value
from foundry.schema.command import CommandResult

CheckKind = Literal["setup", "test", "lint", "run", "verify", "docs"]
CheckStatus = Literal["passed", "failed", "preexisting", "not_run"]

KEPT_OUTPUT = 4_000
"""Characters of output that a result keeps for the journal and the fix plan: the end of it."""


class TestCounts(Value):
    """What a JUnit report counted."""

    total: int = 0
    failed: int = 0
    skipped: int = 0

    __test__ = False  # a value, not a pytest class

    def __add__(self, other: "TestCounts") -> "TestCounts":
        return TestCounts(
            total=self.total + other.total,
            failed=self.failed + other.failed,
            skipped=self.skipped + other.skipped,
        )


class CheckResult(Value):
    """One command that was run as a check.

    `preexisting`: it fails, and it failed in the same way before this run changed anything.
    `not_run`: an earlier command it needs had failed.
    """

    name: str
    kind: CheckKind
    command: str
    status: CheckStatus
    verdict: str = ""
    exit_code: int | None = None
    seconds: float = 0
    tests: TestCounts | None = None
    failing: tuple[str, ...] = ()
    output: str = ""

    @property
    def holds(self) -> bool:
        """Whether this check does not stand in the way of a verified result."""
        return self.status in ("passed", "preexisting")


def result_of(name: str, kind: CheckKind, command: CommandResult) -> CheckResult:
    """A check's result from its command's, without test ids."""
    return CheckResult(
        name=name,
        kind=kind,
        command=command.command,
        status="passed" if command.ok else "failed",
        verdict=command.verdict,
        exit_code=command.exit_code,
        seconds=round(command.seconds, 3),
        output=command.output[-KEPT_OUTPUT:],
    )
