"""How a command of the model or of the project is run: one interface, several backends."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from foundry.errors import PluginError
from foundry.plugins import Registry
from foundry.schema.command import CommandLimits, CommandResult


class Sandbox(Protocol):
    """Runs shell commands inside one project."""

    level: str
    """The name by which it is asked for, and by which banner and log tell of it."""
    confines: bool
    """Whether a command is kept from files and network that are not its project's."""
    promise: str
    """What it does and does not hold back, in a sentence for the banner and `foundry doctor`."""

    def run(self, command: str, *, cwd: Path, limits: CommandLimits) -> CommandResult:
        """Run `command` with `sh -c`; never raises for what the command does.

        When this returns or is interrupted, nothing that the command started still runs.
        """


SANDBOXES: Registry[Callable[[Path], Sandbox]] = Registry(
    "sandbox", {"process": "foundry.sandbox.process:ProcessSandbox"}
)
"""Each is called with the path of a file: in it a sandbox names the commands that run now, so that
a later process can end what a killed one left (orphans.py)."""


def promise(level: str) -> tuple[str, bool]:
    """What the sandbox of this name holds back, and whether that confines a command.

    Of one that is not installed here, as in the log of another machine, nothing is known.
    """
    try:
        sandbox: Any = SANDBOXES.get(level)
    except PluginError:
        return "", False
    return str(getattr(sandbox, "promise", "")), bool(getattr(sandbox, "confines", False))
