"""The memory's file: opened by any number of processes, written by one at a time.

Every write is one transaction that a kill undoes whole. What SQLite says goes wrong becomes one of
our errors; a damaged file is told apart, so that it can be set aside.

Originals are in `entry`, `part` and `content`: triggers forbid to change them, and to delete them
outside a purge. A text is in `content` once, by its SHA-256. `said` and `done` are what searches
look in: for each entry the terms of its words and of its calls, without their order.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock

from filelock import FileLock, Timeout

from foundry.errors import ProjectError

PATIENCE_SECONDS = 30.0
"""How long a writer waits for the others."""

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_CACHE_KIB = 4_000

ANALYSIS = 2
"""Of the terms in `said` and `done`: raise it when they are made differently, and they are made
anew."""

_INDEX = """
CREATE VIRTUAL TABLE said USING fts5(
  words, content='', detail=none, columnsize=0, tokenize="ascii tokenchars '='");
CREATE VIRTUAL TABLE done USING fts5(
  words, content='', detail=none, columnsize=0, tokenize="ascii tokenchars '='");
CREATE TABLE extent (
  entry INTEGER PRIMARY KEY, said INTEGER NOT NULL, done INTEGER NOT NULL);
INSERT INTO total VALUES ('entries', 0), ('said', 0), ('done', 0);
"""

_FIRST = """
CREATE TABLE total (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO total VALUES ('purging', 0), ('analysis', 0);

CREATE TABLE entry (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL, run TEXT NOT NULL, phase TEXT NOT NULL, step TEXT NOT NULL,
  conversation TEXT NOT NULL, turn INTEGER NOT NULL,
  began TEXT NOT NULL, ended TEXT NOT NULL, tokens INTEGER NOT NULL);
CREATE INDEX entry_of_run ON entry (run, step);
CREATE INDEX entry_of_conversation ON entry (conversation, turn);
CREATE INDEX entry_in_time ON entry (ended);

CREATE TABLE content (
  number INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE, size INTEGER NOT NULL, packed INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE part (
  entry INTEGER NOT NULL REFERENCES entry, place INTEGER NOT NULL,
  kind TEXT NOT NULL, name TEXT NOT NULL, failed INTEGER NOT NULL,
  content INTEGER NOT NULL REFERENCES content, PRIMARY KEY (entry, place)) WITHOUT ROWID;
CREATE INDEX part_with_content ON part (content);
CREATE TABLE touched (
  entry INTEGER NOT NULL REFERENCES entry, place INTEGER NOT NULL,
  path TEXT NOT NULL, deeds TEXT NOT NULL, PRIMARY KEY (entry, place)) WITHOUT ROWID;
CREATE INDEX touched_path ON touched (path);
CREATE TABLE summary (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE, entry INTEGER NOT NULL REFERENCES entry, at TEXT NOT NULL,
  source TEXT NOT NULL, tokens INTEGER NOT NULL, text TEXT NOT NULL, insights TEXT NOT NULL);
CREATE INDEX summary_of_entry ON summary (entry);
"""

_KEPT = ("entry", "content", "part", "touched", "summary")

_GUARD = """
CREATE TRIGGER {0}_stays BEFORE UPDATE ON {0}
BEGIN SELECT RAISE(ABORT, 'originals are never changed'); END;
CREATE TRIGGER {0}_is_kept BEFORE DELETE ON {0}
WHEN (SELECT value FROM total WHERE name = 'purging') = 0
BEGIN SELECT RAISE(ABORT, 'originals are only ever purged'); END;
"""

MIGRATIONS = (_FIRST + "".join(_GUARD.format(table) for table in _KEPT),)
"""From each version of the file to the next; a new file goes through all of them."""


FileId = tuple[int, int]
"""A file, whatever it is called."""


class DamagedMemory(ProjectError):
    """The file is no database, or not a whole one."""


class Database:
    """One process's way to the file; its threads take turns.

    Every method but `close` raises ProjectError when the file can't be used: DamagedMemory when it
    is no whole database.
    """

    def __init__(self, path: Path, *, reindex: Callable[[sqlite3.Connection], None]) -> None:
        self.path = path
        self._reindex = reindex
        self.file: FileId | None = None
        """The file that was used last."""
        self._connection: sqlite3.Connection | None = None
        self._alone = RLock()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection, to read from."""
        with self._alone, self._explained():
            yield self._open()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection within a transaction: all of it happens, or nothing."""
        with self._alone, self._explained():
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def tidy(self) -> None:
        """Leave nothing on disk of what was deleted. Where others are writing, it waits for the
        next time: what is deleted can't be found any more in any case."""
        with self._alone, self._explained():
            connection = self._open()
            with suppress(sqlite3.OperationalError):
                for table in ("said", "done"):
                    connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Let go of the file."""
        with self._alone:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        """The connection; a new one where another process has put a new file in its place."""
        if self._connection is not None and self.file == identity(self.path):
            return self._connection
        self.close()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(self.path, error.strerror or str(error)) from error
        self.file = identity(self.path)
        connection = sqlite3.connect(
            self.path, timeout=PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._connection, self.file = connection, identity(self.path)
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if not _is_ready(connection):
            with memory_lock(self.path):
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("BEGIN IMMEDIATE")
                version = _version(connection)
                if version > len(MIGRATIONS):
                    raise ProjectError(
                        f"{self.path} was written by a newer Foundry", hint="Upgrade Foundry"
                    )
                migrate(connection, version)
                self._reindex(connection)
                connection.execute("COMMIT")
        for table in ("said", "done"):
            connection.execute(
                f"CREATE VIRTUAL TABLE temp.{table}_terms USING fts5vocab(main, {table}, row)"
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise explained(self.path, error) from error


def explained(path: Path, error: sqlite3.Error) -> ProjectError:
    """What SQLite said, as an error of ours."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _DAMAGED:
        return DamagedMemory(f"{path} is damaged: {error}")
    if code in _FULL:
        return _unwritable(path, str(error))
    if code in _BUSY:
        return ProjectError(f"{path} is in use by another process", hint="Try again")
    if "no such module" in str(error):
        return ProjectError(
            f"this Python's SQLite {sqlite3.sqlite_version} has no FTS5",
            hint="Use a Python whose SQLite has it; those of python.org and of distributions do",
        )
    return _unwritable(path, str(error))


@contextmanager
def memory_lock(path: Path) -> Iterator[None]:
    """Alone with the file: to make it, to migrate it, or to set it aside.

    Raises ProjectError when others keep it too long, or it can't be written.
    """
    try:
        with FileLock(f"{path}.lock", timeout=PATIENCE_SECONDS):
            yield
    except Timeout as error:
        raise ProjectError(f"{path} is in use by another process", hint="Try again") from error
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error


def _is_ready(connection: sqlite3.Connection) -> bool:
    if _version(connection) != len(MIGRATIONS):
        return False
    row = connection.execute("SELECT value FROM total WHERE name = 'analysis'").fetchone()
    return bool(row and row[0] == ANALYSIS)


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def identity(path: Path) -> FileId | None:
    """Which file is at a path."""
    try:
        found = os.stat(path)  # noqa: PTH116 - at every operation, and Path.stat is slower
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _unwritable(path: Path, why: str) -> ProjectError:
    return ProjectError(
        f"cannot write {path}: {why}",
        hint="Free some space or mend the permissions, then run `foundry resume`",
    )


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring a file of `version` to the newest, within a transaction that is open."""
    for script in MIGRATIONS[version:]:
        _run(connection, script)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def empty_index(connection: sqlite3.Connection) -> None:
    """Begin the search tables anew, within a transaction that is open."""
    for table in ("said", "done", "extent"):
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection.execute("DELETE FROM total WHERE name IN ('entries', 'said', 'done')")
    _run(connection, _INDEX)
    connection.execute("UPDATE total SET value = ? WHERE name = 'analysis'", (ANALYSIS,))


def _run(connection: sqlite3.Connection, script: str) -> None:
    """Statement by statement: `executescript` would end the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""
