"""Which files a tool may touch, and how they are opened so that the answer stays true.

Two steps. First a path is resolved, symlinks and all, and the *result* is judged: inside the
root, not in a closed folder. Then the resolved path is walked from the root one component at
a time without following links. A link that a running command puts in the way between the two
steps makes the walk fail; it can't lead it elsewhere.
"""

import errno
import os
import secrets
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from foundry.errors import ProjectError, ToolError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST = 4096
_HARNESS = ".context-foundry"
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a symbolic link that changed just now",
}
_RELATIVE = "Use a path relative to the project's root, such as src/app.py"


class ProjectFolder:
    """The files below one root, as tools may reach them. Paths are relative to the root."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    def locate(self, path: str, *, write: bool = False) -> str:
        """The canonical path ('.' is the root); raises ToolError when it is not for tools.

        An absolute path that lies inside the root is accepted.
        """
        _refuse_odd_text(path)
        try:
            real = os.path.realpath(self.root / path)
        except (OSError, RecursionError) as error:  # links that change meanwhile, or very many
            raise ToolError(f"{path!r} can't be resolved", hint=_RELATIVE) from error
        if not Path(real).is_relative_to(self.root):
            raise ToolError(f"{path!r} is outside the project", hint=_RELATIVE)
        found = PurePosixPath(Path(real).relative_to(self.root))
        for parts in (PurePosixPath(path).parts, found.parts):
            _refuse_closed(path, parts, write=write)
        return str(found)

    def read(self, path: str, *, limit: int) -> bytes:
        """The bytes of a regular file of at most `limit` bytes; raises ToolError otherwise."""
        located = PurePosixPath(self.locate(path))
        with explained(path), self._folder(located.parent) as folder:
            name = located.name or "."
            _refuse_irregular(path, os.stat(name, dir_fd=folder, follow_symlinks=False))
            with os.fdopen(os.open(name, _READ, dir_fd=folder), "rb") as file:
                status = os.fstat(file.fileno())
                _refuse_irregular(path, status)
                data = b"" if status.st_size > limit else file.read(limit + 1)
        if status.st_size > limit or len(data) > limit:
            size = max(status.st_size, len(data))
            raise ToolError(
                f"{path} has {size:,} bytes, more than the {limit:,} that tools open",
                hint="Look at parts of it with run_command (head, tail, sed -n, grep)",
            )
        return data

    def replace(self, path: str, data: bytes, *, executable: bool = False) -> int | None:
        """Write a whole file, its folders included; the old size, or None when it is new.

        A temporary file is renamed over the old one, so readers see either. The old one's mode
        bits stay. No fsync: the commit that follows is what must be durable. Raises ToolError
        when the path is not for tools, ProjectError when the disk is full.
        """
        located = PurePosixPath(self.locate(path, write=True))
        if path.endswith("/") or not located.name:
            raise ToolError(f"{path!r} names a folder", hint="Give the path of a file")
        with explained(path), self._folder(located.parent, create=True) as folder:
            old = _status(path, located.name, folder)
            temporary = f".foundry-{secrets.token_hex(8)}"
            mode = 0o777 if executable else 0o666  # less the umask, as for any new file
            try:
                with os.fdopen(os.open(temporary, _CREATE, mode, dir_fd=folder), "wb") as file:
                    file.write(data)
                    if old is not None:
                        os.fchmod(file.fileno(), _mode(old.st_mode, executable=executable))
                os.rename(temporary, located.name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                _remove(temporary, folder)
                raise
        return None if old is None else old.st_size

    @contextmanager
    def _folder(self, folder_path: PurePosixPath, *, create: bool = False) -> Iterator[int]:
        """A descriptor of a folder below the root, reached without following any link."""
        try:
            folder = os.open(self.root, _FOLDER)
        except OSError as error:
            raise ProjectError(
                f"the project's folder {self.root} can't be opened: {error.strerror}",
                hint="Put it back, then run `foundry resume`",
            ) from error
        try:
            for name in folder_path.parts:
                inner = _enter(folder, name, create=create)
                os.close(folder)
                folder = inner
            yield folder
        finally:
            os.close(folder)


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Turn what the system says into what the model can use.

    Raises ToolError in place of an OSError. A full disk is no fault of the model's: for that it
    raises ProjectError, and the run pauses.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise ToolError(f"there is no {path}", hint="list_files shows what there is") from error
    except IsADirectoryError as error:
        raise ToolError(f"{path} is a folder", hint="list_files shows what is in it") from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ProjectError(
                f"cannot write {path}: {error.strerror}",
                hint="Free some space, then run `foundry resume`",
            ) from error
        raise ToolError(f"can't open {path}: {_reason(error)}", hint=_RELATIVE) from error


def hidden(path: str) -> bool:
    """Whether a path (relative to the root) is kept from tools altogether."""
    names = [_fold(part) for part in PurePosixPath(path).parts]
    return ".git" in names or names[:2] == [_HARNESS, "local"]


def _refuse_odd_text(path: str) -> None:
    if len(path) > _LONGEST:
        raise ToolError(f"the path is too long ({len(path):,} characters)", hint=_RELATIVE)
    if not path.strip() or path != path.strip():
        raise ToolError(f"the path {path!r} is empty or has blanks around it", hint=_RELATIVE)
    if not path.isprintable():
        raise ToolError(f"the path {path!r} has characters that can't be seen", hint=_RELATIVE)
    if path.startswith("~"):
        raise ToolError(f"`~` means nothing here: {path!r}", hint=_RELATIVE)


def _refuse_closed(path: str, parts: tuple[str, ...], *, write: bool) -> None:
    """Judge by folded names: the file system may not care about case."""
    if hidden("/".join(parts)):
        raise ToolError(
            f"{path!r} belongs to git or to the harness and is closed to tools",
            hint="Leave it alone; commits are made for you",
        )
    if write and parts and _fold(parts[0]) == _HARNESS:
        raise ToolError(
            f"{path!r} is written by the harness; tools may only read it",
            hint="Hand your result over with submit, and write code elsewhere",
        )


def _fold(name: str) -> str:
    """Equal for names that some file system takes for the same (invisible characters too)."""
    visible = (char for char in name if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFKC", "".join(visible)).casefold()


def _refuse_irregular(path: str, status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "not a regular file")
    hint = "list_files shows what is in it" if kind == "a folder" else "Tools open regular files"
    raise ToolError(f"{path} is {kind}", hint=hint)


def _status(path: str, name: str, folder: int) -> os.stat_result | None:
    """The file that is about to be replaced, or None; ToolError when it may not be."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    _refuse_irregular(path, status)
    if status.st_nlink > 1:
        raise ToolError(
            f"{path} has {status.st_nlink} hard links, so it may also live outside the project",
            hint="Delete it with run_command first, then write it anew",
        )
    return status


def _mode(old: int, *, executable: bool) -> int:
    """The old permissions; `executable` adds x for everybody who may read."""
    bits = old & 0o777
    return bits | (bits & 0o444) >> 2 if executable else bits


def _enter(folder: int, name: str, *, create: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not create:
            raise
    with suppress(FileExistsError):  # somebody was faster; if it's no folder, opening it says so
        os.mkdir(name, dir_fd=folder)
    return os.open(name, _FOLDER, dir_fd=folder)


def _remove(name: str, folder: int) -> None:
    with suppress(OSError):  # never made, or gone: what matters is the error on its way up
        os.unlink(name, dir_fd=folder)


def _reason(error: OSError) -> str:
    if error.errno == errno.ENOTDIR:
        return "a part of the path is not a folder"
    if error.errno == errno.ELOOP:
        return "a part of the path is a symbolic link that changed just now, or links in a circle"
    return error.strerror or str(error)
