"""What code says once comments and formatting are taken away. Pure.

Not a parser: a table of what comments look like in a family of languages, whether lines and
indentation mean something there, and one pass over the tokens. Where it can't know (an unknown
language, a hunk that begins within a comment), the text stays as it is, so that a change counts.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

Skeleton = tuple[tuple[str, ...], ...]
"""Logical lines, each its tokens; where indentation matters, the first token is the indentation."""

_HASH = r"#[^\n]*"
_SPACED_HASH = r"(?:(?<=\s)|^)#[^\n]*"
_SLASHES = r"//[^\n]*|/\*.*?\*/"
_STARS = r"^[ \t]*\*(?:/|[ \t][^;(){}=\n]*)?$"  # within a comment that began above the hunk
_DASHES = r"--[^\n]*"
_MARKUP = r"<!--.*?-->"

_OPEN = r"(?:/\*|<!--).*\Z"
"""A comment that ends below the hunk: how much of it is one can't be known, so all of it counts.

Taken whole, as looking for the end of each of many takes time quadratic to the text."""

_DIRECTIVE = re.compile(
    r"^[ \t]*(#!|(#|//|/\*) ?(type:|noqa|pragma|pylint|ruff|mypy|pyright|fmt:|isort|shellcheck|"
    r"-\*-|@ts-|eslint|prettier|biome|go:|nolint|\+build|nosec|istanbul|c8 |v8 ))",
    re.IGNORECASE,
)
"""Comments that tools obey."""

_STRINGS = r'"(?:\\.|[^"\\\n])*"' r"|'(?:\\.|[^'\\\n])*'"
_LONG_STRINGS = r'"""(?:\\.|[^\\])*?"""' r"|'''(?:\\.|[^\\])*?'''"
_TEMPLATES = r"`(?:\\.|[^`\\])*`"


@dataclass(frozen=True, slots=True)
class _Language:
    """How a family of languages is written."""

    comments: str = ""
    strings: str = _STRINGS
    lines: bool = False
    """A line break ends a statement, unless it is within brackets."""
    indents: bool = False
    """Indentation means something."""
    same_quotes: bool = False
    """Single and double quotes mean the same."""
    docstrings: bool = False
    """A string that stands alone is a comment."""


_PYTHON = _Language(_HASH, f"{_LONG_STRINGS}|{_STRINGS}", True, True, True, True)
_SHELL = _Language(_SPACED_HASH, lines=True)
_OUTLINE = _Language(_SPACED_HASH, lines=True, indents=True)
_BRACES = _Language(f"{_SLASHES}|{_STARS}")
_SCRIPT = _Language(f"{_SLASHES}|{_STARS}", f"{_STRINGS}|{_TEMPLATES}", same_quotes=True)
_STRICT_BRACES = _Language(_SLASHES, rf'"(?:\\.|[^"\\])*"|{_TEMPLATES}')
_UNKNOWN = _Language(lines=True, indents=True)

_LANGUAGES = {
    ".py .pyi .pyx": _PYTHON,
    ".sh .bash .zsh .fish .rb .pl .r .toml .ini .cfg .conf .env .tf .dockerfile": _SHELL,
    ".yaml .yml .coffee .nim .mk": _OUTLINE,
    ".c .h .cc .cpp .hpp .cxx .m .java .kt .kts .scala .swift .cs .dart .php .proto .css .scss "
    ".less .groovy .gradle": _BRACES,
    ".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte": _SCRIPT,
    ".go .rs .zig": _STRICT_BRACES,
    ".sql": _Language(rf"{_DASHES}|/\*.*?\*/"),
    ".lua .elm": _Language(_DASHES, lines=True),
    ".hs": _Language(_DASHES, lines=True, indents=True),
    ".html .htm .xml .svg .xhtml": _Language(_MARKUP),
    ".json .jsonc .geojson": _Language(),
}
_BY_SUFFIX = {suffix: language for key, language in _LANGUAGES.items() for suffix in key.split()}
_BY_NAME = {"Dockerfile": _SHELL, "Makefile": _OUTLINE, "GNUmakefile": _OUTLINE}

_OPENING, _CLOSING = "([{", ")]}"


def skeleton(lines: Sequence[str], path: str) -> Skeleton:
    """What lines of a file say: equal skeletons, equal code."""
    language = _language(path)
    return tuple(_logical(_tokens("\n".join(lines), language), language))


def _language(path: str) -> _Language:
    name = PurePosixPath(path)
    return _BY_NAME.get(name.name) or _BY_SUFFIX.get(name.suffix.lower(), _UNKNOWN)


@cache
def _pattern(language: _Language) -> re.Pattern[str]:
    kinds = [
        ("comment", language.comments),
        ("open", _OPEN if "*/" in language.comments or "-->" in language.comments else ""),
        ("string", language.strings),
        ("line", r"\n"),
        ("space", r"[^\S\n]+"),
        ("word", r"\w+"),
        ("sign", r"."),
    ]
    form = "|".join(f"(?P<{kind}>{each})" for kind, each in kinds if each)
    return re.compile(form, re.DOTALL | re.MULTILINE)


def _tokens(text: str, language: _Language) -> Iterator[tuple[str, str]]:
    """Kind and text of every token; comments that tools obey are words."""
    for match in _pattern(language).finditer(text):
        kind, token = str(match.lastgroup), match[0]
        if kind == "comment":
            if _DIRECTIVE.match(token):
                yield "word", token.strip()
            continue
        yield kind, _quoted(token) if kind == "string" and language.same_quotes else token


def _quoted(string: str) -> str:
    """A plain string in double quotes, as formatters write it."""
    inner = string[1:-1]
    return string if string[:3] in ('"""', "'''") or set(inner) & set("\"'\\") else f'"{inner}"'


def _logical(tokens: Iterator[tuple[str, str]], language: _Language) -> Iterator[tuple[str, ...]]:
    """Tokens as logical lines; without comments, blank lines and lines of a string alone."""
    line: list[str] = []
    kinds: set[str] = set()
    indent, depth, broken = "", 0, True  # broken: at the beginning of a physical line
    for kind, token in tokens:
        if kind == "line":
            broken = True
            if language.lines and not depth:
                yield from _whole(line, kinds, indent, language)
                line, kinds, indent = [], set(), ""
        elif kind == "space":
            indent = token if broken and not line else indent
        else:
            if kind == "sign":
                depth = max(0, depth + (token in _OPENING) - (token in _CLOSING))
                if broken and token in _CLOSING and line and line[-1] == ",":
                    line.pop()  # the comma that formatters leave before a closing bracket
            line.append(token)
            kinds.add(kind)
            broken = False
    yield from _whole(line, kinds, indent, language)


def _whole(
    line: list[str], kinds: set[str], indent: str, language: _Language
) -> Iterator[tuple[str, ...]]:
    if not line or (language.docstrings and kinds == {"string"}):
        return
    yield (indent.expandtabs(), *line) if language.indents else tuple(line)
