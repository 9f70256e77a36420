"""The best passage of a file for a query, and words of the query that meet in it."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from foundry.tokenize import IDENTIFIER, terms

HALF = 80
"""Identifiers in half a passage; passages overlap by half."""
Hits = list[tuple[int, tuple[str, ...]]]


class Scored(NamedTuple):
    """How good the passages of a file are, by the whole text and by its first line."""

    best: float = 0.0
    next_best: float = 0.0
    """Of the passages that don't overlap with the best one."""
    meeting: float = 0.0
    """The most that distinct terms weigh within one name or two neighbouring ones."""
    best_subject: float = 0.0
    meeting_subject: float = 0.0
    phrases: float = 0.0
    """What the pairs of terms weigh that follow one another in the query and here."""
    phrase: float = 0.0
    """The heaviest of these pairs."""
    phrases_subject: float = 0.0
    phrase_subject: float = 0.0


Pair = tuple[str, str]


class Passages:
    """Scores texts against one query; weights are those of its terms, rarity included."""

    def __init__(
        self,
        weights: Mapping[str, float],
        subject: Mapping[str, float],
        pairs: Iterable[Pair] = (),
        subject_pairs: Iterable[Pair] = (),
    ) -> None:
        self._weights = weights
        self._subject = subject
        self._matches = _Matches(weights)
        self._pairs = _weighed(pairs, weights)
        self._subject_pairs = _weighed(subject_pairs, weights)

    def score(self, text: str) -> Scored:
        """The scores of one file."""
        matches = self._matches
        names = IDENTIFIER.findall(text)
        hits = [(place, found) for place, name in enumerate(names) if (found := matches[name])]
        if not hits:
            return Scored()
        bags = _bags(hits)
        best, rest = _two_best(bags, self._weights)
        subject, _ = _two_best(bags, self._subject)
        together = _met(hits)
        followed = _followed(hits, self._pairs)
        return Scored(
            best,
            rest,
            max((_heaviest(each, self._weights) for each in together), default=0.0),
            subject,
            max((_heaviest(each, self._subject) for each in together), default=0.0),
            *_phrases(followed, self._pairs),
            *_phrases(followed, self._subject_pairs),
        )


class _Matches(dict[str, tuple[str, ...]]):
    """Which of the query's terms an identifier has; asked once for each identifier."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        super().__init__()
        self._weights = weights

    def __missing__(self, identifier: str) -> tuple[str, ...]:
        found = tuple(term for term in terms(identifier) if term in self._weights)
        self[identifier] = found
        return found


def _bags(hits: Hits) -> dict[int, dict[str, int]]:
    """How often each term occurs in each passage."""
    bags: dict[int, dict[str, int]] = {}
    for place, found in hits:
        slot = place // HALF
        for window in (slot - 1, slot):
            bag = bags.setdefault(window, {})
            for term in found:
                bag[term] = bag.get(term, 0) + 1
    return bags


def _two_best(bags: dict[int, dict[str, int]], weights: Mapping[str, float]) -> tuple[float, float]:
    scores = {
        window: sum(weights[t] * times / (times + 0.6) for t, times in bag.items() if t in weights)
        for window, bag in bags.items()
    }
    top = max(scores, key=lambda window: scores[window])
    return scores[top], max((s for w, s in scores.items() if abs(w - top) > 1), default=0.0)


def _met(hits: Hits) -> set[frozenset[str]]:
    """The sets of terms that stand within one name or two neighbouring ones."""
    found: set[frozenset[str]] = set()
    last_place, last = -9, frozenset[str]()
    for place, names in hits:
        here = frozenset(names)
        both = here | last if place == last_place + 1 else here
        if len(both) > 1:
            found.add(both)
        last_place, last = place, here
    return found


def _heaviest(met: frozenset[str], weights: Mapping[str, float]) -> float:
    known = sorted((weights[term] for term in met if term in weights), reverse=True)[:3]
    return sum(known) if len(known) > 1 else 0.0


def _weighed(pairs: Iterable[Pair], weights: Mapping[str, float]) -> dict[Pair, float]:
    return {(a, b): weights[a] + weights[b] for a, b in pairs if a in weights and b in weights}


def _followed(hits: Hits, pairs: Mapping[Pair, float]) -> dict[Pair, int]:
    """How often the terms of each pair follow one another, in one name or two neighbouring ones."""
    found: dict[Pair, int] = {}
    last_place, last = -9, ""
    for place, names in hits:
        words = [name for name in names if name[0] != "="]
        if place == last_place + 1:
            words.insert(0, last)
        for pair in pairwise(words):
            if pair in pairs:
                found[pair] = found.get(pair, 0) + 1
        last_place, last = place, words[-1] if words else ""
    return found


def _phrases(followed: Mapping[Pair, int], pairs: Mapping[Pair, float]) -> tuple[float, float]:
    """(the weight of all pairs, that of the heaviest)."""
    known = {pair: times for pair, times in followed.items() if pair in pairs}
    whole = sum(pairs[pair] * times / (times + 1) for pair, times in known.items())
    return whole, max((pairs[pair] for pair in known), default=0.0)
