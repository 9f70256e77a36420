"""A repository's own settings, held as they were when a run began.

A command of the model may change `.git/config`, by accident or not: then our git would work
elsewhere (core.worktree), not at all (core.bare), or run a program of its choice (filters). In a
work tree beside a person's checkout that file is the person's too. What git itself writes there in
daily work, remotes and the branches' upstreams, is left to whoever changes it.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from foundry.files import atomic_write
from foundry.store.git.query import Query
from foundry.store.git.trees import remove_tree

_DAILY = re.compile(
    r'^\[(?:branch "[^"\\\n]+"\]\n(?:\t[a-zA-Z]+ = .*(?<!\\)\n)*'
    r'|remote "[^"\\\n]+"\]\n(?:\t(?:url|pushurl|fetch|gh-resolved) = .*(?<!\\)\n)*)',
    re.MULTILINE,
)
"""The sections that git and gh write by themselves, in just the form in which they do."""

Signature = tuple[int, int, int, int]


class ConfigGuard:
    """Holds files as they are in `kept`; `tell` hears of every change that was put back."""

    def __init__(self, kept: Mapping[Path, str], tell: Callable[[str], None]) -> None:
        self._kept = kept
        self._tell = tell
        self._seen: dict[Path, Signature | None] = {}

    def check(self) -> None:
        """Put back what was changed; raises ProjectError when that can't be written.

        Costs a stat per file while nothing is changed.
        """
        for path, text in self._kept.items():
            signature = _signature(path)
            if signature is None or signature != self._seen.get(path):
                self._mend(path, text)
                self._seen[path] = _signature(path)

    def _mend(self, path: Path, kept: str) -> None:
        now = _text(path)
        wanted = with_daily_of(kept, now)
        if wanted == now or not path.parent.is_dir():
            return
        remove_tree(path)
        atomic_write(path, wanted.encode(errors="surrogateescape"))
        self._tell(f"a command changed {path}; it is again as it was when the run began")


def guard(root: Path, file: Path, tell: Callable[[str], None]) -> ConfigGuard:
    """The guard of the work tree at `root`; how it was is kept in `file` from the first time on."""
    kept = _load(file)
    if not kept or not all(path.parent.is_dir() for path in kept):  # new, or moved
        kept = {path: _text(path) for path in _settings(root) if path.is_file()}
        atomic_write(file, json.dumps({str(path): text for path, text in kept.items()}, indent=1))
    return ConfigGuard(kept, tell)


def with_daily_of(kept: str, now: str) -> str:
    """The kept settings with the remotes and branches of the present ones.

    They stand at the end, where nothing in them can change what is before.
    """
    steady = _DAILY.sub("", kept)
    if _DAILY.sub("", now) == steady:
        return now
    return steady + "".join(each[0] for each in _DAILY.finditer(now))


def _settings(root: Path) -> tuple[Path, ...]:
    """The settings of all work trees, those of this one, and the link from it to its repository."""
    query = Query(root)
    common = Path(query.run("rev-parse", "--git-common-dir").strip())
    return (root / common / "config", query.git_dir() / "config.worktree", root / ".git")


def _load(file: Path) -> dict[Path, str]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return {Path(path): str(text) for path, text in found.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _signature(path: Path) -> Signature | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode


def _text(path: Path) -> str:
    """A file's text; of what is no file, or closed, nothing."""
    try:
        return path.read_bytes().decode(errors="surrogateescape") if path.is_file() else ""
    except OSError:
        return ""
