"""The notes as people and models read them: session-notes.md, and what fits into a prompt. Pure."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from foundry.engine.notes import clean, open_issues
from foundry.model.tokens import estimate
from foundry.schema.journal import SessionNote, StepRecord
from foundry.schema.messages import text_block

T = TypeVar("T")

BUDGET = 1_200
"""Tokens of the notes that a conversation begins with."""
SHOWN = 200
"""Notes of a kind in session-notes.md; all of them are in notes.jsonl."""


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
        cost = estimate([text_block(_told(note) + "\n")]) + 1
        if cost > left:
            break
        chosen.append(note)
        left -= cost
    return "\n".join(_told(note) for note in sorted(chosen, key=lambda note: note.number))


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


def _told(note: SessionNote) -> str:
    kind = f"open issue {note.number}" if note.kind == "issue" else note.kind
    where = f" [{note.path}]" if note.path else ""
    return f"- {kind}: {note.text}{where}"
