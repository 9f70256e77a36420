"""The tools that a workflow may name, and what they are made from.

A new tool of ours is one file and one line in the table, and shares the rules of another
(`Tool.rules_of`) or has its own in permission/policies/; one of an installed package is an entry
point `tool.NAME` of the group `foundry.plugins` (foundry/plugins.py).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from foundry.errors import FoundryError, PluginError, ToolError
from foundry.plugins import Registry
from foundry.sandbox.base import Sandbox
from foundry.schema.command import CommandLimits
from foundry.tools.base import Tool, ToolResult


class Grep(Protocol):
    """Searches tracked and untracked text files: lines `path:line:text`, paths from the root."""

    def __call__(self, pattern: str, path: str, *, regex: bool, ignore_case: bool) -> Sequence[str]:
        """Find `pattern` below `path`; raises ProjectError when it is no valid expression."""


@dataclass(frozen=True, slots=True)
class Workbench:
    """What the tools of one conversation work with."""

    root: Path
    """The folder of the project that they work in."""
    sandbox: Sandbox
    list_paths: Callable[[], Iterable[str]]
    """Gives the project's files, relative to the root, without ignored ones."""
    grep: Grep
    recall: Callable[[], Tool[Any]] | None = None
    """Makes `recall_context` over the run's memory; None where there is no memory."""
    limits: CommandLimits = field(default_factory=CommandLimits)
    """The most that the model may ask for when it runs a command."""


ToolMaker = Callable[[Workbench], Tool[Any]]

OURS = {
    "read_file": "foundry.tools.files:read_file",
    "write_file": "foundry.tools.files:write_file",
    "edit_file": "foundry.tools.edit:edit_file",
    "list_files": "foundry.tools.search:list_files",
    "search_text": "foundry.tools.search:search_text",
    "run_command": "foundry.tools.shell:run_command",
    "recall_context": "foundry.tools.recall:recall_context",
}
"""The ones that a step has that names none, in this order: requests share a cached prefix."""

TOOLS: Registry[ToolMaker] = Registry("tool", OURS)
"""What a step may name. A package's tool is there only where a step names it, and rules have to
allow it by its name (`--allow NAME`, or `allow: NAME` in the person's policy.yaml): the policies
that ship know ours alone, so `auto` and `plan` refuse it and `ask` asks."""


def make_tools(names: Sequence[str] | None, workbench: Workbench) -> dict[str, Tool[Any]]:
    """The tools of these names, in this order; all of ours without names.

    Raises PluginError for a name that nobody has, and for a package's tool that can't be used or
    goes by another name than the one that rules know it by; ProjectError for `recall_context`
    where there is no memory.
    """
    return {
        name: TOOLS.get(name)(workbench) if name in OURS else _of_a_package(name, workbench)
        for name in (OURS if names is None else names)
    }


def _of_a_package(name: str, workbench: Workbench) -> Tool[Any]:
    """A stranger's tool: whatever its calls raise is told to the model, and ends no run."""
    make = TOOLS.get(name)
    try:
        tool = make(workbench)
    except Exception as error:
        raise PluginError(f"the tool {name!r} can't be made: {_cause(error)}") from error
    if not isinstance(tool, Tool) or tool.name != name:
        raise PluginError(f"what makes the tool {name!r} makes no tool of this name")

    def call(arguments: Any) -> str | ToolResult:
        try:
            return tool.call(arguments)
        except FoundryError:
            raise
        except Exception as error:
            raise ToolError(f"{name} failed: {_cause(error)}") from error

    return replace(tool, call=call)


def _cause(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
