"""What outlived a killed harness, found and ended: commands named on disk, and our own git.

Which commands run now stands in a file, so that a later process can end what a killed one left; a
process of our own is found by a mark in its environment.
"""

import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, TypeAdapter, ValidationError

from foundry.files import atomic_write
from foundry.sandbox.process_tree import (
    MARK,
    end_processes,
    marked,
    with_descendants,
)
from foundry.schema.base import Value

if TYPE_CHECKING:
    from psutil import Process

PROGRAM = "git"
"""Only what bears this name is ours: a server that a remote's hook starts has the mark too."""

CLOCK_SLACK = 2.0
_SECOND_LOOK = 0.01


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
        if self._running:
            atomic_write(self._path, _RECORDS.dump_json([*self._running.values()]), sync=False)
        else:
            with suppress(OSError):  # it would name the dead: whoever reads it finds nobody
                self._path.unlink()


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
    leader = {record.pid} if _still_runs(record) else set()
    if any(process.pid == os.getpid() for process in with_descendants(leader)):
        return 0  # a file that was tampered with: none of these is an orphan of ours

    def look() -> list["Process"]:
        found = _orphans(record, leader)
        if not found:  # one may be between two programs, when its environment can't be read
            time.sleep(_SECOND_LOOK)
            found = _orphans(record, leader)
        return found

    return end_processes(look)


def _orphans(record: RunningCommand, leader: set[int]) -> list["Process"]:
    roots = {process.pid for process in marked(MARK, record.mark.__eq__)} | leader
    return [process for process in with_descendants(roots) if process.pid != os.getpid()]


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


def end_leftover(variable: str, root: str) -> int:
    """End what was started with `variable` set to `<pid>:<root>` by a process that is gone now.

    Our own are left over as well: whoever calls this waits for none. Returns how many those were.
    """

    def look() -> list["Process"]:
        found = marked(variable, lambda value: value.partition(":")[2] == root)
        left = {each.pid for each in found if _is_left(each, variable)}
        return with_descendants(left) if left else []

    return end_processes(look)


def _is_left(process: "Process", variable: str) -> bool:
    """Whether nobody waits for a process: who started it has ended, or is us."""
    import psutil

    try:
        if not process.name().startswith(PROGRAM):
            return False
        starter = process.environ().get(variable, "").partition(":")[0]
        if starter == str(os.getpid()):
            return True
        waits = psutil.Process(int(starter))
        dead = waits.status() == psutil.STATUS_ZOMBIE
        return dead or waits.create_time() > process.create_time() + CLOCK_SLACK
    except psutil.NoSuchProcess as error:
        return error.pid != process.pid  # its starter is gone; or it is itself
    except (psutil.Error, OSError, ValueError):
        return False
