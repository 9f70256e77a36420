"""The tool with which a conversation leaves a note for those that come after it."""

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from foundry.errors import ToolError
from foundry.tools.base import Arguments, Tool

NAME = "note"
MOST = 40
"""Notes of one conversation; who writes more writes a report, not notes."""

Keep = Callable[["NoteArguments"], int]
"""Takes a note and gives it its number; raises ToolError for one that can't be."""


class NoteArguments(Arguments):
    """What a note says."""

    kind: Literal["decision", "issue", "closed", "pattern"] = Field(
        description="decision: what was settled and why; issue: what is still open or in the way; "
        "closed: an issue, by number, that no longer is; pattern: how this code does things"
    )
    text: str = Field(min_length=1, max_length=1000, description="one or two sentences")
    path: str = Field("", max_length=400, description="the file that it is about, with :line")
    closes: int | None = Field(None, description="the number of the issue that is closed")


def note_tool(keep: Keep) -> Tool[NoteArguments]:
    """`note`, which hands every note to `keep`."""

    def call(arguments: NoteArguments) -> str:
        if (arguments.kind == "closed") != (arguments.closes is not None):
            raise ToolError("`closes` names the issue of a note of the kind `closed`, and no other")
        return f"Noted as number {keep(arguments)}."

    return Tool(
        NAME,
        "Leave a note for the conversations that come after this one, which remember nothing: "
        "a decision, an open issue, a pattern of the code. They begin with the notes.",
        NoteArguments,
        call,
    )
