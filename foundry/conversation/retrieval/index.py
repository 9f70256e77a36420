"""The index of a project: who contains which term, inverted so that a query reads only its own."""

from array import array
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from foundry.conversation.retrieval.facts import Facts
from foundry.conversation.retrieval.history import Commit
from foundry.conversation.retrieval.imports import edges
from foundry.conversation.retrieval.words import IDENTIFIER, terms

_BITS = 12
_MOST = (1 << _BITS) - 1
Postings = dict[str, bytes]
"""For each term the numbers of those that contain it and how often, packed into 32-bit words."""


class Index(NamedTuple):
    """Everything that a query needs; plain values, so that it goes to disk as it is."""

    paths: list[str]
    kinds: list[int]
    lengths: list[int]
    content: Postings
    named: Postings
    """Terms of the paths."""
    defined: Postings
    names: list[list[str]]
    """The names that each file defines, each once."""
    importers: list[list[int]]
    imported: list[list[int]]
    messages: Postings
    """Terms of the commits."""
    message_lengths: list[int]
    scopes: list[str]
    changed: list[list[int]]
    """The files of each commit, newest first."""


def build(facts: Mapping[str, Facts], commits: Iterable[Commit]) -> Index:
    """The index of these files and commits; commits name files by their place in `facts`."""
    paths = list(facts)
    numbers = {path: number for number, path in enumerate(paths)}
    importers: list[list[int]] = [[] for _ in paths]
    imported: list[list[int]] = [[] for _ in paths]
    for a, b in edges({path: each.imported for path, each in facts.items()}):
        imported[numbers[a]].append(numbers[b])
        importers[numbers[b]].append(numbers[a])
    history = list(commits)
    return Index(
        paths,
        [each.kind for each in facts.values()],
        [each.length for each in facts.values()],
        _inverted(each.terms for each in facts.values()),
        _inverted(_counted([path]) for path in paths),
        _inverted(_counted(each.defined) for each in facts.values()),
        [list(dict.fromkeys(each.defined)) for each in facts.values()],
        importers,
        imported,
        _inverted(commit.terms for commit in history),
        [sum(commit.terms.values()) for commit in history],
        [commit.scope for commit in history],
        [commit.files for commit in history],
    )


def postings(packed: Postings, term: str) -> list[tuple[int, int]]:
    """(number, how often) of everything that contains a term."""
    words = array("I", packed.get(term, b""))
    return [(word >> _BITS, word & _MOST) for word in words]


def _inverted(bags: Iterable[Mapping[str, int]]) -> Postings:
    found: dict[str, list[int]] = {}
    for number, bag in enumerate(bags):
        base = number << _BITS
        for term, times in bag.items():
            word = base + (times if times < _MOST else _MOST)
            if term in found:
                found[term].append(word)
            else:
                found[term] = [word]
    return {term: array("I", words).tobytes() for term, words in found.items()}


def _counted(names: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        for identifier in IDENTIFIER.findall(name):
            for term in terms(identifier):
                counts[term] = counts.get(term, 0) + 1
    return counts
