"""Where Foundry keeps what is the person's own, and where its shipped resources are."""

import os
import shlex
import shutil
import sys
from pathlib import Path

from foundry import DISTRIBUTION
from foundry.errors import ProjectError

DEFAULT_MODEL = "claude-sonnet-5-5"


def home() -> Path:
    """The user's own folder: runs, patterns. `FOUNDRY_HOME` overrides `~/.foundry`.

    Raises ProjectError where there is no home folder.
    """
    override = os.environ.get("FOUNDRY_HOME")
    try:
        return Path(override).expanduser().resolve() if override else Path.home() / ".foundry"
    except RuntimeError as error:  # a user that does not exist, or no home at all
        raise ProjectError(f"there is no home folder: {error}", hint="Set FOUNDRY_HOME") from error


def program(argv0: str = "") -> str:
    """How this process was called (`argv0`), so that the commands that it prints can be typed."""
    called = Path(argv0 or sys.argv[0])
    if called.name == "__main__.py" and called.parent.name == Path(__file__).parent.name:
        return f"{shlex.quote(sys.executable)} -m foundry"
    found = shutil.which("foundry")
    if called.name != "foundry" or (found and Path(found).samefile(called)):
        return "foundry"
    return shlex.quote(str(called.absolute()))


def install_command(extra: str = "") -> str:
    """What installs this Foundry with an extra: from the folder or file that it came from, if any.

    Another program may bear a name like ours on an index; this one is what the person has.
    """
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    extras, source, editable = f"[{extra}]" if extra else "", DISTRIBUTION, ""
    try:
        told = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except PackageNotFoundError:  # run from a folder that holds it
        told = {"url": Path(__file__).parent.parent.as_uri(), "dir_info": {"editable": True}}
    if told.get("url", "").startswith("file:"):
        source = unquote(urlsplit(told["url"]).path)
        editable = "-e " if told.get("dir_info", {}).get("editable") else ""
    return f"pip install {editable}{shlex.quote(source + extras)}"


def resources(name: str) -> Path:
    """A shipped folder (`prompts`, `patterns`): inside the wheel, or beside the package.

    Raises ProjectError where an installation lacks it.
    """
    package = Path(__file__).parent
    for candidate in (package / "_resources" / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    raise ProjectError(
        f"this installation lacks its {name!r} folder",
        hint=f"Install it again: {install_command()}",
    )
