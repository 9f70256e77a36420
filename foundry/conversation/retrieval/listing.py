"""Which files of a project are worth indexing, each with a stamp that tells whether it changed."""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from foundry.conversation.retrieval.kinds import Kind, kind

Stamp = tuple[int, int, int]
"""Size, and the times of the last change of content and of inode, in nanoseconds."""
MOST_FILES = 20_000
"""What a plain folder is read up to; a repository knows itself what belongs to it."""
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
        if not name.isprintable() or name.startswith(OURS) or kind(name) in (None, Kind.GENERATED):
            continue
        folder = name.rpartition("/")[0]
        if folder not in inside:
            real = os.path.realpath(f"{base}/{folder}")
            inside[folder] = f"{real}/".startswith(f"{base.rstrip('/')}/")
        if inside[folder] and (stamp := _stamp(f"{base}/{name}")):
            found[name] = stamp
    return found


def _stamp(path: str) -> Stamp | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None  # deleted but still listed, or not for us to see
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def walk(root: Path) -> Iterator[str]:
    """The files of a folder without git: no hidden ones, and nothing that tools put there."""
    left = MOST_FILES
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _SKIPPED)
        below = os.path.relpath(folder, root)
        prefix = "" if below == "." else below.replace(os.sep, "/") + "/"
        for name in sorted(files):
            if not name.startswith("."):
                yield prefix + name
                left -= 1
        if left <= 0:
            return
