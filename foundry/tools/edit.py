"""`edit_file`: replace an exact piece of text, and say helpfully why it can't be."""

import difflib
import heapq

from pydantic import Field

from foundry.errors import ToolError
from foundry.tools.base import Arguments, Tool
from foundry.tools.paths import ProjectFolder
from foundry.tools.text import Text, diff, read_text
from foundry.tools.toolset import Workbench

_SCANNED_LINES = 2_000  # for the hint only: it must stay quick on any file
_COMPARED_LINES = 20
_COMPARED_CHARS = 200
_ALIKE = 0.6


class EditFile(Arguments):
    """Arguments of `edit_file`."""

    path: str = Field(description="File, relative to the project's root.")
    old: str = Field(min_length=1, description="The exact text to replace, blanks included.")
    new: str = Field(description="What takes its place.")
    replace_all: bool = Field(False, description="Replace every occurrence, not just the only one.")


def edit_file(workbench: Workbench) -> Tool[EditFile]:
    """The tool `edit_file`."""
    project = ProjectFolder(workbench.root)

    def call(arguments: EditFile) -> str:
        text = read_text(project, arguments.path)
        old, new = _endings_of(text, arguments.old, arguments.new)
        content = edited(text, old, new, replace_all=arguments.replace_all)
        lines = _line_numbers(text.content, old)
        project.replace(arguments.path, text.with_content(content).encode())
        return f"Edited {arguments.path} at {_named(lines)}."

    return Tool(
        name="edit_file",
        description="Replace an exact piece of text in a file. `old` must occur exactly once, "
        "unless replace_all is set. Line endings and encoding stay as they are.",
        arguments=EditFile,
        call=call,
        path="path",
        editable="new",
        preview=lambda arguments: diff(arguments.old, arguments.new, arguments.path),
    )


def edited(text: Text, old: str, new: str, *, replace_all: bool) -> str:
    """The content with `old` replaced; raises ToolError when it isn't there, or not just once."""
    if old == new:
        raise ToolError("old and new are the same text", hint="Nothing was changed")
    count = text.content.count(old)
    if count == 0:
        raise ToolError(
            f"old does not occur in the file{_closest(text.content, old)}",
            hint="Read the file again and copy the text exactly, blanks included",
        )
    if count > 1 and not replace_all:
        raise ToolError(
            f"old occurs {count} times, at {_named(_line_numbers(text.content, old))}",
            hint="Add neighbouring lines until it is unique, or set replace_all",
        )
    return text.content.replace(old, new)


def _endings_of(text: Text, old: str, new: str) -> tuple[str, str]:
    """Both pieces with the line endings of the file, which tools show as LF."""
    with_crlf = _crlf(old), _crlf(new)
    mixed_match = old not in text.content and with_crlf[0] in text.content
    return with_crlf if text.crlf or mixed_match else (old, new)


def _crlf(piece: str) -> str:
    return piece.replace("\r\n", "\n").replace("\n", "\r\n")


def _line_numbers(content: str, piece: str) -> list[int]:
    """Where `piece` starts, as line numbers."""
    numbers, line, at = [], 1, 0
    found = content.find(piece)
    while found >= 0:
        line += content.count("\n", at, found)
        numbers.append(line)
        at = found
        found = content.find(piece, found + len(piece))
    return numbers


def _named(lines: list[int], most: int = 10) -> str:
    names = ", ".join(str(number) for number in lines[:most])
    rest = f" and {len(lines) - most} more places" if len(lines) > most else ""
    return f"line{'s' if len(lines) > 1 else ''} {names}{rest}"


def _closest(content: str, old: str) -> str:
    """A hint at the line that resembles the first line of `old` most, if any does."""
    wanted = next((line.strip() for line in old.splitlines() if line.strip()), "")
    wanted = wanted[:_COMPARED_CHARS]
    if not wanted:
        return ""
    lines = content.split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip() == wanted:
            return _differs_later(number, line)
    matcher = difflib.SequenceMatcher(b=wanted, autojunk=False)

    def likeness(line: str, *, exactly: bool) -> float:
        matcher.set_seq1(line.strip()[:_COMPARED_CHARS])
        return matcher.ratio() if exactly else matcher.quick_ratio()

    numbered = list(enumerate(lines[:_SCANNED_LINES], 1))
    likely = heapq.nlargest(
        _COMPARED_LINES, numbered, key=lambda pair: likeness(pair[1], exactly=False)
    )
    best = max(likely, key=lambda pair: likeness(pair[1], exactly=True))
    if likeness(best[1], exactly=True) < _ALIKE:
        return ""
    return f"; the closest is line {best[0]}: {best[1].strip()[:_COMPARED_CHARS]!r}"


def _differs_later(number: int, line: str) -> str:
    return (
        f"; line {number} is alike ({line[:_COMPARED_CHARS]!r}), "
        "so indentation or a later line differs"
    )
