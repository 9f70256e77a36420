"""Session notes of a run: collected while a step goes on, written when it is accepted.

What a conversation notes is added to what the harness knows anyway: the goal, what was decided,
which attempts failed and why. Which files changed stands in the journal.
"""

import os
from collections.abc import Iterable, Sequence
from datetime import datetime

from foundry.errors import ToolError
from foundry.redact import redact, secret_values
from foundry.schema.journal import Attempt, NoteKind, SessionNote
from foundry.tools.note import MOST, NoteArguments

TEXT = 400
"""Characters of a note that the harness makes."""


class Notebook:
    """The notes of one step, on top of those that are on disk already."""

    def __init__(self, before: Sequence[SessionNote], run: str, step: str, at: datetime) -> None:
        self._before = tuple(before)
        self._run, self._step, self._at = run, step, at
        self._added: list[SessionNote] = []

    @property
    def all(self) -> tuple[SessionNote, ...]:
        """Every note, the new ones last."""
        return (*self._before, *self._added)

    @property
    def settled(self) -> tuple[str, ...]:
        """What this step decided and found out."""
        return tuple(note.text for note in self._added if note.kind in ("decision", "pattern"))

    def keep(self, note: NoteArguments) -> int:
        """Take a conversation's note; raises ToolError for one too many, or no such issue."""
        if len(self._added) >= MOST:
            raise ToolError(f"{MOST} notes are enough for one step: submit, and say the rest there")
        if note.closes is not None and note.closes not in open_issues(self.all):
            raise ToolError(f"there is no open issue {note.closes}")
        return self.add(note.kind, note.text, note.path, note.closes)

    def add(self, kind: NoteKind, text: str, path: str = "", closes: int | None = None) -> int:
        """Add a note of the harness; returns its number."""
        number = self.all[-1].number + 1 if self.all else 1
        note = SessionNote(
            number=number, at=self._at, run=self._run, step=self._step, kind=kind,
            text=_short(clean(text)), path=clean(path), closes=closes,
        )  # fmt: skip
        self._added.append(note)
        return note.number

    def failed(self, attempt: Attempt) -> None:
        """Note that an attempt failed: the next one must not begin as if nothing were."""
        why = f"attempt {attempt.attempt} failed ({attempt.reason}): {attempt.detail}"
        self.add("failure", why)


def clean(text: str) -> str:
    """Text without secrets: notes are committed, and may be pushed."""
    return redact(text, secret_values(os.environ))


def open_issues(notes: Iterable[SessionNote]) -> dict[int, SessionNote]:
    """The issues that no later note closes, by number."""
    issues: dict[int, SessionNote] = {}
    for note in notes:
        if note.kind == "issue":
            issues[note.number] = note
        elif note.closes is not None:
            issues.pop(note.closes, None)
    return issues


def _short(text: str) -> str:
    plain = " ".join(text.split()) or "(nothing said)"
    return plain if len(plain) <= TEXT else plain[: TEXT - 1] + "…"
