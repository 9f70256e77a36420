"""The memory of a project: what every turn and step had before it and did, kept whole."""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from foundry.redact import redact, secret_values
from foundry.schema.memory import (
    Draft,
    Filter,
    Head,
    MemoryEntry,
    MemoryStats,
    Moment,
    Sought,
)
from foundry.store.memory import index, reading
from foundry.store.memory.database import DamagedMemory, Database
from foundry.store.memory.repair import salvaged, set_aside
from foundry.store.memory.writing import (
    Clean,
    add_summary,
    cleaned,
    insert,
    new_entry,
    purge,
    readmitted,
)
from foundry.store.project import FOLDER

R = TypeVar("R")
ANY = Filter()

MOST_PAST = 2_000
"""Summaries that are read to make a prompt: what is older can be searched for."""

NAME = "memory.db"
_BESIDE = ".foundry"
"""Ends the name of the folder beside a repository that its runs' work trees are in."""


class ContextMemoryStore:
    """A memory on disk, shared by any number of processes.

    A context manager that lets go of the file. Every method raises ProjectError when the file
    can't be read or written. Texts go through `clean` before they are stored: by default, secrets
    are taken out of them. Where a file turns out to be damaged, it is set aside and what can be
    saved of it is stored anew; `tell` hears of it.
    """

    def __init__(
        self,
        path: Path,
        *,
        clean: Clean | None = None,
        tell: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.path = path
        self._clean = clean or partial(redact, values=secret_values(os.environ))
        self._tell = tell
        self._database = Database(path, reindex=index.rebuild)

    def __enter__(self) -> "ContextMemoryStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def store(self, moment: Moment, summary: Draft | None = None) -> str:
        """Keep a turn or step, and its summary where there is one; returns its id.

        Storing the same again changes nothing.
        """
        entry = new_entry(moment, summary, self._clean)
        self._write(partial(insert, entry=entry))
        return entry.id

    def summarize(self, entry_id: str, summary: Draft) -> None:
        """Add a summary, which counts from now on; the earlier ones stay.

        Raises KeyError when there is no such entry.
        """
        self._write(partial(add_summary, entry_id=entry_id, draft=cleaned(summary, self._clean)))

    def take(self, entries: Sequence[MemoryEntry]) -> int:
        """Store entries of another memory under their own ids; how many brought something new.

        One in which a secret is found is stored without it, under the id that this gives.
        """
        kept = [readmitted(entry, self._clean) for entry in entries]
        return self._write(lambda connection: sum(insert(connection, each) for each in kept))

    def get(self, entry_id: str) -> MemoryEntry | None:
        """The entry with this id, whole."""
        return self._read(partial(reading.find_entry, entry_id=entry_id))

    def turns(self, numbers: Sequence[int], conversation: str) -> list[MemoryEntry]:
        """The turns of a conversation with these numbers, whole, in their order."""
        which = Filter(conversation=conversation, kind="turn")
        ids = [head.id for head in self.heads(which) if head.turn in set(numbers)]
        return [found for each in ids if (found := self.get(each))]

    def search(self, sought: Sought | str, which: Filter = ANY, limit: int = 10) -> list[Head]:
        """The entries that fit best, best first."""
        what = Sought(text=sought) if isinstance(sought, str) else sought
        return self._read(partial(index.search, sought=what, which=which, limit=limit))

    def heads(
        self, which: Filter = ANY, *, limit: int | None = None, newest_first: bool = False
    ) -> list[Head]:
        """Entries without their originals, in the order in which they were stored."""
        return self._read(
            partial(reading.heads, which=which, limit=limit, newest_first=newest_first)
        )

    def past(self, conversation: str, limit: int = MOST_PAST) -> list[Head]:
        """What a conversation accumulates summaries of: its own turns and the steps of all runs,
        the newest `limit` of them, oldest first."""
        return self._read(partial(reading.past, conversation=conversation, limit=limit))

    def matching(self, beginning: str, limit: int = 10) -> list[str]:
        """The ids that begin so."""
        return self._read(partial(reading.matching, beginning=beginning, limit=limit))

    def entries(self) -> Iterator[MemoryEntry]:
        """Every entry, oldest first."""
        after = 0
        while some := self._read(partial(reading.some_entries, after=after)):
            yield from (entry for _, entry in some)
            after = some[-1][0]

    def stats(self) -> MemoryStats:
        """What there is."""
        return self._read(reading.stats)

    def purge(self, *, run: str = "", before: datetime | None = None) -> int:
        """Remove for good what is of this run, or ended before then; with both, what is both.

        Returns the number of entries. Raises ValueError when neither is given.
        """
        if not run and before is None:
            raise ValueError("neither a run nor a time is given")
        removed = self._write(partial(purge, which=Filter(run=run, until=before)))
        if removed:
            self._database.tidy()
        return removed

    def _read(self, what: Callable[[sqlite3.Connection], R]) -> R:
        def read() -> R:
            with self._database.reading() as connection:
                return what(connection)

        return self._mended(read)

    def _write(self, what: Callable[[sqlite3.Connection], R]) -> R:
        def write() -> R:
            with self._database.writing() as connection:
                return what(connection)

        return self._mended(write)

    def _mended(self, what: Callable[[], R]) -> R:
        """Do it; where the file turns out to be damaged, set it aside and do it again."""
        try:
            return what()
        except DamagedMemory as damage:
            message = self._begin_anew(damage.message)
        self._tell(message)
        return what()

    def _begin_anew(self, why: str) -> str:
        """Put a new file in a damaged one's place; what a person should know of it."""
        damaged = self._database.file
        self._database.close()
        moved = set_aside(self.path, damaged)
        if moved is None:
            return f"{why}; another process has set it aside"
        saved = 0
        for some in salvaged(moved, self.path.parent):
            with self._database.writing() as connection:
                saved += sum(insert(connection, each) for each in some)
        return f"{why}; it is set aside as {moved}, and {saved:,} entries could be saved"


def memory_path(root: Path) -> Path:
    """The memory of the project that a folder or a run's work tree belongs to.

    It is in `.context-foundry/local/`. A repository that was never built in has no such folder and
    keeps its files as they are: there it is beside it, with the work trees of the runs.
    """
    linked = root.parent.name.endswith(_BESIDE) and (root / ".git").is_file()
    main = root.parent.with_name(root.parent.name.removesuffix(_BESIDE)) if linked else root
    within = main / FOLDER / "local" / NAME
    beside = main.parent / (main.name + _BESIDE) / NAME
    for path in (within, beside):
        if path.exists():
            return path
    return beside if linked and not (main / FOLDER).is_dir() else within


def nearest(folder: Path) -> Path:
    """The memory of the project that a folder is in; where none has one, its own place for it."""
    for each in (folder, *folder.parents):
        path = memory_path(each)
        if path.exists():
            return path
    return memory_path(folder)
