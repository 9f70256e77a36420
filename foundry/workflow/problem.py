"""What is wrong with a document, and where."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

Loc = tuple[str | int, ...]
"""The way from the document to a value in it: keys and list indexes."""

Level = Literal["error", "warning"]

MANY = 200
"""Names, or characters of a name, that are still compared for likeness."""

SHOWN = 30
"""Names that a message lists."""

_SIMPLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong; the message says what to do about it."""

    path: str
    """JSONPath (RFC 9535), `$.steps[2].loop.count`."""
    message: str
    level: Level

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem whose location is still the way through the document."""

    loc: Loc
    message: str
    level: Level = "error"

    @property
    def problem(self) -> Problem:
        """The same for people."""
        return Problem(json_path(self.loc), self.message, self.level)


def json_path(loc: Loc) -> str:
    """A way through a document as a JSONPath."""
    return "$" + "".join(map(_segment, loc))


def did_you_mean(name: str, known: Collection[str]) -> str:
    """`: did you mean 'prompt'?`, or nothing where no known name is close."""
    if len(known) > MANY or len(name) > MANY:
        return ""  # comparing with each would take longer than it helps
    close = get_close_matches(name.lower(), {each.lower(): None for each in known}, n=1)
    found = next((each for each in known if close and each.lower() == close[0]), None)
    return f": did you mean {found!r}?" if found else ""


def name_list(names: Collection[str]) -> str:
    """Names in a row, sorted; of many only the first, of very many only how many."""
    if len(names) > MANY:
        return f"{len(names)} of them"
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(sorted(names)[:SHOWN]) + more or "none"


def value_text(value: Any) -> str:
    """A value as text, short enough for a message."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {value[:40] + '…' if len(value) > 40 else value!r}"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return str(value)[:40]


def _segment(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    if _SIMPLE.fullmatch(part):
        return f".{part}"
    escaped = part.replace("\\", "\\\\").replace("'", "\\'")
    return "['" + escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + "']"
