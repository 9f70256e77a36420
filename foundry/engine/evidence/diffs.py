"""What changed since a commit, short enough to be read: the whole of it is a command away."""

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from foundry.store.git.repository import Repository
from foundry.store.project import FOLDER

MAX_DIFF = 24_000
"""Characters."""

MIN_PART = 300
"""Characters of a file's diff below which showing a part of it says less than its name."""

MAX_NAMED = 100

_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)
_DATA = frozenset(
    (".json", ".jsonl", ".csv", ".tsv", ".xml", ".html", ".svg", ".txt", ".log", ".lock", ".snap")
)
_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "-M")


def diff_since(
    repository: Repository,
    base: str,
    wanted: Callable[[str], bool] = lambda _path: True,
    limit: int = MAX_DIFF,
) -> str:
    """How the project at HEAD differs from `base`, Foundry's own files left out; bounded.

    `wanted` says of a path whether it is shown. Raises ProjectError where git can't tell.
    """
    out = repository.run("diff", *_PLAIN, base, "HEAD", "--", ".", f":(exclude){FOLDER}")
    text = out.encode(errors="surrogateescape").decode(errors="replace")
    parts = [part for part in _FILE.split(text) if part]
    return bounded("".join(part for part in parts if wanted(path_of(part))), limit)


def bounded(diff: str, limit: int = MAX_DIFF) -> str:
    """A unified diff in about `limit` characters: code before data, the biggest files cut."""
    if len(diff) <= limit:
        return diff
    parts = sorted((part for part in _FILE.split(diff) if part), key=_is_data)
    code = [part for part in parts if not _is_data(part)]
    left = limit - sum(map(len, code))
    shares = [_share(code, limit)] * len(code)
    shares += [_share(parts[len(code) :], left)] * (len(parts) - len(code))
    shown = [_cut(part, share) for part, share in zip(parts, shares, strict=True)]
    named = [path_of(part) for part, text in zip(parts, shown, strict=True) if not text]
    more = f", and {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else ""
    rest = f"(not shown: {', '.join(named[:MAX_NAMED])}{more})\n" if named else ""
    return "".join(shown) + rest


def path_of(part: str) -> str:
    """The path, as it is now, of one file's part of a diff."""
    return part.split("\n", 1)[0].rpartition(" b/")[2].rstrip('"')


def _is_data(part: str) -> bool:
    return bool(_DATA.intersection(PurePosixPath(path_of(part)).suffixes[-1:]))


def _share(parts: list[str], limit: int) -> int:
    """The most that each part may have so that all of them fit: who needs less leaves the rest."""
    left = max(0, limit)
    for done, size in enumerate(sorted(map(len, parts))):
        share = left // (len(parts) - done)
        if size > share:
            return share
        left -= size
    return max(map(len, parts), default=0)


def _cut(part: str, share: int) -> str:
    if len(part) <= share:
        return part
    if share < MIN_PART:
        return ""
    kept = part[: part.rfind("\n", 0, share) + 1]
    return f"{kept}(cut: {part.count(chr(10)) - kept.count(chr(10))} more lines)\n"
