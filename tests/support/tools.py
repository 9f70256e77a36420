"""Tools in a folder, as a conversation has them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from foundry.sandbox.process import ProcessSandbox
from foundry.tools.base import Tool
from foundry.tools.toolset import Workbench, make_tools

FILES = ("read_file", "write_file", "edit_file")


def nothing_found(_pattern: str, _path: str, *, regex: bool, ignore_case: bool) -> Sequence[str]:
    return ()


def workbench(root: Path, **given: Any) -> Workbench:
    """A workbench; what is not given is a plain shell and an empty project."""
    return Workbench(
        **{"root": root, "sandbox": ProcessSandbox(), "list_paths": list, "grep": nothing_found,
           **given}
    )  # fmt: skip


def tools_in(root: Path, *names: str, **given: Any) -> dict[str, Tool[Any]]:
    return make_tools(names, workbench(root, **given))
