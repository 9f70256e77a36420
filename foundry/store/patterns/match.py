"""Which patterns a phase of a build should be told: whole words, rare ones first, or none.

A pattern fits when the build shares its technology, its project type, one of its keywords, or
two words of its title. General advice (`project_types: ["any"]`) fits without any of these when
it is of high severity. A pattern that names technologies never fits a build with none of them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from math import log1p

from foundry import ranking
from foundry.schema.learning import Pattern, Phase
from foundry.tokenize import words

ANY = "any"
HALF_LIFE_DAYS = 90

_GENERIC_WORDS = (
    "app application based build check code command create data error fail file fix make new "
    "program project run service should simple small software store support system test tool "
    "type use user work write"
)
_GENERIC = frozenset(_GENERIC_WORDS.split())
_ALIASES = {
    "golang": "tech:go",
    "javascript": "js",
    "k8s": "kubernete",
    "nodejs": "node",
    "postgre": "postgresql",
    "py": "python",
    "reactjs": "react",
    "typescript": "ts",
    "vuejs": "vue",
}
_ALSO_ENGLISH_WORDS = "c d echo express flask gin go next r rest spring"
_ALSO_ENGLISH = frozenset(_ALSO_ENGLISH_WORDS.split())
_GENERAL = 0.5
_WEIGHT = {"low": 0.7, "medium": 1.0, "high": 1.3, "critical": 1.6}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is known of a build; type and stack are empty until Scout has looked."""

    project_type: str
    tech_stack: tuple[str, ...]
    spec: str
    phase: Phase


def match(
    patterns: Iterable[Pattern], wanted: Wanted, *, today: date, limit: int = 5
) -> list[Pattern]:
    """At most `limit` patterns for the phase, best first; the same input gives the same order."""
    library = [(pattern, _Terms.of(pattern)) for pattern in patterns]
    rarity = _rarity([terms.all() for _, terms in library])
    known = _Known.of(wanted)
    scored = []
    for pattern, terms in library:
        shared = terms.shared_with(known) if wanted.phase in pattern.phases else None
        if shared is not None:
            relevance = _GENERAL + sum(rarity[term] for term in sorted(shared))
            score = relevance * _WEIGHT[pattern.severity] * _familiarity(pattern, today)
            scored.append((-score, pattern.id, pattern))
    return [pattern for _, _, pattern in sorted(scored, key=lambda each: each[:2])[:limit]]


@dataclass(frozen=True, slots=True)
class _Known:
    """The words of a build. What Scout has not named yet is looked for in the spec."""

    technologies: frozenset[str]
    types: frozenset[str]
    prose: frozenset[str]

    @classmethod
    def of(cls, wanted: Wanted) -> "_Known":
        spec = _terms(wanted.spec)
        types = _terms(wanted.project_type)
        technologies = _technologies(wanted.tech_stack)
        return cls(technologies or spec, types or spec, spec | types | technologies)


@dataclass(frozen=True, slots=True)
class _Terms:
    """The words of a pattern, by what they say about it."""

    technologies: frozenset[str]
    types: frozenset[str]
    keywords: tuple[frozenset[str], ...]
    title: frozenset[str]
    general: bool

    @classmethod
    def of(cls, pattern: Pattern) -> "_Terms":
        return cls(
            technologies=_technologies(pattern.tech_stack),
            types=_telling(" ".join(pattern.project_types)) - {ANY},
            keywords=tuple(terms for each in pattern.keywords if (terms := _terms(each))),
            title=_telling(pattern.title),
            general=ANY in pattern.project_types and pattern.severity in ("high", "critical"),
        )

    def all(self) -> frozenset[str]:
        """Every word once."""
        return self.technologies.union(self.types, self.title, *self.keywords)

    def shared_with(self, known: _Known) -> frozenset[str] | None:
        """The words that speak for the pattern, or None when it does not fit."""
        technologies = self.technologies & known.technologies
        if self.technologies and not technologies:
            return None
        keywords = [phrase for phrase in self.keywords if phrase <= known.prose]
        strong = technologies.union(self.types & known.types, *keywords)
        title = self.title & known.prose
        if strong or self.general or len(title) >= 2:
            return strong | title
        return None


def _terms(text: str) -> frozenset[str]:
    return frozenset(_ALIASES.get(word, word) for word in words(text))


def _telling(text: str) -> frozenset[str]:
    return frozenset(term for term in _terms(text) - _GENERIC if not term.isdigit())


def _technologies(names: Iterable[str]) -> frozenset[str]:
    """In a list of technologies "go" is a language, in prose it is a verb: keep them apart."""
    terms = _terms("\n".join(names))
    return frozenset(
        f"tech:{term}" if term in _ALSO_ENGLISH else term for term in terms if not term.isdigit()
    )


def _rarity(library: Sequence[frozenset[str]]) -> dict[str, float]:
    """The inverse document frequency of each word, as in BM25: always positive."""
    counts = Counter(term for terms in library for term in terms)
    total = len(library)
    return {term: ranking.rarity(n, total) for term, n in counts.items()}


def _familiarity(pattern: Pattern, today: date) -> float:
    """How often the lesson was met; a sighting counts half after each half-life."""
    age = max(0, (today - pattern.last_seen).days)
    return 1 + log1p(pattern.frequency * 0.5 ** (age / HALF_LIFE_DAYS))
