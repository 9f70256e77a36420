"""The index of a project, inverted so that a query reads only the postings of its own terms."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from foundry import ranking
from foundry.context.retrieval.analysis import Facts
from foundry.context.retrieval.history import Commit
from foundry.context.retrieval.languages import edges
from foundry.tokenize import count_terms

_BITS = 12
_MOST = (1 << _BITS) - 1
Postings = dict[str, bytes]
"""For each term the numbers of those that contain it and how often, packed into 32-bit words."""
Scores = dict[int, float]
"""Files (or commits) by number; those that are missing have none."""


class Index(NamedTuple):
    """Everything that a query needs; plain values, so that it goes to disk as it is."""

    paths: list[str]
    kinds: list[int]
    lengths: list[int]
    content: Postings
    named: Postings
    """Terms of the paths."""
    defined: Postings
    """Terms of the names that each file defines."""
    names: list[list[str]]
    """The names that each file defines, each once."""
    importers: list[list[int]]
    """The files that import each file."""
    messages: Postings
    """Terms of the commits."""
    message_lengths: list[int]
    changed: list[list[int]]
    """The files of each commit, newest first."""


def build(facts: Mapping[str, Facts], commits: Iterable[Commit]) -> Index:
    """The index of these files and commits; commits name files by their place in `facts`."""
    paths = list(facts)
    numbers = {path: number for number, path in enumerate(paths)}
    importers: list[list[int]] = [[] for _ in paths]
    for a, b in edges({path: each.imported for path, each in facts.items()}):
        importers[numbers[b]].append(numbers[a])
    history = list(commits)
    return Index(
        paths,
        [each.kind for each in facts.values()],
        [each.length for each in facts.values()],
        _inverted(each.terms for each in facts.values()),
        _inverted(count_terms(path) for path in paths),
        _inverted(count_terms("\n".join(each.defined)) for each in facts.values()),
        [list(dict.fromkeys(each.defined)) for each in facts.values()],
        importers,
        _inverted(commit.terms for commit in history),
        [sum(commit.terms.values()) for commit in history],
        [commit.files for commit in history],
    )


def postings(packed: Postings, term: str) -> list[tuple[int, int]]:
    """(number, how often) of everything that contains a term."""
    words = array("I", packed.get(term, b""))
    return [(word >> _BITS, word & _MOST) for word in words]


def rarity(packed: Postings, asked: Iterable[str], total: int) -> dict[str, float]:
    """The inverse document frequency of each term that occurs."""
    found = {}
    for term in asked:
        having = len(packed.get(term, b"")) // 4
        if having:
            found[term] = ranking.rarity(having, total)
    return found


def bm25(
    packed: Postings, weights: Mapping[str, float], lengths: Sequence[int], *, k: float, b: float
) -> Scores:
    """Okapi BM25 with weighted query terms."""
    rare = rarity(packed, weights, len(lengths))
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    mean = mean or 1.0
    base = [ranking.length_penalty(length, mean, k=k, b=b) for length in lengths]
    scores: Scores = {}
    for term, worth in rare.items():
        gain = weights[term] * worth * (k + 1)
        for number, times in postings(packed, term):
            scores[number] = scores.get(number, 0.0) + gain * times / (times + base[number])
    return scores


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
