"""The files of a project that are worth indexing: their names, whether they changed, their content.

A repository knows itself what belongs to it; a plain folder is walked. Links are never followed.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from foundry.context.retrieval.facts import LARGEST
from foundry.context.retrieval.ignored import Ignored
from foundry.context.retrieval.kinds import Kind, kind
from foundry.files import read_bytes_bounded

Stamp = tuple[int, int, int]
"""Size, and the times of the last change of content and of inode, in nanoseconds."""
MOST_FILES = 20_000
"""What a plain folder is read up to."""
OURS = ".context-foundry/"
"""What Foundry itself writes about a build is not the project."""
_SKIPPED = frozenset(
    """node_modules bower_components venv env __pycache__ site-packages target dist build out
    vendor coverage htmlcov""".split()  # noqa: SIM905
)


def stamps(root: Path, listed: str | None) -> dict[str, Stamp]:
    """Stamps by path, from what git lists, or from a walk where there is no repository.

    Links are left out: what they lead to is listed itself, or lies outside.
    """
    names: Iterable[str] = listed.split("\0") if listed else walk(root)
    base = os.path.realpath(root)
    inside: dict[str, bool] = {}
    found: dict[str, Stamp] = {}
    for name in sorted(set(names)):
        if not worth_indexing(name):
            continue
        folder = name.rpartition("/")[0]
        if folder not in inside:
            real = os.path.realpath(f"{base}/{folder}")
            inside[folder] = f"{real}/".startswith(f"{base.rstrip('/')}/")
        if inside[folder] and (stamp := _stamp(f"{base}/{name}")):
            found[name] = stamp
    return found


def worth_indexing(name: str) -> bool:
    """Is this the name of a text that a person writes?"""
    ours = name.startswith(OURS)
    return name.isprintable() and not ours and kind(name) not in (None, Kind.GENERATED)


def _stamp(path: str) -> Stamp | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None  # deleted but still listed, or not for us to see
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def read(root: Path, path: str) -> bytes:
    """The content of a file, not through a link, as much as counts; empty when it can't be had."""
    return read_bytes_bounded(root / path, LARGEST + 1) or b""


def walk(root: Path) -> Iterator[str]:
    """The files of a folder without git: none hidden, ignored, or put there by tools."""
    left = MOST_FILES
    with Ignored(root) as ignored:
        for folder, folders, files in os.walk(root):
            below = os.path.relpath(folder, root)
            prefix = "" if below == "." else below.replace(os.sep, "/") + "/"
            inner = [each for each in folders if not each.startswith(".") and each not in _SKIPPED]
            names = [each for each in files if not each.startswith(".")]
            left_out = ignored.among([prefix + each for each in inner + names])
            folders[:] = sorted(each for each in inner if prefix + each not in left_out)
            found = sorted({prefix + each for each in names} - left_out)
            yield from found
            left -= len(found)
            if left <= 0:
                return
