"""What a unified diff comes to: does it change what the code does, and what of the tests? Pure.

A change is *documentation* in a document; *cosmetic* where the code says the same without comments
and formatting (see skeleton.py); everything else is *substantive*: when in doubt, it is. Files that
were renamed, made executable or are binary count as one substantive line each.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from foundry.circular.diff_stats import skeleton
from foundry.circular.schema import ChangeSummary
from foundry.circular.tally import is_test_file, tally

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
    new, old = tally(added, file.path), tally(removed, file.path)
    return ChangeSummary(
        **common,
        substantive=substantive + file.marked,
        cosmetic=cosmetic,
        test_lines=net,
        test_functions=new.functions - old.functions,
        assertions=new.assertions - old.assertions,
        skips=new.skips - old.skips,
    )


def _substantive(file: _File, hunk: list[str]) -> int:
    """The changed lines of a hunk that are not only comments, blank lines and formatting."""
    old, new = (skeleton(file.side(hunk, sign), file.path) for sign in "-+")
    if old == new:
        return 0
    return sum(
        1 for line in hunk if line[:1] in "+-" and line and skeleton([line[1:]], file.path)
    ) or sum(1 for line in hunk if line[:1] in "+-" and line)


def _code_lines(lines: list[str], path: str) -> int:
    return sum(1 for line in lines if skeleton([line], path))


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
