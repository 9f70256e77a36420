"""A command that was run, and what became of it."""

from typing import Literal

from foundry.schema.base import Value


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
