"""The index of a project as it is now: from the cache, brought up to date where files changed."""

import time
from pathlib import Path

from foundry.context.retrieval import cache
from foundry.context.retrieval.analysis import Plain, analyse_all, plain
from foundry.context.retrieval.facts import Facts
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
    kept = cache.load(cache.file_for(root, "index"))
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
    cache.save(cache.file_for(root, "facts"), stored)
    cache.save(cache.file_for(root, "index"), (commit, sure, tuple(index)))
    cache.tidy()
    return index


def _facts(root: Path, now: dict[str, Stamp]) -> dict[str, Facts]:
    """The facts of all files, of which only those that changed are read."""
    kept: dict[str, tuple[Stamp, Plain]] = cache.load(cache.file_for(root, "facts")) or {}
    same = {n: Facts(*kept[n][1]) for n, stamp in now.items() if n in kept and kept[n][0] == stamp}
    same |= analyse_all(root, [name for name in now if name not in same])
    return {name: same[name] for name in now}
