"""Whether a process works on a project now. Looks only: it makes no file and takes no lock away."""

import contextlib
import fcntl
import os

from foundry.store.project import Project


def is_worked_on(project: Project) -> bool:
    """Whether the run's lock is held, by whichever process."""
    try:
        handle = os.open(project.local / "lock", os.O_RDONLY)
    except OSError:
        return False  # nobody ever worked here
    try:
        # Shared: two who look don't see each other, and a build waits for neither.
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def worker(project: Project) -> int | None:
    """The process that holds the lock, where this user may know."""
    import psutil

    lock = str((project.local / "lock").resolve())
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.uids().real != os.getuid():
                continue
            if any(file.path == lock for file in process.open_files()):
                return int(process.pid)
    return None
