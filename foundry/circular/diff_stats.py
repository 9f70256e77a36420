"""What a unified diff comes to: does it change what the code does, and what of the tests? Pure.

A change is *documentation* in a document; *cosmetic* where the code says the same without comments
and formatting; everything else is *substantive*: when in doubt, it is. Files that were renamed,
made executable or are binary count as one substantive line each.

What code says is found without a parser: a table of what comments look like in a family of
languages, whether lines and indentation mean something there, and one pass over the tokens. Where
that can't tell (an unknown language, a hunk that begins within a comment), the text stays as it is,
so that a change counts.

Tests, assertions and skips are counted by what they look like in the languages that most projects
are written in. A line that is commented out counts for nothing, and neither does an assertion that
can't fail.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePosixPath

from foundry.circular.schema import ChangeSummary

_DOCUMENT = re.compile(
    r"(^|/)(docs?/.*|(README|LICENSE|COPYING|NOTICE|AUTHORS|CHANGELOG|CHANGES|CONTRIBUTING)[^/.]*)$"
    r"|\.(md|markdown|rst|adoc|txt)$",
    re.IGNORECASE,
)
_NO_DOCUMENT = re.compile(
    r"(^|/)(requirements[^/]*|constraints[^/]*|CMakeLists|robots)\.txt$|"
    r"(^|/)docs?/.*\.(py|js|ts|sh|toml|json|ya?ml|cfg|ini)$",
    re.IGNORECASE,
)
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_MARKS = ("rename to ", "copy to ", "new mode ", "Binary files ", "GIT binary patch")
_ESCAPE = re.compile(r'\\([0-7]{3}|[abtnvfr"\\])')
_ESCAPED = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


@dataclass(slots=True)
class _File:
    """The lines of one file in a diff: hunk by hunk, the old ones and the new ones."""

    path: str = ""
    marked: bool = False
    hunks: list[list[str]] = field(default_factory=list)

    def side(self, hunk: list[str], sign: str) -> list[str]:
        """A hunk as it was (`-`) or is (`+`), what it keeps included."""
        return [line[1:] for line in hunk if line[:1] in (sign, " ", "")]

    def changed(self, sign: str) -> list[str]:
        """All lines that were added or removed."""
        return [line[1:] for hunk in self.hunks for line in hunk if line[:1] == sign]


def summarise(diff: str) -> ChangeSummary:
    """The summary of a unified diff as git writes it (`git diff --no-color`)."""
    return sum(map(_summary, _files(diff)), start=ChangeSummary())


def is_document(path: str) -> bool:
    """Whether a file is for people only."""
    return bool(_DOCUMENT.search(path)) and not _NO_DOCUMENT.search(path)


def _summary(file: _File) -> ChangeSummary:
    added, removed = file.changed("+"), file.changed("-")
    changed = len(added) + len(removed)
    common = {"files": (file.path,), "added": len(added), "removed": len(removed)}
    if is_document(file.path) and not file.marked:
        return ChangeSummary(**common, documentation=changed)
    substantive = sum(_substantive(file, hunk) for hunk in file.hunks)
    cosmetic = changed - substantive
    net = _code_lines(added, file.path) - _code_lines(removed, file.path)
    if not is_test_file(file.path):
        return ChangeSummary(
            **common, substantive=substantive + file.marked, cosmetic=cosmetic, code_lines=net
        )
    new, old = count_tests(added, file.path), count_tests(removed, file.path)
    functions, assertions, skips = (now - before for now, before in zip(new, old, strict=True))
    return ChangeSummary(
        **common,
        substantive=substantive + file.marked,
        cosmetic=cosmetic,
        test_lines=net,
        test_functions=functions,
        assertions=assertions,
        skips=skips,
    )


def _substantive(file: _File, hunk: list[str]) -> int:
    """The changed lines of a hunk that are not only comments, blank lines and formatting."""
    old, new = (significant(file.side(hunk, sign), file.path) for sign in "-+")
    if old == new:
        return 0
    return sum(
        1 for line in hunk if line[:1] in "+-" and line and significant([line[1:]], file.path)
    ) or sum(1 for line in hunk if line[:1] in "+-" and line)


def _code_lines(lines: list[str], path: str) -> int:
    return sum(1 for line in lines if significant([line], path))


def _files(diff: str) -> Iterator[_File]:
    """The files of a diff. Hunks are read by the numbers in their heads, so that a removed line
    `-- a/x` is not taken for the head of a file."""
    file: _File | None = None
    old = new = 0
    for line in diff.split("\n"):
        if old > 0 or new > 0:
            if file is None or line.startswith("\\"):
                continue
            file.hunks[-1].append(line)
            old -= line[:1] != "+"
            new -= line[:1] != "-"
        elif line.startswith("diff --git "):
            if file is not None:
                yield file
            file = _File(_path(line.rpartition(" ")[2]))
        elif file is not None and (head := _HUNK.match(line)):
            old, new = (int(each) if each is not None else 1 for each in head.groups())
            file.hunks.append([])
        elif file is not None:
            _take_head(file, line)
    if file is not None:
        yield file


def _take_head(file: _File, line: str) -> None:
    """A line between the head of a file and its first hunk."""
    file.marked = file.marked or line.startswith(_MARKS)
    if line.startswith(("+++ ", "--- ")) and not line.endswith("/dev/null"):
        file.path = _path(line[4:].rstrip("\t"))
    elif line.startswith("rename to "):
        file.path = _unquoted(line[len("rename to ") :])


def _path(name: str) -> str:
    """A path of a diff without git's `a/` and `b/`."""
    return _unquoted(name).removeprefix("a/").removeprefix("b/")


