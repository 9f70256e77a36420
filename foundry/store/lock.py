"""Only one process works on a project."""

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from foundry.errors import ProjectError
from foundry.store.project import Project


@contextmanager
def locked(project: Project) -> Iterator[None]:
    """Only one process works on a project; raises ProjectError when another one does."""
    project.local.mkdir(parents=True, exist_ok=True)
    lock = FileLock(project.local / "lock", timeout=0)
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
