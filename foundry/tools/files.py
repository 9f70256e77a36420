"""`read_file` and `write_file`."""

from pathlib import Path
from typing import Any

from pydantic import Field

from foundry.errors import ToolError
from foundry.tools.base import Arguments, Tool
from foundry.tools.edit import edit_tool
from foundry.tools.paths import ProjectFolder
from foundry.tools.text import Text, read_text

MAX_SHOWN_BYTES = 24_000
MAX_LINE_CHARS = 2_000


class ReadFile(Arguments):
    """Arguments of `read_file`."""

    path: str = Field(description="File, relative to the project's root.")
    offset: int = Field(1, ge=1, description="First line to read, counted from 1.")
    limit: int = Field(2000, ge=1, description="How many lines at most.")


class WriteFile(Arguments):
    """Arguments of `write_file`."""

    path: str = Field(description="File, relative to the project's root.")
    content: str = Field(description="The whole new content.")
    executable: bool = Field(False, description="Make it executable, for scripts.")


def file_tools(root: Path) -> dict[str, Tool[Any]]:
    """`read_file`, `write_file` and `edit_file` for the project at `root`."""
    project = ProjectFolder(root)
    tools: list[Tool[Any]] = [_read_tool(project), _write_tool(project), edit_tool(project)]
    return {tool.name: tool for tool in tools}


def shown(text: Text, offset: int, limit: int) -> str:
    """Lines `offset` .. of a text within the caps; a first line tells when that isn't all."""
    lines = text.content.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        return "(the file is empty)"
    if offset > len(lines):
        raise ToolError(f"there is no line {offset}", hint=f"The file has {len(lines)} lines")
    wanted = _fitting([_shortened(line) for line in lines[offset - 1 : offset - 1 + limit]])
    last = offset - 1 + len(wanted)
    body = "\n".join(wanted)
    if len(wanted) == len(lines):
        return body
    more = f"; read on with offset={last + 1}" if last < len(lines) else ""
    return f"[lines {offset}-{last} of {len(lines)}{more}]\n{body}"


def _read_tool(project: ProjectFolder) -> Tool[ReadFile]:
    def call(arguments: ReadFile) -> str:
        return shown(read_text(project, arguments.path), arguments.offset, arguments.limit)

    return Tool(
        name="read_file",
        description="Read a text file. A long one is shown in part; the first line then says "
        "which lines these are and how to read on. Line endings are shown as LF.",
        arguments=ReadFile,
        call=call,
    )


def _write_tool(project: ProjectFolder) -> Tool[WriteFile]:
    def call(arguments: WriteFile) -> str:
        data = Text(arguments.content).encode()
        old = project.replace(arguments.path, data, executable=arguments.executable)
        if old is None:
            return f"Created {arguments.path} ({len(data):,} bytes)."
        return f"Replaced {arguments.path} ({old:,} bytes before, {len(data):,} now)."

    return Tool(
        name="write_file",
        description="Create a file or replace a whole one; folders are made as needed. To "
        "change a part of a file, use edit_file.",
        arguments=WriteFile,
        call=call,
    )


def _shortened(line: str) -> str:
    left_out = len(line) - MAX_LINE_CHARS
    if left_out <= 0:
        return line
    return f"{line[:MAX_LINE_CHARS]}[… {left_out} characters left out …]"


def _fitting(lines: list[str]) -> list[str]:
    """As many lines as the cap allows, at least one."""
    room = MAX_SHOWN_BYTES
    for count, line in enumerate(lines):
        room -= len(line.encode("utf-8", "replace")) + 1
        if room < 0:
            return lines[: max(count, 1)]
    return lines
