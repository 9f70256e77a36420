"""Session notes: what a conversation wants the next ones to know (seed 003, note-taking)."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from foundry.schema.base import Value

NoteKind = Literal["goal", "decision", "failure", "issue", "closed", "pattern"]
"""`closed` ends an issue by its number."""


class SessionNote(Value):
    """One note. Notes are only ever added; what no longer holds is said by a later one."""

    number: int = Field(ge=1)
    at: datetime
    run: str
    step: str
    kind: NoteKind
    text: str = Field(min_length=1, max_length=1000)
    path: str = ""
    """The file that it is about."""
    closes: int | None = None
    """The number of the issue that is no longer open."""
