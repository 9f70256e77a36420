"""A run's options, limits and endings."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import Field

from foundry import exitcodes
from foundry.schema.base import Json, Value
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


NOT_GIVEN: tuple[Any, ...] = (None, "", (), {}, False)
"""What a command line has where a person gave nothing. So none of these, and no 0, can be given."""


class RunOptions(Value):
    """What a person asks for: every option of a run, by the name that the command line gives it.

    Kept in their home (store/runs.py), never in the project. What only begins a run stands in the
    first line of its journal, and is not kept a second time.
    """

    run: str = ""
    """The run's id, and `root` the folder that it works in, once it has them."""
    root: str = ""
    model: str = ""
    models: dict[str, str] = Field(default_factory=dict)
    """The model of a role, where that is another one."""
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
    sandbox: str = "process"
    """How commands are run, by the name of a sandbox."""

    spec: str = Field("", exclude=True)
    workflow: str = Field("", exclude=True)
    """A document's name or path; without one it is the build that ships with Foundry."""
    folder: Path | None = Field(None, exclude=True)
    branch: str = Field("", exclude=True)
    """The branch to work on; without one it is named after the run."""
    skip: tuple[str, ...] = Field((), exclude=True)
    deploy: bool = Field(False, exclude=True)
    checks: tuple[str, ...] = Field((), exclude=True)
    """Commands of the person's own that have to hold at the end."""
    variables: dict[str, Json] = Field(default_factory=dict, exclude=True)
    """Variables of the workflow that the person sets."""
    identity: tuple[str, str] | None = Field(None, exclude=True)
    """Who commits (name, address) in a new folder where git does not know its user."""

    def changed(self, given: Mapping[str, Any]) -> "RunOptions":
        """The same with what a person gives by the names of the fields and of the limits.

        What is None or empty was not given. Models and rules add to those that are there; anything
        else takes the place of what was.
        """
        asked = {name: value for name, value in given.items() if value not in NOT_GIVEN}
        limits = {name: asked.pop(name) for name in Limits.model_fields if name in asked}
        asked["limits"] = self.limits.model_copy(update=limits)
        asked["models"] = {**self.models, **asked.get("models", {})}
        asked["rules"] = (*self.rules, *asked.get("rules", ()))
        return RunOptions.model_validate({**dict(self), **asked})

    def model_for(self, role: str) -> str:
        """The model of a role, or the run's model; `builder:2` is the second one of `builder`."""
        return self.models.get(role) or self.models.get(role.partition(":")[0], self.model)
