"""How a command of the model or of the project is run: one interface, several backends."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from foundry.plugins import Registry
from foundry.schema.command import CommandLimits, CommandResult


class Sandbox(Protocol):
    """Runs shell commands inside one project."""

    @property
    def level(self) -> str:
        """How much it confines, as `foundry doctor` and the banner name it."""

    def run(self, command: str, *, cwd: Path, limits: CommandLimits) -> CommandResult:
        """Run `command` with `sh -c`; never raises for what the command does.

        When this returns or is interrupted, nothing that the command started still runs.
        """


SANDBOXES: Registry[Callable[[Path], Sandbox]] = Registry(
    "sandbox", {"process": "foundry.sandbox.process:ProcessSandbox"}
)
"""Each is called with the path of a file: in it a sandbox names the commands that run now, so that
a later process can end what a killed one left (orphans.py)."""
