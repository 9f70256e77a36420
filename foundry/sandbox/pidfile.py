"""Which commands run now, on disk: so that a later process can end what a killed one left."""

import json
import os
import threading
from contextlib import suppress
from pathlib import Path

from pydantic import Field, TypeAdapter, ValidationError

from foundry.errors import ProjectError
from foundry.sandbox.family import (
    GRACE_SECONDS,
    Family,
    end_processes,
    marked,
    with_descendants,
)
from foundry.schema.base import Value


class RunningCommand(Value):
    """One command: its mark, its shell's pid (0: not known yet) and start (epoch seconds)."""

    mark: str = Field(min_length=16)
    pid: int = Field(0, ge=0, lt=2**31)
    create_time: float = 0


_RECORDS: TypeAdapter[list[RunningCommand]] = TypeAdapter(list[RunningCommand])


class Pidfile:
    """Names the running commands of one sandbox; absent while there is none.

    Written without fsync: it must outlive this process, not the machine.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._running: dict[str, RunningCommand] = {}

    def announce(self, mark: str) -> None:
        """Name a command that is about to start: so no kill, however early, leaves it unnamed.

        Raises ProjectError when that can't be written.
        """
        self._set(RunningCommand(mark=mark))

    def started(self, mark: str, pid: int) -> None:
        """Add its shell's pid: what knows it where marks can't be read (macOS)."""
        import psutil

        with suppress(psutil.Error):  # it has ended already
            created = psutil.Process(pid).create_time()
            self._set(RunningCommand(mark=mark, pid=pid, create_time=created))

    def remove(self, mark: str) -> None:
        """Forget a command that has ended."""
        with self._lock:
            if self._running.pop(mark, None):
                self._write()

    def _set(self, record: RunningCommand) -> None:
        with self._lock:
            self._running[record.mark] = record
            self._write()

    def _write(self) -> None:
        try:
            if not self._running:
                self._path.unlink(missing_ok=True)
                return
            records = [record.model_dump() for record in self._running.values()]
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}")
            temporary.write_text(json.dumps(records))
            temporary.replace(self._path)
        except OSError as error:
            raise ProjectError(
                f"cannot write {self._path}: {error.strerror or error}",
                hint="Free some space or mend the permissions, then run `foundry resume`",
            ) from error


def reap_orphans(path: Path) -> int:
    """End what the commands named in `path` left running; how many processes that were.

    Only for a `path` whose own harness is dead. A pid that now belongs to another process is
    left alone; a file that can't be read as ours is removed and counts for nothing.
    """
    try:
        records = _RECORDS.validate_json(path.read_bytes())
    except FileNotFoundError:
        return 0
    except (OSError, ValidationError):
        records = []
    ended = sum(_end_orphans(record) for record in records)
    path.unlink(missing_ok=True)
    return ended


def _end_orphans(record: RunningCommand) -> int:
    roots = {process.pid for process in marked(record.mark)}
    leader = record.pid if _still_runs(record) else 0
    members = with_descendants(roots | {leader} if leader else roots)
    if any(process.pid == os.getpid() for process in members):
        return 0  # a file that was tampered with: none of these is an orphan of ours
    return end_processes(members, Family(leader, record.mark), grace=GRACE_SECONDS)


def _still_runs(record: RunningCommand) -> bool:
    """Same pid, same start. Two seconds of slack: the clock that start times hang on is stepped."""
    import psutil

    if record.pid <= 1:
        return False
    try:
        created = psutil.Process(record.pid).create_time()
    except psutil.Error:
        return False
    return abs(created - record.create_time) < 2
