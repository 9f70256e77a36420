"""A model's calls as a person reads them: `▶ run pytest -q · exit code 1 · 0.2s`."""

import re
from collections.abc import Callable

from foundry.report import units
from foundry.report.lines import FAILED, OK, Line, Lines
from foundry.schema.events import ToolRan, ToolStarted

THINKS = "💭"
LOOKS = "🔍"
_MARKS_AND_VERBS = {
    "search_text": (LOOKS, "search"),
    "list_files": (LOOKS, "list"),
    "recall_context": (LOOKS, "recall"),
    "read_file": ("📖", "read"),
    "write_file": ("✏️", "write"),
    "edit_file": ("✏️", "edit"),
    "note": ("📝", "note"),
    "run_command": ("▶", "run"),
    "submit": ("⏺", "submit"),
    "continue_thinking": (THINKS, "think on"),
}
_OTHER = "●"
_RANGE = re.compile(r"\[(lines \d+-\d+ of \d+)")
_SIZE = re.compile(r"\(([\d,]+ bytes)(?: before, ([\d,]+) now)?\)")
_EDITED = re.compile(r" at (lines? .+?)\.$")


def describe_call(call: ToolStarted | ToolRan) -> tuple[str, str]:
    """The mark and the words of a call: `("📖", "read src/a.py")`."""
    mark, verb = _MARKS_AND_VERBS.get(call.tool, (_OTHER, call.tool))
    subject = repr(call.subject) if call.tool == "search_text" else call.subject
    return mark, f"{verb} {subject}".rstrip()


def call_line(ran: ToolRan, indent: int = 1) -> Line:
    """A call with what came of it."""
    mark, text = describe_call(ran)
    parts = (outcome(ran), units.duration(ran.seconds) if ran.seconds >= 0.05 else "")
    rest = " · ".join(part for part in parts if part)
    return Line(text, mark, tone="bad" if ran.error else "act", indent=indent, rest=rest)


def result_lines(ran: ToolRan, indent: int = 2) -> Lines:
    """What a call answered, under its line."""
    lines = ran.result.split("\n")
    shown_by_call = ("write_file", "edit_file", "submit", "note")
    if (len(lines) == 1) if ran.error else (ran.tool in shown_by_call):
        return ()
    if ran.tool == "run_command" and not ran.error:
        lines = lines[:-1]  # the last one is the verdict, which its own line tells
    return tuple(Line(line, tone="dim", indent=indent) for line in _trimmed(lines))


def outcome(ran: ToolRan) -> str:
    """What came of a call, in a few words."""
    if ran.error:
        return f"{FAILED} {ran.error}"
    worded = _OUTCOMES.get(ran.tool)
    return worded(ran) if worded and ran.result else ""


def _exit(ran: ToolRan) -> str:
    verdict = _last(ran)
    return f"{OK if verdict == 'exit code 0' else FAILED} {verdict}"


def _found(ran: ToolRan) -> str:
    if ran.result.startswith(("No line in", "None of the", "There are no files")):
        return "nothing found"
    cut = _last(ran).startswith("[… ")
    count = ran.lines - cut
    one, many = ("match", "matches") if ran.tool == "search_text" else ("file", "files")
    return f"{count:,}{'+' if cut else ''} {one if count == 1 else many}"


def _read(ran: ToolRan) -> str:
    part = _RANGE.match(ran.result)
    return part[1] if part else units.counted(ran.lines, "line")


def _edited(ran: ToolRan) -> str:
    where = _EDITED.search(ran.result)
    return where[1] if where else ""


def _written(ran: ToolRan) -> str:
    size = _SIZE.search(ran.result)
    if size is None:
        return ""
    return f"{size[1]} → {size[2]}" if size[2] else f"new, {size[1]}"


_OUTCOMES: dict[str, Callable[[ToolRan], str]] = {
    "run_command": _exit,
    "search_text": _found,
    "list_files": _found,
    "read_file": _read,
    "write_file": _written,
    "edit_file": _edited,
    "submit": lambda _: f"{OK} accepted",
}


def _last(ran: ToolRan) -> str:
    return ran.result.rsplit("\n", 1)[-1]


def _trimmed(lines: list[str]) -> list[str]:
    """Without the empty lines at both ends."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []
