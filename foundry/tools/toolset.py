"""The tools of the project's own conversations, by the names that a workflow uses."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from foundry.sandbox.base import Sandbox
from foundry.schema.command import CommandLimits
from foundry.tools.base import Tool
from foundry.tools.files import file_tools
from foundry.tools.recall import NAME as RECALL
from foundry.tools.search import Grep, search_tools
from foundry.tools.shell import command_tools

NAMES = (
    "read_file", "write_file", "edit_file", "list_files", "search_text", "run_command", RECALL,
)  # fmt: skip
"""What a step may name; a step that names none has them all, in this order."""


def project_tools(
    root: Path, sandbox: Sandbox, *, list_paths: Callable[[], Iterable[str]], grep: Grep
) -> dict[str, Tool[Any]]:
    """The tools that work in the project at `root`."""
    return {
        **file_tools(root),
        **search_tools(root, list_paths, grep),
        **command_tools(root, sandbox, CommandLimits()),
    }
