"""The journal on disk: append a line, read the lines, tell a torn line from a whole one."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from foundry.errors import JournalError
from foundry.files import append_line
from foundry.schema.base import Value, first_problem
from foundry.schema.journal import ENTRY, Entry

E = TypeVar("E", bound=Value)


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


def append(path: Path, entry: E) -> E:
    """Append one entry, chained to the line before it; it is on the disk when this returns.

    Returns the entry as it was written. Raises ProjectError when it can't be.
    """
    chained = entry.model_copy(update={"previous": tip(path)})
    append_line(path, chained.model_dump_json(exclude_none=True))
    return chained


def tip(path: Path) -> str:
    """The hash of the last whole line on disk; empty where there is none."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.is_file() else []
    return link(lines[-1]) if lines else ""


def link(line: str | bytes) -> str:
    """The SHA-256 of a line without its newline, by which the next one and the commit name it."""
    raw = line.encode("utf-8", "surrogateescape") if isinstance(line, str) else line
    return sha256(raw).hexdigest()
