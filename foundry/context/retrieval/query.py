"""A task's text as what it says about files: weighted terms, names, paths, a scope."""

import re
from itertools import pairwise
from typing import NamedTuple

from foundry.tokenize import (
    IDENTIFIER,
    count_terms,
    is_compound,
    parts,
    stem,
    terms,
)

_TYPES = frozenset(
    """feat fix docs doc chore refactor test tests style perf build ci revert wip bug bugfix
    feature add change update merge release deps security improve note""".split()  # noqa: SIM905
)
_SCOPE = re.compile(r"^\W*(?:\w+\(([^)\n]{1,40})\)|([\w./-]{2,40}))!?: ")
_LINK = re.compile(r"https?://\S+")
_PATH = re.compile(r"[\w@.-]*[\w@-](?:/[\w@.-]+)+|\b[\w-]+(?:\.[\w-]+)*\.[a-zA-Z]\w{0,7}\b")
_TICKED = re.compile(r"`([^`\n]{2,80})`")
_QUOTED = re.compile(
    r"`([^`\n]{3,60})`|\"([^\"\n]{3,60})\"|(?<!\w)'([^'\n]{3,60})'(?!\w)|(?<!\S)(--[a-z][\w-]+)"
)
LONGEST = 6000
"""Characters of a text that are read: further ones are logs and listings."""

VAGUE = frozenset(
    stem(word)
    for word in """fix feat feature chore refactor refactoring bug bugfix issue issues problem typo
    lint improve improvement improved add added adding support change changes update updated
    remove removed unused unnecessary necessary better small simple simplify simplified cleanup
    clean proper correct correctly consistent consistently align adjust ensure avoid prevent
    allow enable introduce address handle handling previous previously broken break crash cause
    caused causing regression comprehensive coverage additional different explicit explicitly
    related across entire generic shown apply optimize optimization maintain compatibility
    condition expose later skip indicate deprecate deprecated review feedback scenario happen
    keep pass race logic behavior behaviour actual actually always old new look large long follow
    following respect implement implements implementation reflect two real fall missing replace
    against immediate immediately automatically possible reduce safe accept multiple specific
    suggest suggestion preserve continue back clear first original reject verify modify initial
    rename summary note notes case cases work works working fail fails failing failed unit test
    tests testing instead direct directly already available extra expect expected mean means
    minor tweak tweaks enhance enhancement revert unchanged restore duplicate detect part
    """.split()  # noqa: SIM905
)
"""Words that say what kind of change it is, and not where: files that contain them are changed no
more often than others (measured on 1,486 commits of 27 repositories)."""
_VAGUE_WEIGHT = 0.3


class Query(NamedTuple):
    """What a text says. Weights are how much a term counts before its rarity."""

    terms: dict[str, float]
    subject: dict[str, float]
    """Terms of the first line alone."""
    names: frozenset[str]
    """Identifiers that are written out, folded (`=parserequest`), words in backticks, and
    neighbouring words written as one identifier, as `=backlogplan` for `backlog plan`."""
    pairs: frozenset[tuple[str, str]]
    """Terms that follow one another, stop words left out."""
    quoted: frozenset[str]
    """What stands in backticks or quotes, and options such as `--dry-run`: found literally."""
    paths: frozenset[str]
    """Whatever looks like a path or a file name, lower-case."""
    scope: str
    speaks_of: frozenset[str]
    """`test`, `doc`, `example`, `settings` where the text is about them."""


_SPOKEN = {
    "test": re.compile(r"\btests?\b|\bspecs?\b|\bfixtures?\b|_test\b|\btest_", re.IGNORECASE),
    "doc": re.compile(r"\bdocs?\b|documentation|readme|changelog|\.md\b", re.IGNORECASE),
    "example": re.compile(r"\bexamples?\b|\bsamples?\b|\bdemos?\b", re.IGNORECASE),
    "settings": re.compile(r"\.(?:json|ya?ml|toml|ini|css|html)\b|\bci\b|workflow file|Makefile"),
}


def scope_of(message: str) -> str:
    """The scope that a subject names, as in `fix(parser): …` or `parser: …`; may be empty."""
    match = _SCOPE.match(message)
    if not match:
        return ""
    scope = (match[1] or match[2]).lower()
    return "" if scope in _TYPES else scope


def parse(text: str) -> Query:
    """Read a task's text."""
    text = _LINK.sub(" ", text[:LONGEST]).strip()
    subject = text.partition("\n")[0]
    first = {term: _plain_weight(term) for term in count_terms(subject)}
    return Query(
        {
            term: times**0.5 * _plain_weight(term) * (2 if term in first else 1)
            for term, times in count_terms(text).items()
        },
        first,
        _names(text) | _compounds(text),
        _pairs(text),
        frozenset(next(filter(None, each)) for each in _QUOTED.findall(text)),
        frozenset(path.lower().removeprefix("./") for path in _PATH.findall(text)),
        scope_of(subject),
        frozenset(name for name, form in _SPOKEN.items() if form.search(text)),
    )


def _plain_weight(term: str) -> float:
    return _VAGUE_WEIGHT if term in VAGUE else 1.0


def _names(text: str) -> frozenset[str]:
    """What stands in the text as only code is written."""
    names: set[str] = set()
    for identifier in IDENTIFIER.findall(text):
        if is_compound(identifier):
            names.update(term for term in terms(identifier) if term[0] == "=")
    for ticked in _TICKED.findall(text):
        words = IDENTIFIER.findall(ticked)
        if len(words) == 1:
            names.update(terms(words[0]))
    return frozenset(names)


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for line in text.splitlines():
        words = [t for name in IDENTIFIER.findall(line) for t in terms(name) if t[0] != "="]
        found.update((a, b) for a, b in pairwise(words) if a != b)
    return frozenset(found)


def _compounds(text: str) -> set[str]:
    """Pairs and triples of neighbouring words, and words that code may write in two parts."""
    found: set[str] = set()
    for line in text.splitlines():
        words = [part for name in IDENTIFIER.findall(line) for part in parts(name)]
        found.update("=" + word for word in words if len(word) > 5)
        found.update("=" + a + b for a, b in pairwise(words))
        found.update("=" + a + b + c for a, b, c in zip(words, words[1:], words[2:], strict=False))
    return found
