"""Writes that survive a crash: a file is whole or absent, a line is whole or ignored.

And reads of files that others wrote: bounded, of regular files alone.
"""

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


def read_bounded(path: Path, limit: int, *, root: Path | None = None) -> str | None:
    """The text of a regular file, its first `limit` bytes; None where there is none to read.

    Bytes that are no UTF-8 are replaced. With `root` the path is one below it, and what leads out
    of it, through a link too, counts as none.
    """
    if root is not None:
        base = os.path.realpath(root)
        with suppress(ValueError):  # a NUL in the name: `open` says no to it
            path = Path(os.path.realpath(Path(base, path)))  # of a link to itself no error
        if not path.is_relative_to(base):
            return None
    data = read_bytes_bounded(path, limit, follow=root is None)
    return None if data is None else data.decode("utf-8", "replace")


def read_bytes_bounded(path: Path, limit: int, *, follow: bool = False) -> bytes | None:
    """The first `limit` bytes of a regular file; None where there is none to read.

    A pipe or a device, which would block or never end, counts as none; so does a link in the
    file's place unless links are followed.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    try:
        with open(os.open(path, flags), "rb") as file:  # noqa: PTH123 - a descriptor has no path
            return file.read(limit) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except (OSError, ValueError):  # a name with a NUL in it is a ValueError
        return None


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
