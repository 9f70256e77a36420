"""What a project's commits say of its files: which changed for what, together, and lately."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from foundry.tokenize import count_terms

COMMITS = 3000
"""How far back the history is read."""
LONGEST_MESSAGE = 2000
"""Characters of a message that are read."""
MOST_FILES = 40
"""A commit that touches more files than this is a sweep and says nothing of any of them."""
_TRAILER = re.compile(r"^[A-Z][\w-]+-by: .*$", re.MULTILINE)


class Commit(NamedTuple):
    """One earlier change: its terms by how often, and its files."""

    terms: dict[str, int]
    files: list[int]


def message_terms(message: str) -> dict[str, int]:
    """The terms of a commit message without its trailers, by how often."""
    return count_terms(_TRAILER.sub("", message[:LONGEST_MESSAGE]))


def read_log(log: str, numbers: Mapping[str, int]) -> list[Commit]:
    """The commits of `git log`, newest first, with files as today's numbers.

    A file that was renamed since counts under its name of today; one that is gone counts not.
    """
    today: dict[str, str] = {}
    commits = []
    for message, changes in _entries(log):
        files = []
        for status, old, new in changes:
            name = today.get(new, new)
            if status == "R":
                today[old] = name
            if name in numbers:
                files.append(numbers[name])
        if files and len(changes) <= MOST_FILES:
            commits.append(Commit(message_terms(message), files))
    return commits


def unfinished(listed: str, numbers: Mapping[str, int]) -> list[Commit]:
    """The work that no commit has yet, as the newest of them; it has no message."""
    files = [numbers[name] for name in listed.split("\0") if name in numbers]
    return [Commit({}, files)] if 0 < len(files) <= MOST_FILES else []


def _entries(log: str) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    for entry in log.split("\x01")[1:]:
        fields = entry.split("\x02")
        if len(fields) < 3:
            continue
        yield fields[1], list(_changes(fields[2].strip("\0\n").split("\0")))


def _changes(fields: list[str]) -> Iterator[tuple[str, str, str]]:
    """(status, old name, new name) from the fields of `--name-status -z`."""
    rest = iter(fields)
    for field in rest:
        if status := field.strip()[:1]:
            old = next(rest, "")
            yield status, old, next(rest, "") if status in "RC" else old
