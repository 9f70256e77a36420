"""`read_file` and `write_file`."""

from pydantic import Field

from foundry.errors import ToolError
from foundry.tools.base import Arguments, Tool
from foundry.tools.paths import ProjectFolder
from foundry.tools.text import Text, diff, read_text
from foundry.tools.toolset import Workbench

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


def read_file(workbench: Workbench) -> Tool[ReadFile]:
    """The tool `read_file`."""
    project = ProjectFolder(workbench.root)

    def call(arguments: ReadFile) -> str:
        return excerpt(read_text(project, arguments.path), arguments.offset, arguments.limit)

    return Tool(
        name="read_file",
        description="Read a text file. A long one is shown in part; the first line then says "
        "which lines these are and how to read on. Line endings are shown as LF.",
        arguments=ReadFile,
        call=call,
        reads_only=True,
        path="path",
    )


def write_file(workbench: Workbench) -> Tool[WriteFile]:
    """The tool `write_file`."""
    project = ProjectFolder(workbench.root)

    def call(arguments: WriteFile) -> str:
        data = Text(arguments.content).encode()
        old = project.replace(arguments.path, data, executable=arguments.executable)
        if old is None:
            return f"Created {arguments.path} ({len(data):,} bytes)."
        return f"Replaced {arguments.path} ({old:,} bytes before, {len(data):,} now)."

    def preview(arguments: WriteFile) -> str:
        try:
            old = read_text(project, arguments.path).content
        except ToolError:  # new, binary or closed: the call itself will say so
            old = ""
        return diff(old, arguments.content, arguments.path)

    return Tool(
        name="write_file",
        description="Create a file or replace a whole one; folders are made as needed. To "
        "change a part of a file, use edit_file.",
        arguments=WriteFile,
        call=call,
        path="path",
        editable="content",
        preview=preview,
    )


def excerpt(text: Text, offset: int, limit: int) -> str:
    """Lines of a text from number `offset` on, within the caps; a first line says when that isn't
    all. Raises ToolError when there is no such line."""
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
