"""Text and source code as terms: words, the parts of identifiers, lightly stemmed.

`count_terms` and `terms` are what retrieval and the memory search by. `words` is for prose, and
milder: the ids of patterns are made from it, so what it gives for a text must stay the same.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import cache

IDENTIFIER = re.compile(r"[^\W\d]\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_VOWEL = re.compile(r"[aeiouy]")
_ENDINGS = ("ations", "ation", "ments", "ment", "ingly", "ings", "ing", "ions", "ion", "ers",
            "ors", "ies", "ied", "able", "ible", "ness", "edly", "ed", "er", "or", "es", "ly",
            "al", "s", "e", "y")  # fmt: skip
LONGEST = 60
"""Longer identifiers are hashes and encoded data."""

STOP_WORDS = frozenset(
    """a about above after all also although an and any are as at be because been before being
    between both but by can cannot could did do does doing done don down due during each either
    etc even ever every few for from get gets getting give given had has have having here how
    however if in instead into is it its itself just let like made make makes making many may
    might more most much must my need needed needs neither no nor not now of off on once one only
    onto or other our out over own per please properly rather same see she should since so some
    still such sure than that the their them then there these they this those though through to
    too under until up upon us use used uses using very via want was way we well were what when
    where whether which while who whose why will with within without would yet you your
    """.split()  # noqa: SIM905 - a list of a hundred strings is harder to read
)


_SHORT = {
    form: short
    for long, short in {
        "address": "addr", "argument": "arg", "attribute": "attr", "authentication": "auth",
        "authenticate": "auth", "authorization": "auth", "background": "bg", "button": "btn",
        "calculate": "calc", "character": "char", "command": "cmd", "configuration": "config",
        "configure": "config", "connection": "conn", "context": "ctx", "database": "db",
        "destination": "dst", "dest": "dst", "development": "dev", "directory": "dir",
        "directories": "dir", "folder": "dir", "document": "doc", "documentation": "doc",
        "environment": "env", "error": "err", "execute": "exec", "execution": "exec",
        "expression": "expr", "foreground": "fg", "function": "func", "generate": "gen",
        "generation": "gen", "generator": "gen", "identifier": "id", "image": "img",
        "implementation": "impl", "information": "info", "initialize": "init",
        "initialise": "init", "initialization": "init", "javascript": "js", "keyboard": "key",
        "length": "len", "library": "lib", "libraries": "lib", "markdown": "md",
        "maximum": "max", "message": "msg", "minimum": "min", "number": "num", "object": "obj",
        "operation": "op", "option": "opt", "original": "orig", "package": "pkg",
        "parameter": "param", "position": "pos", "previous": "prev", "property": "prop",
        "properties": "prop", "python": "py", "reference": "ref", "repository": "repo",
        "repositories": "repo", "request": "req", "response": "resp", "source": "src",
        "specification": "spec", "statistic": "stat", "statistics": "stat", "string": "str",
        "synchronize": "sync", "synchronization": "sync", "asynchronous": "async",
        "temporary": "tmp", "temp": "tmp", "template": "tmpl", "typescript": "ts",
        "utility": "util", "utilities": "util", "value": "val", "variable": "var",
        "version": "ver", "window": "win",
    }.items()
    for form in (long, long + "s", short + "s")
}  # fmt: skip
"""What programmers abbreviate, by its abbreviation."""


@cache
def stem(word: str) -> str:
    """A lower-case word without its ending; crude on purpose, the same for text and code."""
    if word in _SHORT:
        return _SHORT[word]
    for ending in _ENDINGS:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if len(rest) >= 3 and _VOWEL.search(rest):
                return _undoubled(rest)
    return word


def _undoubled(rest: str) -> str:
    if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "aeiouls":
        return rest[:-1]
    return rest[:-1] if len(rest) > 3 and rest[-1] in "ey" else rest


def parts(identifier: str) -> list[str]:
    """The words of an identifier, lower-case: `parseHTTPRequest` → parse, http, request."""
    return [part.lower() for part in _PART.findall(identifier)]


@cache
def terms(identifier: str) -> tuple[str, ...]:
    """What an identifier is found by: the stems of its words, and itself when it has several.

    The whole is folded to `=parsehttprequest`, so that one term finds it in every spelling.
    """
    if len(identifier) > LONGEST:
        return ()
    words = parts(identifier)
    found = [stem(word) for word in words if len(word) > 1 and word not in STOP_WORDS]
    if len(words) > 1:
        found.append("=" + "".join(words))
    return tuple(found)


def count_terms(text: str) -> dict[str, int]:
    """The terms of a text, by how often they occur."""
    return terms_of(Counter(IDENTIFIER.findall(text)))


def terms_of(identifiers: Mapping[str, int]) -> dict[str, int]:
    """The terms of identifiers that are counted already: each is taken apart only once."""
    counts: dict[str, int] = {}
    get = counts.get
    for identifier, times in identifiers.items():
        for term in terms(identifier):
            counts[term] = get(term, 0) + times
    return counts


def is_compound(identifier: str) -> bool:
    """Is this a name that only code has: several words, or capitals and underscores?"""
    return len(parts(identifier)) > 1


_FILLER = frozenset(
    """a an and are as at be but by can do does for from has have how if in into is it its of on or
    that the their then this to was were when which while will with you your""".split()  # noqa: SIM905
)
_WORD = re.compile(r"(?<!\w)c\+\+|(?<!\w)[cf]#|\.net\b|[^\W_]+")
_SHORTEST_PLURAL = 4


def words(text: str) -> tuple[str, ...]:
    """The words of a text in their order: folded case, singular, filler left out."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = re.sub(r"\bcommand[- ]line\b", "cli", re.sub(r"\.js\b", "js", folded))
    return tuple(_singular(word) for word in _WORD.findall(folded) if word not in _FILLER)


def _singular(word: str) -> str:
    if word == "apis":
        return "api"
    if len(word) < _SHORTEST_PLURAL or word.endswith(("ss", "us", "is", "js")):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")
