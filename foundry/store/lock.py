"""Only one process works on a project, and others can see that one does.

The lock lies in the person's home: what is in the project, a command of the model can remove.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from filelock import FileLock, Timeout

from foundry.config import home
from foundry.errors import ProjectError
from foundry.store.project import Project

PATIENCE_SECONDS = 1.0
"""Somebody who only looks (`is_locked`) holds the lock for a moment."""


def lock_path(project: Project) -> Path:
    """The lock of the project in this folder."""
    root = os.path.realpath(project.root)
    return home() / "locks" / f"{sha256(os.fsencode(root)).hexdigest()[:32]}.lock"


@contextmanager
def locked(project: Project) -> Iterator[None]:
    """Only one process works on a project; raises ProjectError when another one does."""
    path = lock_path(project)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ProjectError(
            f"cannot write {path.parent}: {error.strerror}", hint="Set FOUNDRY_HOME"
        ) from error
    lock = FileLock(path, timeout=PATIENCE_SECONDS)
    try:
        lock.acquire()
    except Timeout as error:
        raise ProjectError(
            f"another foundry process is working on {project.root}",
            hint="Wait for it, or stop it with Ctrl-C; `foundry status` shows how far it is",
        ) from error
    try:
        yield
    finally:
        lock.release()


def is_locked(project: Project) -> bool:
    """Whether a process works on the project. Looks only: makes no file, takes no lock away."""
    try:
        handle = os.open(lock_path(project), os.O_RDONLY)
    except OSError:
        return False  # nobody ever worked here
    try:
        # Shared: two who look don't see each other.
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def holder(project: Project) -> int | None:
    """The process that holds the lock, where this user may know."""
    import psutil

    lock = str(lock_path(project).resolve())
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.uids().real != os.getuid():
                continue
            if any(file.path == lock for file in process.open_files()):
                return int(process.pid)
    return None
