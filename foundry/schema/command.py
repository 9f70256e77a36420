"""A command that was run, what became of it, and what it showed where it is a check.

Exit codes decide; test ids (JUnit) tell which failures are new.
"""

from typing import Literal

from foundry.schema.base import Value

CheckKind = Literal["setup", "test", "lint", "run", "verify", "docs", "finding"]
CheckStatus = Literal["passed", "failed", "preexisting", "not_run"]

KEPT_OUTPUT = 4_000
"""Characters of output that a result keeps for the journal and the fix plan: the end of it."""


class CommandLimits(Value):
    """When a command is stopped. Seconds; output in bytes (head and tail are kept)."""

    wall_seconds: float = 600
    idle_seconds: float = 120
    output_bytes: int = 24_000


class CommandResult(Value):
    """How a command ended. `exit_code` is None when it was stopped or never started."""

    command: str
    exit_code: int | None
    output: str = ""
    dropped_bytes: int = 0
    seconds: float = 0
    stopped: Literal["wall", "idle", ""] = ""

    @property
    def ok(self) -> bool:
        """Whether the command itself said that all is well."""
        return self.exit_code == 0

    @property
    def verdict(self) -> str:
        """The ending in a few words, for people and models."""
        if self.stopped:
            kind = "no output for too long" if self.stopped == "idle" else "took too long"
            return f"stopped after {self.seconds:.0f} s ({kind})"
        return "not started" if self.exit_code is None else f"exit code {self.exit_code}"


class TestCounts(Value):
    """What a test report counted. `failed` includes errors, `skipped` expected failures."""

    total: int = 0
    failed: int = 0
    skipped: int = 0
    errors: int = 0
    xfailed: int = 0

    __test__ = False  # a value, not a pytest class

    @property
    def ran(self) -> int:
        """How many were run and had to pass."""
        return max(self.total - self.skipped, 0)

    def __add__(self, other: "TestCounts") -> "TestCounts":
        return TestCounts(
            total=self.total + other.total,
            failed=self.failed + other.failed,
            skipped=self.skipped + other.skipped,
            errors=self.errors + other.errors,
            xfailed=self.xfailed + other.xfailed,
        )


class CommandEnding(Value):
    """How a command ended, in short. `exit_code` is None when it was stopped or never started."""

    exit_code: int | None
    verdict: str = ""

    @property
    def ok(self) -> bool:
        """Whether the command itself said that all is well."""
        return self.exit_code == 0


class CheckResult(Value):
    """One command that was run as a check.

    `preexisting`: it fails, and it failed in the same way before this run changed anything.
    `not_run`: an earlier command it needs had failed. Of kind `finding`: a reviewer's command,
    which failed when it was found and has to pass.
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
    before: CommandEnding | None = None
    """How the same command ended over the code before the work that it shows."""

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