def _unquoted(name: str) -> str:
    """A path that git put in quotes because of odd characters."""
    if not (name.startswith('"') and name.endswith('"')):
        return name
    data = bytearray()
    at, body = 0, name[1:-1]
    for match in _ESCAPE.finditer(body):
        data += body[at : match.start()].encode(errors="surrogateescape")
        code = match[1]
        data.append(_ESCAPED[code] if code in _ESCAPED else int(code, 8) & 0xFF)
        at = match.end()
    data += body[at:].encode(errors="surrogateescape")
    return data.decode(errors="replace")


# -- what code says --------------------------------------------------------------------------------

Lines = tuple[tuple[str, ...], ...]
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


def significant(lines: Sequence[str], path: str) -> Lines:
    """What lines of a file say without comments and formatting: equal lines, equal code."""
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


# -- tests -----------------------------------------------------------------------------------------

_TEST_FILE = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testing|e2e)/|(^|/)(test_|conftest)[^/]*$|"
    r"[_.-](tests?|spec)\.\w+$|Tests?\.\w+$"
)
_COMMENT = re.compile(r"^\s*(#(?!\[)|//|/?\*|--)")
_FUNCTION = re.compile(
    r"^\s*(async )?def test\w*|\b(it|test)(\.(each|only|concurrent)\b.*)?\s*\(\s*[\"'`]|"
    r"^\s*func (Test|Fuzz)\w*\(|^\s*#\[(\w+::)?test\]|^\s*@(Parameterized)?Test\b|"
    r"^\s*(it|specify|scenario)\s+[\"']"
)
_ASSERTION = re.compile(
    r"\bassert(?!ion)\w*|\bexpect\s*\(|\bpytest\.raises\b|\.should\b|\bXCTAssert\w*|"
    r"\bt\.(Error|Errorf|Fatal|Fatalf|Fail|FailNow)\b|\brequire\.\w+\(|\b(refute|verify)\w*\("
)
_SHELL_ASSERTION = re.compile(r"\bgrep -q|\btest -|\btest \"|\[ ")
_EMPTY = re.compile(
    r"\bassert(\s+|\s*\(\s*)(True|true|1|not False|1 == 1|True is True)\s*[,);]*\s*($|#|[\"'])|"
    r"\bassertTrue\(\s*[Tt]rue\b|\bassert!\(\s*true\b|"
    r"\bexpect\(\s*(true|1)\s*\)\.(toBe|toEqual|toBeTruthy)\(\s*(true|1)?\s*\)"
)
_SKIP = re.compile(
    r"\bpytest\.(skip|xfail|importorskip)\(|@?\b(pytest\.)?mark\.(skip|skipif|xfail)\b|"
    r"@(unittest\.)?(skip|skipIf|skipUnless|expectedFailure)\b|\bself\.skipTest\(|"
    r"\b(it|test|describe|context)\.(skip|todo|failing|fixme)\b|\bx(it|describe|test)\s*\(|"
    r"\bt\.Skip\w*\(|#\[ignore\b|@(Disabled|Ignore)\b"
)


def is_test_file(path: str) -> bool:
    """Whether a file is there to test others, by its name."""
    return bool(_TEST_FILE.search(str(PurePosixPath(path))))


def count_tests(lines: Iterable[str], path: str) -> tuple[int, int, int]:
    """Test functions, assertions and skips in lines of a test file."""
    code = [line for line in lines if not _COMMENT.match(line)]
    shell = path.endswith((".sh", ".bats", ".bash"))
    functions = sum(1 for line in code if _FUNCTION.search(line))
    assertions = sum(1 for line in code if _asserts(line, shell=shell))
    return functions, assertions, sum(1 for line in code if _SKIP.search(line))


def _asserts(line: str, *, shell: bool) -> bool:
    found = _ASSERTION.search(line) or (shell and _SHELL_ASSERTION.search(line))
    return bool(found) and not _EMPTY.search(line)
