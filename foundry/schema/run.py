"""A run's options, limits and endings."""

from enum import StrEnum

from pydantic import Field

from foundry import exitcodes
from foundry.schema.base import Value
from foundry.schema.permission import Mode, Rule


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

    @property
    def over(self) -> bool:
        """Whether there is nothing left to go on with."""
        return self in (Status.VERIFIED, Status.UNVERIFIED)


_EXIT = {
    Status.RUNNING: exitcodes.PAUSED,
    Status.VERIFIED: exitcodes.VERIFIED,
    Status.FAILED: exitcodes.FAILED,
    Status.UNVERIFIED: exitcodes.UNVERIFIED,
    Status.PAUSED: exitcodes.PAUSED,
    Status.INTERRUPTED: exitcodes.INTERRUPTED,
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
    yes: bool = False
    """Every confirmation that the workflow asks for is given."""
    permission: Mode | None = None
    """Who decides about a model's calls; None leaves it to the person's policy file."""
    rules: tuple[Rule, ...] = ()
    """Rules of the command line."""
    patient: bool = False
    """Wait for a model's server as long as the run may take, and pause only then."""

    def model_for(self, role: str) -> str:
        """The model of a role, or the run's model; `builder:2` is the second one of `builder`."""
        return self.models.get(role) or self.models.get(role.partition(":")[0], self.model)
