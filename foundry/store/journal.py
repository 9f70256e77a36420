"""The journal on disk: append a line, read the lines, tell a torn line from a whole one."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from foundry.errors import JournalError
from foundry.files import append_line
from foundry.schema.base import first_problem
from foundry.schema.journal import ENTRY, Entry


@dataclass(frozen=True, slots=True)
class JournalText:
    """The bytes of a journal, split into its whole lines and a torn rest."""

    lines: tuple[str, ...]
    torn: bool


def split(text: str) -> JournalText:
    """The whole lines of `text`. A rest without a newline is a write that never finished."""
    *whole, rest = text.split("\n")
    return JournalText(tuple(line for line in whole if line), torn=bool(rest))


def parse(lines: Sequence[str], *, source: str) -> tuple[Entry, ...]:
    """The entries; raises JournalError that names the damaged line."""
    entries = []
    for number, line in enumerate(lines, 1):
        try:
            entry = ENTRY.validate_json(line)
        except ValidationError as error:
            field, reason = first_problem(error)
            raise JournalError(
                f"{source}: line {number} is damaged ({field}: {reason})",
                hint=f"`git checkout HEAD -- {source}` brings back the committed journal",
            ) from error
        if entry.seq != number:
            raise JournalError(
                f"{source}: line {number} carries the number {entry.seq}",
                hint=f"`git checkout HEAD -- {source}` brings back the committed journal",
            )
        entries.append(entry)
    return tuple(entries)


def read(path: Path) -> tuple[Entry, ...]:
    """Every entry on disk, without a torn last line; empty when there is no journal.

    Raises JournalError that names the damaged line.
    """
    if not path.is_file():
        return ()
    text = path.read_text(encoding="utf-8", errors="replace")
    return parse(split(text).lines, source=".context-foundry/journal.jsonl")


def append(path: Path, entry: Entry) -> None:
    """Append one entry; it is on the disk when this returns.

    Raises ProjectError when it can't be written.
    """
    append_line(path, entry.model_dump_json(exclude_none=True))
