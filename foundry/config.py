"""Where Foundry keeps what is the person's own, and where its shipped resources are."""

import os
from pathlib import Path

from foundry.errors import ProjectError

DEFAULT_MODEL = "claude-sonnet-5-5"


def home() -> Path:
    """The user's own folder: runs, patterns. `FOUNDRY_HOME` overrides `~/.foundry`."""
    override = os.environ.get("FOUNDRY_HOME")
    return Path(override).expanduser().resolve() if override else Path.home() / ".foundry"


def resources(name: str) -> Path:
    """A shipped folder (`prompts`, `patterns`): inside the wheel, or beside the package."""
    package = Path(__file__).parent
    for candidate in (package / "_resources" / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    raise ProjectError(
        f"this installation lacks its {name!r} folder", hint="Install context-foundry again"
    )
