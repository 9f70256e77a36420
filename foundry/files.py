"""Writes that survive a crash: a file is whole or absent, a line is whole or ignored."""

import errno
import os
import tempfile
from io import RawIOBase
from pathlib import Path

from foundry.errors import ProjectError


def atomic_write(path: Path, data: str | bytes) -> None:
    """Replace `path` with `data`: temporary file beside it, fsync, rename.

    Raises ProjectError when the disk is full or the folder can't be written.
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
            os.fsync(file.fileno())
        Path(temporary).chmod(_mode_for(path))
        Path(temporary).replace(path)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        Path(temporary).unlink(missing_ok=True)


def append_line(path: Path, line: str, *, sync: bool = True) -> None:
    """Append one line; with `sync` it is on the disk when this returns.

    A write that fails half-way is taken back, so that the file never keeps a torn line.
    """
    raw = line.encode() + b"\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab", buffering=0) as file:
            start = file.tell()
            try:
                _write_whole(file, raw)
                if sync:
                    os.fsync(file.fileno())
            except OSError:
                file.truncate(start)
                raise
    except OSError as error:
        raise _cannot_write(path, error) from error


def _write_whole(file: RawIOBase, raw: bytes) -> None:
    if file.write(raw) != len(raw):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _mode_for(path: Path) -> int:
    """An existing file keeps its permissions; a new one gets what the umask leaves."""
    try:
        return path.stat().st_mode & 0o7777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _cannot_write(path: Path, error: OSError) -> ProjectError:
    return ProjectError(
        f"cannot write {path}: {error.strerror or error}",
        hint="Free some space or mend the permissions, then run `foundry resume`",
    )
