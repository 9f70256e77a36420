"""Writes that survive a crash: a file is whole or absent, a line is whole or ignored."""

import errno
import os
import stat
import tempfile
from contextlib import suppress
from io import RawIOBase
from pathlib import Path

from foundry.errors import ProjectError


def _umask() -> int:
    """What new files don't get. Reading it sets it for a moment: only while we are alone."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


_UMASK = _umask()


def atomic_write(path: Path, data: str | bytes, *, sync: bool = True) -> None:
    """Replace `path` with `data`: temporary file beside it, fsync, rename, fsync of the folder.

    Without `sync` it outlives this process, not the machine. Raises ProjectError when the disk is
    full or the folder can't be written.
    """
    raw = data.encode() if isinstance(data, str) else data
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise _cannot_write(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        Path(temporary).chmod(_mode_for(path))
        Path(temporary).replace(path)
        if sync:
            _sync_folder(path.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        Path(temporary).unlink(missing_ok=True)


def append_line(path: Path, line: str, *, sync: bool = True) -> None:
    """Append one line; with `sync` it is on the disk when this returns.

    A write that fails half-way is taken back, so that the file never keeps a torn line. What
    stands in its place and is no file (a pipe would block, a link leads elsewhere) goes away.
    """
    raw = line.encode() + b"\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = not _is_file(path)
        if new:
            path.unlink(missing_ok=True)
        with path.open("ab", buffering=0) as file:
            start = file.tell()
            try:
                _write_whole(file, raw)
                if sync:
                    os.fsync(file.fileno())
            except OSError:
                file.truncate(start)
                raise
        if new and sync:
            _sync_folder(path.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error


def text_within(root: Path, name: str, most: int = 1_000_000) -> str:
    """The text of a file below `root`, its first `most` bytes; empty where there is none.

    What is no file (a pipe would block) counts as none, and so does a link that leads out.
    """
    path = (root / name).resolve()
    try:
        if not (path.is_relative_to(root.resolve()) and path.is_file()):
            return ""
        with path.open("rb") as file:
            return file.read(most).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _write_whole(file: RawIOBase, raw: bytes) -> None:
    if file.write(raw) != len(raw):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _mode_for(path: Path) -> int:
    """An existing file keeps its permissions; a new one gets what the umask leaves."""
    try:
        return path.stat().st_mode & 0o7777
    except OSError:
        return 0o666 & ~_UMASK


def _is_file(path: Path) -> bool:
    """Whether there is a file, and no link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def _sync_folder(folder: Path) -> None:
    """Make a new name in a folder last; file systems that can't do it do without."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _cannot_write(path: Path, error: OSError) -> ProjectError:
    return ProjectError(
        f"cannot write {path}: {error.strerror or error}",
        hint="Free some space or mend the permissions, then run `foundry resume`",
    )
