"""A run's options, limits and endings."""

from enum import StrEnum

from pydantic import Field

from foundry.schema.base import Value


class Status(StrEnum):
    """How a run stands. Only `verified` means that every gate passed."""

    RUNNING = "running"
    VERIFIED = "verified"
    UNVERIFIED = "unverified"
    FAILED = "failed"
    PAUSED = "paused"
    INTERRUPTED = "interrupted"

    @property
    def exit_code(self) -> int:
        """What the process ends with (see foundry/exitcodes.py)."""
        return _EXIT[self]


_EXIT = {
    Status.RUNNING: 4,
    Status.VERIFIED: 0,
    Status.FAILED: 1,
    Status.UNVERIFIED: 3,
    Status.PAUSED: 4,
    Status.INTERRUPTED: 130,
}


class Limits(Value):
    """What a run may use. Money counts over the whole run, hours per invocation."""

    max_usd: float = Field(10.0, gt=0)
    max_hours: float = Field(8.0, gt=0)


class RunOptions(Value):
    """What the person decided for a run. Kept in their home, never in the project."""

    run: str
    root: str
    model: str
    models: dict[str, str] = Field(default_factory=dict)
    base_url: str = ""
    limits: Limits = Limits()
    pause_after: tuple[str, ...] = ()

    def model_for(self, role: str) -> str:
        """The model of a role, or the run's model."""
        return self.models.get(role, self.model)
