"""Session notes of a run: collected while a step goes on, written when it is accepted.

What a conversation notes is added to what the harness knows anyway: the goal, what was decided,
which attempts failed and why. Which files changed stands in the journal.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from foundry.errors import ToolError
from foundry.model.tokens import estimate
from foundry.redact import redact, secret_values
from foundry.schema.journal import Attempt, NoteKind, SessionNote, StepRecord
from foundry.schema.messages import text_block
from foundry.tools.note import MOST, NoteArguments

T = TypeVar("T")

TEXT = 400
"""Characters of a note that the harness makes."""

BUDGET = 1_200
"""Tokens of the notes that a conversation begins with."""
SHOWN = 200
"""Notes of a kind in session-notes.md; all of them are in notes.jsonl."""


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


def session_notes(name: str, notes: Sequence[SessionNote], records: Sequence[StepRecord]) -> str:
    """session-notes.md, in the structure of the seed."""
    parts = [f"# Session notes: {name}"]
    if goals := _of(notes, "goal"):
        parts.append(f"## Current goal\n\n{goals[-1].text}")
    parts += _section("Key decisions", _of(notes, "decision"), _line)
    parts += _section("Files modified", _modified(records), str)
    if records:
        parts.append(f"## Current task\n\n{records[-1].step} is done: {_first_line(records[-1])}")
    parts += _section("Failed attempts", _of(notes, "failure"), _line)
    parts += _section("Open issues", list(open_issues(notes).values()), _issue)
    parts += _section("Code patterns discovered", _of(notes, "pattern"), _line)
    return clean("\n\n".join(parts)) + "\n"


def for_prompt(notes: Sequence[SessionNote], budget: int = BUDGET) -> str:
    """What a conversation begins with: open issues, decisions and patterns, the newest first in,
    in `budget` tokens at most; in the order in which they were written."""
    issues = list(reversed(open_issues(notes).values()))
    others = [note for note in reversed(notes) if note.kind in ("decision", "pattern", "failure")]
    chosen: list[SessionNote] = []
    left = budget
    for note in (*issues, *others):
        cost = estimate([text_block(_prompt_line(note) + "\n")]) + 1
        if cost > left:
            break
        chosen.append(note)
        left -= cost
    return "\n".join(_prompt_line(note) for note in sorted(chosen, key=lambda note: note.number))


def _of(notes: Sequence[SessionNote], kind: str) -> list[SessionNote]:
    return [note for note in notes if note.kind == kind]


def _modified(records: Sequence[StepRecord]) -> list[str]:
    """Every file with the step that changed it last, and what that step was for."""
    latest = {path: record for record in records for path in record.files}
    return [f"- `{path}` - {_first_line(latest[path])} ({latest[path].step})"
            for path in sorted(latest)]  # fmt: skip


def _first_line(record: StepRecord) -> str:
    return (record.summary or record.message).split("\n", 1)[0][:200]


def _section(title: str, notes: Sequence[T], line: Callable[[T], str]) -> list[str]:
    if not notes:
        return []
    left_out = len(notes) - SHOWN
    lines = [f"({left_out} earlier ones: see notes.jsonl)"] if left_out > 0 else []
    lines += [line(note) for note in notes[-SHOWN:]]
    return [f"## {title}\n\n" + "\n".join(lines)]


def _line(note: SessionNote) -> str:
    where = f" `{note.path}`" if note.path else ""
    return f"- {note.text}{where} ({note.step}, {note.at:%Y-%m-%d %H:%M})"


def _issue(note: SessionNote) -> str:
    where = f" `{note.path}`" if note.path else ""
    return f"- [ ] {note.number}: {note.text}{where} ({note.step})"


def _prompt_line(note: SessionNote) -> str:
    kind = f"open issue {note.number}" if note.kind == "issue" else note.kind
    where = f" [{note.path}]" if note.path else ""
    return f"- {kind}: {note.text}{where}"
