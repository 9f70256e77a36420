"""A damaged file out of the way, and what can be saved of it.

Saved is every entry that can be read and has the id of its content, and every line of an export
that lies beside the memory (`memory*.jsonl`).
"""

import sqlite3
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from foundry.errors import ProjectError
from foundry.schema.base import now
from foundry.schema.memory import MemoryEntry
from foundry.store.memory import reading
from foundry.store.memory.database import DamagedMemory, FileId, identity, memory_lock
from foundry.store.memory.transfer import MANY, Problem, read_export
from foundry.store.memory.writing import is_intact

EXPORTS = "memory*.jsonl"
HOPELESS = 2_000
"""Entries in a row that can't be read, after which no more are tried."""


def set_aside(path: Path, damaged: FileId | None) -> Path | None:
    """Rename a damaged file and what SQLite has beside it; None when another one is there now.

    Raises ProjectError when it can't be renamed.
    """
    with memory_lock(path):
        if identity(path) != damaged:
            return None
        moved = path.with_name(f"{path.name}.damaged-{now():%Y%m%d-%H%M%S-%f}")
        try:
            for tail in ("-wal", "-shm", ""):
                old = Path(f"{path}{tail}")
                if old.exists():
                    old.rename(f"{moved}{tail}")
        except OSError as error:
            raise ProjectError(
                f"{path} is damaged and can't be renamed: {error.strerror}", hint="Move it away"
            ) from error
    return moved


def salvaged(moved: Path, exports: Path) -> Iterator[list[MemoryEntry]]:
    """What can be saved, some at a time."""
    some: list[MemoryEntry] = []
    for entry in chain(_readable(moved), _exported(exports)):
        some.append(entry)
        if len(some) == MANY:
            yield some
            some = []
    yield some


def _readable(moved: Path) -> Iterator[MemoryEntry]:
    connection = sqlite3.connect(moved)
    try:
        last = connection.execute(
            "SELECT max(seq) FROM sqlite_sequence WHERE name = 'entry'"
        ).fetchone()[0]
        failures = 0
        for number in range(1, (last or 0) + 1):
            entry = _entry(connection, number)
            if entry is not None:
                yield entry
            failures = 0 if entry else failures + 1
            if failures > HOPELESS:
                return
    except sqlite3.Error:
        return  # not even its tables can be read
    finally:
        connection.close()


def _entry(connection: sqlite3.Connection, number: int) -> MemoryEntry | None:
    try:
        found = reading.some_entries(connection, after=number - 1, most=1)
    except (sqlite3.Error, DamagedMemory):
        return None
    return found[0][1] if found and found[0][0] == number and is_intact(found[0][1]) else None


def _exported(folder: Path) -> Iterator[MemoryEntry]:
    for path in sorted(folder.glob(EXPORTS)):
        try:
            for each in read_export(path):
                if not isinstance(each, Problem):
                    yield each
        except ProjectError:
            continue
