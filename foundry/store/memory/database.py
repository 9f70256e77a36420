"""The memory's file: opened by any number of processes, written by one at a time.

Every write is one transaction that a kill undoes whole. What SQLite says goes wrong becomes one of
our errors; a damaged file is told apart, so that it can be set aside.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock

from filelock import FileLock, Timeout

from foundry.errors import ProjectError
from foundry.store.memory.layout import ANALYSIS, MIGRATIONS, migrate

PATIENCE_SECONDS = 30.0
"""How long a writer waits for the others."""

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_CACHE_KIB = 4_000


FileId = tuple[int, int]
"""A file, whatever it is called."""


class DamagedMemory(ProjectError):
    """The file is no database, or not a whole one."""


class Database:
    """One process's way to the file; its threads take turns."""

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
    """Alone with the file: to make it, to migrate it, or to set it aside."""
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
