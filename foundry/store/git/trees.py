"""Folders whose permissions a command has changed: opened again, removed whole."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from foundry.errors import ProjectError

GIT = ".git"


def open_up(root: Path, *, also_git: bool = False) -> None:
    """Give the owner back the right to read and write everything below `root`, itself included.

    What is not ours stays as it is, and so does its `.git` unless `also_git`.
    """
    _grant(root)
    for folder, folders, files in os.walk(root):
        if not also_git and Path(folder) == root:
            folders[:] = [each for each in folders if each != GIT]
        for name in (*folders, *files):
            _grant(Path(folder, name))


def closed(root: Path) -> Iterator[str]:
    """Files and folders below `root` that we may not read, `.git` left out."""
    for folder, folders, files in os.walk(root):
        folders[:] = [each for each in folders if each != GIT]
        for name in (*folders, *files):
            path = Path(folder, name)
            needed = os.R_OK | os.X_OK if name in folders else os.R_OK
            if not path.is_symlink() and not os.access(path, needed):
                yield os.path.relpath(path, root)


def is_special(path: Path) -> bool:
    """Whether there is something that no commit can hold: a pipe, a socket, a device."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))


def remove_tree(path: Path) -> None:
    """Remove a file or folder, whatever its permissions; nothing there is fine.

    Raises ProjectError when a part of it stays.
    """
    if path.is_symlink() or not path.is_dir():
        with suppress(NotADirectoryError):  # what should be the folder around it is a file
            path.unlink(missing_ok=True)
        return
    with suppress(OSError):  # the usual case
        shutil.rmtree(path)
    if path.exists():
        _remove_closed(path)


def _remove_closed(path: Path) -> None:
    open_up(path, also_git=True)
    try:
        shutil.rmtree(path)
    except OSError as error:
        raise ProjectError(
            f"cannot remove {error.filename or path}: {error.strerror or error}",
            hint="Remove it, then run `foundry resume`",
        ) from error


def _grant(path: Path) -> None:
    """Owner's rights: read and write, for folders also to enter. What is not ours stays."""
    with suppress(OSError):
        mode = path.lstat().st_mode
        wanted = stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR | stat.S_IWUSR
        regular = stat.S_ISDIR(mode) or stat.S_ISREG(mode)
        if regular and mode & wanted != wanted:
            path.chmod(stat.S_IMODE(mode) | wanted)
