"""The index of a project as it is now: kept between calls, brought up to date where files changed.

It lies in files in the user's cache folder, replaced whole, checked when read. The format is
marshal, because it loads two to six times as fast as JSON; a digest in front makes sure that only
what was written here is ever loaded. Whatever is damaged or of another version is as good as
missing.
"""

import hashlib
import marshal
import os
import re
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from foundry.context.retrieval.analysis import Facts, Plain, analyse_all, plain
from foundry.context.retrieval.files import Stamp, stamps
from foundry.context.retrieval.history import COMMITS, read_log, unfinished
from foundry.context.retrieval.index import Index, build
from foundry.store.git import read as git_read

_RACY = 10_000_000
"""Nanoseconds. A file this young when it was read may change again under the same stamp."""
_NEVER: Stamp = (-1, 0, 0)
"""The stamp of no file: read it again next time."""


def current_index(root: Path) -> Index:
    """The index, read from the cache or made anew, and kept for the next call."""
    head, listed = git_read.head(root), git_read.listed(root)
    kept = load(file_for(root, "index"))
    commit = (head.text() or "").strip()
    if kept is None or kept[0] != commit:
        log = _log(root, commit)  # git works while the files are looked at
        now = stamps(root, listed.text())
    else:
        now = stamps(root, listed.text())
        if kept[1] == now:
            return Index(*kept[2])
        log = _log(root, commit)
    return _renewed(root, commit, now, log)


def _log(root: Path, commit: str) -> git_read.Reading | None:
    return git_read.changes(root, COMMITS) if commit else None


def _renewed(root: Path, commit: str, now: dict[str, Stamp], log: git_read.Reading | None) -> Index:
    begun = time.time_ns()
    under_way = git_read.unfinished(root)
    facts = _facts(root, now)
    numbers = {path: number for number, path in enumerate(facts)}
    text = log.text() if log else None
    commits = read_log(text or "", numbers)
    index = build(facts, unfinished(under_way.text() or "", numbers) + commits)
    sure = {name: stamp if stamp[2] < begun - _RACY else _NEVER for name, stamp in now.items()}
    stored = {name: (sure[name], plain(each)) for name, each in facts.items()}
    save(file_for(root, "facts"), stored)
    save(file_for(root, "index"), (commit, sure, tuple(index)))
    tidy()
    return index


def _facts(root: Path, now: dict[str, Stamp]) -> dict[str, Facts]:
    """The facts of all files, of which only those that changed are read."""
    kept: dict[str, tuple[Stamp, Plain]] = load(file_for(root, "facts")) or {}
    same = {n: Facts(*kept[n][1]) for n, stamp in now.items() if n in kept and kept[n][0] == stamp}
    same |= analyse_all(root, [name for name in now if name not in same])
    return {name: same[name] for name in now}


VERSION = 2
"""Of everything that is stored; raise it when the meaning of any of it changes."""
_MAGIC = f"foundry retrieval {VERSION} {sys.implementation.cache_tag} {sys.byteorder}\n".encode()
_DIGEST = 16
_UNUSED_DAYS = 30
_OURS = re.compile(r"[0-9a-f]{24}\.(index|facts)")


def folder() -> Path:
    """Where indexes are kept."""
    if named := os.environ.get("RETRIEVAL_CACHE_DIR"):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "foundry" / "retrieval"


def file_for(root: Path, part: str) -> Path:
    """The file that keeps one part of what is known of a project."""
    name = hashlib.blake2b(os.fsencode(os.path.realpath(root)), digest_size=12).hexdigest()
    return folder() / f"{name}.{part}"


def load(path: Path) -> Any:
    """What was saved; None when there is nothing, or nothing that can be trusted."""
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    begin = len(_MAGIC) + _DIGEST
    body = memoryview(raw)[begin:]
    if raw[: len(_MAGIC)] != _MAGIC or raw[len(_MAGIC) : begin] != _digest(body):
        return None
    return marshal.loads(body)


def save(path: Path, value: Any) -> None:
    """Keep plain values; a full or read-only disk only means that nothing is kept."""
    body = marshal.dumps(value)
    new = path.with_name(f"{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new.write_bytes(_MAGIC + _digest(body) + body)
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink(missing_ok=True)


def tidy() -> None:
    """Remove what no call has renewed for long, half-written files among it."""
    oldest = time.time() - _UNUSED_DAYS * 86400
    try:
        for each in folder().iterdir():
            if _OURS.match(each.name) and each.stat().st_mtime < oldest:
                each.unlink(missing_ok=True)
    except OSError:
        return  # somebody else is tidying


def _digest(body: bytes | memoryview) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST).digest()
