"""A memory as JSON lines, and back. docs/memory.schema.json describes a line."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

from pydantic import ValidationError

from foundry.errors import InputError, ProjectError
from foundry.schema.base import first_problem
from foundry.schema.memory import MemoryEntry
from foundry.store.memory.writing import is_intact

MANY = 200
"""Entries that are stored at a time."""


class Problem(NamedTuple):
    """A line that can't be taken, by its number from 1, and why."""

    line: int
    reason: str


class Exported(NamedTuple):
    """What an import brings: entries that can be stored, and lines that can't."""

    entries: tuple[MemoryEntry, ...]
    problems: tuple[Problem, ...]


def write_export(entries: Iterable[MemoryEntry], path: Path) -> int:
    """Write entries to a file, which is whole or absent; returns how many.

    Raises ProjectError when it can't be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            count = write_lines(entries, file)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ProjectError(
            f"cannot write {path}: {error.strerror or error}",
            hint="Give another file, or free some space",
        ) from error
    return count


def write_lines(entries: Iterable[MemoryEntry], file: IO[str]) -> int:
    """Write one line for each entry; returns how many."""
    count = 0
    for count, entry in enumerate(entries, 1):  # noqa: B007 - the last one is the number of all
        file.write(to_line(entry) + "\n")
    return count


def to_line(entry: MemoryEntry) -> str:
    """An entry as a line of an export."""
    return json.dumps(entry.model_dump(mode="json"), ensure_ascii=False)


def read_export(path: Path) -> Iterator[MemoryEntry | Problem]:
    """The entries of an export, and what is wrong with its other lines; empty lines are none.

    Raises InputError when the file can't be read.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _entry(number, line)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def in_batches(read: Iterable[MemoryEntry | Problem]) -> Iterator[Exported]:
    """What was read, some at a time."""
    rest = iter(read)
    while some := list(islice(rest, MANY)):
        yield Exported(
            tuple(each for each in some if isinstance(each, MemoryEntry)),
            tuple(each for each in some if isinstance(each, Problem)),
        )


def _entry(number: int, line: bytes) -> MemoryEntry | Problem:
    try:
        entry = MemoryEntry.model_validate_json(line)
    except ValidationError as error:
        field, reason = first_problem(error)
        return Problem(number, f"{field}: {reason}" if field else reason)
    if not is_intact(entry):
        return Problem(number, "its id is not that of its content: it was changed")
    return entry
