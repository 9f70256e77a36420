"""The files of a project that are worth indexing: their names, whether they changed, their content.

A repository knows itself what belongs to it; a plain folder is walked. Links are never followed.
"""

import os
import re
import stat
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from foundry.conversation.retrieval.facts import LARGEST
from foundry.conversation.retrieval.kinds import Kind, kind

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

Stamp = tuple[int, int, int]
"""Size, and the times of the last change of content and of inode, in nanoseconds."""
MOST_FILES = 20_000
"""What a plain folder is read up to."""
LARGEST_RULES = 64 * 1024
"""Bytes that are read of a .gitignore."""
OURS = ".context-foundry/"
"""What Foundry itself writes about a build is not the project."""
_SKIPPED = frozenset(
    """node_modules bower_components venv env __pycache__ site-packages target dist build out
    vendor coverage htmlcov""".split()  # noqa: SIM905
)
Rules = list[tuple[str, "GitIgnoreSpec"]]
"""Each .gitignore on the way down: its folder with a slash at the end, and what it says."""


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


def read(root: Path, path: str, most: int = LARGEST + 1) -> bytes:
    """The beginning of a file, not through a link; empty when it can't be had."""
    try:
        descriptor = os.open(root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor has no path
        try:
            return file.read(most)
        except OSError:
            return b""


def walk(root: Path) -> Iterator[str]:
    """The files of a folder without git: no hidden or ignored ones, nothing that tools put there.

    Not by asking git with an empty repository elsewhere: it would stop at repositories inside the
    folder, and go through all of a home directory before it says the first name.
    """
    left = MOST_FILES
    rules: dict[str, Rules] = {"": []}
    for folder, folders, files in os.walk(root):
        below = os.path.relpath(folder, root)
        prefix = "" if below == "." else below.replace(os.sep, "/") + "/"
        own = rules.pop(prefix)
        if ".gitignore" in files:
            own = [*own, (prefix, _rules(root, prefix + ".gitignore"))]
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in _SKIPPED
            and not _ignored(own, f"{prefix}{name}/")
        )
        rules |= {f"{prefix}{name}/": own for name in folders}
        for name in sorted(files):
            if not name.startswith(".") and not _ignored(own, prefix + name):
                yield prefix + name
                left -= 1
        if left <= 0:
            return


def _rules(root: Path, path: str) -> "GitIgnoreSpec":
    lines = read(root, path, LARGEST_RULES).decode("utf-8", "replace").splitlines()
    try:
        return _spec(lines)
    except (ValueError, re.error):
        return _spec([line for line in lines if _is_rule(line)])


def _spec(lines: list[str]) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # what Python thinks of a strange [class]
        # re2, because the file is a stranger's: with `re` a line can take hours
        return GitIgnoreSpec.from_lines(lines, backend="re2")


def _is_rule(line: str) -> bool:
    try:
        _spec([line])
    except (ValueError, re.error):
        return False
    return True


def _ignored(rules: Rules, path: str) -> bool:
    """Does the last word on a path leave it out? The .gitignore that is nearest to it decides."""
    for folder, spec in reversed(rules):
        verdict = spec.check_file(path[len(folder) :]).include
        if verdict is not None:
            return verdict
    return False
