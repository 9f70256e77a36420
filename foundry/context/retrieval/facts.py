"""What is remembered of one file: its terms, the names it defines, what it imports."""

import re
from collections import Counter
from typing import NamedTuple

from foundry.context.retrieval.definitions import definitions
from foundry.context.retrieval.imports import imports
from foundry.context.retrieval.kinds import Kind
from foundry.tokenize import IDENTIFIER, terms_of

LARGEST = 512 * 1024
"""Bytes. A larger file is data, or nobody's reading."""
LARGEST_ASIDE = 4 * 1024
LARGEST_PROSE = 16 * 1024
"""Bytes that are read of what is not source: its imports and beginnings. The rest makes a first
index 17-36% dearer (four repositories), and changes what is found in no figure by more than 0.7
points (325 commits of 16 repositories)."""
_GENERATED = re.compile(rb"@generated|code generated|do not edit|auto-?generated", re.IGNORECASE)


class Facts(NamedTuple):
    """One file. `length` counts identifiers; a file whose content says nothing has none."""

    kind: int
    length: int
    terms: dict[str, int]
    defined: list[str]
    imported: list[str]


def readable(data: bytes) -> bool:
    """Is this text that a person wrote, and not binary, minified or generated?"""
    if b"\0" in data[:8192]:
        return False
    if len(data) > 4096 and len(data) / (data.count(b"\n") + 1) > 300:
        return False
    return not _GENERATED.search(data[:600])


def analyse(path: str, kind: Kind, data: bytes) -> Facts:
    """The facts of a file; only its path counts when it is not readable."""
    if len(data) > LARGEST or not readable(data):
        return Facts(int(kind), 0, {}, [], [])
    if kind != Kind.SOURCE:
        data = data[: LARGEST_PROSE if kind == Kind.PROSE else LARGEST_ASIDE]
    text = data.decode("utf-8", "replace")
    found = Counter(IDENTIFIER.findall(text))
    return Facts(
        int(kind), found.total(), terms_of(found), definitions(path, text), imports(path, text)
    )
