"""Every process that a command started: found and ended.

A command's shell leads its own session and process group. What leaves the group (`setsid`,
daemons) is still known by two things that it does not shed by accident: its ancestry, and a
mark in its environment. On Linux this process adopts orphans: a daemon whose parent has ended
becomes our child instead of init's, so one look at our own children finds it. What clears its
environment *and* outlives its parents *and* leaves the session escapes; only a namespace of its
own could hold that.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psutil import Process

MARK = "FOUNDRY_COMMAND_ID"
"""The environment variable that every process of a command inherits."""

GRACE_SECONDS = 2.0
_KILL_SECONDS = 5.0
_EXEC_LOOKS = 50
_LOOKS = 5
_LINUX = sys.platform == "linux"
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class ProcessTree:
    """The processes of one command: the shell's pid (0: unknown) and the mark they inherit.

    `strangers` are the children that we had before: none of them belongs to it.
    """

    leader: int
    mark: str
    strangers: frozenset[int] = frozenset()


@lru_cache(maxsize=1)
def adopt_orphans() -> None:
    """From now on, orphaned descendants become children of this process (Linux only)."""
    if _LINUX:
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end(tree: ProcessTree) -> None:
    """End every member: SIGTERM, up to GRACE_SECONDS, SIGKILL. Quick when there is none."""
    end_processes(lambda: _members(tree))


def end_processes(look: Callable[[], list["Process"]]) -> int:
    """End all that `look` finds, again and again until it finds nobody; how many those were.

    A second interrupt cuts the grace short, never the SIGKILL.
    """
    members = look()
    if not members:
        return 0
    seen = {process.pid: process for process in members}
    try:
        _signal(members, signal.SIGTERM)
        _wait(seen.values(), GRACE_SECONDS)
    finally:
        deadline = time.monotonic() + _KILL_SECONDS
        while rest := _alive(seen.values()) or look():
            seen.update((process.pid, process) for process in rest)
            _signal(rest, signal.SIGKILL)
            _wait(rest, 0.2)
            if time.monotonic() > deadline:
                break  # not ours to kill (another user's) or stuck in the kernel
        for pid in seen:
            _reap(pid)
    return len(seen)


def marked(variable: str, wanted: Callable[[str], bool]) -> list["Process"]:
    """Every process of the machine whose environment has such a value, wherever it hangs now."""
    import psutil

    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            value = process.environ().get(variable)
            if value is not None and wanted(value):
                found.append(process)
    return found


def with_descendants(pids: set[int]) -> list["Process"]:
    """These processes and all that they started, from one look at the process table."""
    import psutil

    everyone = list(psutil.process_iter(["ppid"]))
    found = {process.pid: process for process in everyone if process.pid in pids}
    size = -1
    while size < len(found):
        size = len(found)
        found.update((p.pid, p) for p in everyone if p.info["ppid"] in found)
    return _alive(found.values())


def _members(tree: ProcessTree) -> list["Process"]:
    """The living processes of a tree.

    One look is not enough while there are children: a root may die during it and leave us its
    own, and the kernel's lists may miss one while others end.
    """
    if not _LINUX:
        roots = _grouped(tree)
        return with_descendants(roots) if roots else []
    for _ in range(_LOOKS):
        children = frozenset(own_children()) - tree.strangers
        if not children:
            break
        if found := with_descendants(_adopted(tree, children)):
            return found
        time.sleep(0.001)
    return []


def _adopted(tree: ProcessTree, children: Iterable[int]) -> set[int]:
    """Those of our children that live and belong to the tree; its dead ones are reaped."""
    return {
        pid for pid in children if _belongs(pid, tree) and (pid == tree.leader or not _reap(pid))
    }


def _grouped(tree: ProcessTree) -> set[int]:
    """Without adoption: the process group, and the tree while the shell lives."""
    if tree.leader <= 0:
        return set()
    try:
        os.killpg(tree.leader, 0)
    except OSError:
        return set()
    import psutil

    return {pid for pid in psutil.pids() if pid > 0 and _in_group(pid, tree.leader)}


def own_children() -> list[int]:
    """Pids of our children, cheap when there are none (the usual case)."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return []
    try:
        lists = [(task / "children").read_text() for task in Path("/proc/self/task").iterdir()]
    except OSError:  # a kernel without these lists, or a thread that ended just now
        import psutil

        return [process.pid for process in psutil.Process().children()]
    return [int(pid) for pid in " ".join(lists).split()]


def _belongs(pid: int, tree: ProcessTree) -> bool:
    if _in_group(pid, tree.leader):
        return True
    try:
        return f"{MARK}={tree.mark}".encode() in _environment(pid)
    except OSError:
        return False


def _environment(pid: int) -> bytes:
    """A process's environment. It is empty for a moment in which another program is started."""
    for _ in range(_EXEC_LOOKS):
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
        if environment or state in (b"Z", b"X"):
            return environment
        time.sleep(0.001)
    return b""


def _in_group(pid: int, leader: int) -> bool:
    """Leader 0 is nobody's: pid namespaces show 0 for what leads from outside of them."""
    try:
        return leader > 0 and leader in (os.getpgid(pid), os.getsid(pid))
    except OSError:
        return False


def _reap(pid: int) -> bool:
    """Whether `pid` was a dead child of ours and is gone now."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return False


def _alive(processes: Iterable["Process"]) -> list["Process"]:
    import psutil

    found = []
    for process in processes:
        with suppress(psutil.Error):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _signal(processes: Iterable["Process"], number: int) -> None:
    import psutil

    for process in processes:
        with suppress(psutil.Error):
            process.send_signal(number)


def _wait(processes: Iterable["Process"], seconds: float) -> None:
    """Until all are dead, at most `seconds`. Zombies count as dead, whoever must reap them."""
    deadline = time.monotonic() + seconds
    pause = 0.001
    while _alive(processes) and time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(pause * 2, 0.05)
