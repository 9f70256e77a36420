"""What the transforms of source code share: which lines, which bytes, and how it is put back."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from foundry.files import atomic_write, read_bytes_bounded

Lines = frozenset[int] | Literal["all"]
"""Lines of a file's new version, counted from 1; `all` for a file that is new as a whole."""

Mode = Literal["raises", "returns"]
"""How a function leaves: by an error, or without a result."""

LARGEST = 2_000_000
"""Bytes. What is larger was not written by hand."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes `start` to `end` of a source give way to `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Hollowed:
    """A source whose functions leave at once, and the names of these functions."""

    text: str
    names: tuple[str, ...]


def overlaps(lines: Lines, first: int, last: int) -> bool:
    """Whether any of the lines is within `first` to `last`, both included."""
    if lines == "all":
        return True
    return any(first <= line <= last for line in lines)


def edited(source: bytes, edits: Iterable[Edit]) -> bytes:
    """The source after edits that do not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        source = source[: edit.start] + edit.text.encode() + source[edit.end :]
    return source


def readable_sources(tree: Path, paths: Iterable[str]) -> dict[str, bytes]:
    """The contents of those paths that are regular files of at most LARGEST bytes in `tree`.

    A link, and what lies behind one, is left out: it may lead out of the tree.
    """
    root = tree.resolve()
    found = {}
    for path in paths:
        if (root / path).parent.resolve() != root / Path(path).parent:
            continue
        data = read_bytes_bounded(root / path, LARGEST + 1)
        if data is not None and len(data) <= LARGEST:
            found[path] = data
    return found


@contextmanager
def replaced(
    tree: Path, originals: Mapping[str, bytes], contents: Mapping[str, bytes]
) -> Iterator[None]:
    """Files of `tree` have other contents as long as the context lasts.

    Afterwards each is what it was in `originals`, byte for byte and with its permissions, also
    when the body raises. Raises ProjectError when a file can't be written.
    """
    with ExitStack() as stack:
        for path, data in contents.items():
            mode = (tree / path).stat().st_mode & 0o7777
            stack.callback(_put, tree / path, originals[path], mode)
            _put(tree / path, data, mode)
        yield


def _put(path: Path, data: bytes, mode: int) -> None:
    """Write a file with a time that it never had, at least a second after its last.

    What is built from sources (bytecode, objects) is taken for current by time and size, to the
    second: a file that changes twice within one would run as it was.
    """
    last = path.stat().st_mtime if path.is_file() else 0
    atomic_write(path, data, sync=False)
    path.chmod(mode)
    moment = int(max(time.time(), last)) + 1
    os.utime(path, (moment, moment))
