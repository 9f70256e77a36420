"""Patterns that begin with lookaheads, which public documents have and RE2 has not: still linear.

`^(?!.*TODO)(?=.*done)rest` is three matches at the beginning of the text, each by RE2. A pattern
that is nothing but `(?=P)` is a search for P. One that is nothing but `(?!P)` holds for every text
as soon as P needs a character, as it need not look further than the end. Everything else that RE2
has not is refused.
"""

import re
from dataclasses import dataclass
from typing import Any

from foundry.workflow import regex

_CLASS_BEGINS = re.compile(r"\^?\]?")
"""What stands first in a class and does not end it."""

_HEAD = re.compile(r"\(\?([=!])")


@dataclass(frozen=True, slots=True)
class _Start:
    """All heads and the rest, looked at where the text begins."""

    heads: tuple[tuple[bool, Any], ...]
    rest: Any

    def search(self, text: str) -> Any:
        """Whether the text begins so; None: it does not."""
        if all((head.match(text) is not None) is wanted for wanted, head in self.heads):
            return self.rest.match(text)
        return None


@dataclass(frozen=True, slots=True)
class Anything:
    """What every text matches."""

    def search(self, text: str) -> Any:
        """Always true."""
        return True


def compiled(pattern: str, flags: str = "i") -> Any:
    """A pattern with `.search(text)`; raises ValueError that says what is wrong with it."""
    if len(pattern) > regex.LONGEST:
        return regex.compiled(pattern, flags)  # which says so
    anchored = pattern.startswith("^") and "m" not in flags
    heads, rest = _split(pattern[1:] if anchored else pattern)
    if not heads or _alternatives(rest):
        return regex.compiled(pattern, flags)
    if anchored:
        looks = tuple((kind == "=", regex.compiled(inside, flags)) for kind, inside in heads)
        return _Start(looks, regex.compiled(rest, flags))
    [(kind, inside), *more] = heads
    if not more and not rest and kind == "=":
        return regex.compiled(inside, flags)
    if not more and not rest and _needs_a_character(inside, flags):
        return Anything()
    raise ValueError(
        f"{pattern!r} looks ahead anywhere in the text, which RE2 can't: begin it with '^' "
        "(without the flag m)"
    )


def _needs_a_character(pattern: str, flags: str) -> bool:
    """Whether it can't match at the end of a text, where there is nothing left."""
    places = re.search(r"\\[bBzZ]|\$", pattern)
    return places is None and regex.compiled(pattern, flags).match("") is None


def _split(pattern: str) -> tuple[list[tuple[str, str]], str]:
    """The lookaheads that a pattern begins with, and what follows them."""
    heads = []
    while head := _HEAD.match(pattern):
        end = _closing(pattern)
        if end is None:
            break
        heads.append((head[1], pattern[head.end() : end]))
        pattern = pattern[end + 1 :]
    return heads, pattern


def _closing(pattern: str) -> int | None:
    """Where the group ends that a pattern begins with."""
    return next((at for at, depth, _ in _walk(pattern) if depth == 0), None)


def _alternatives(pattern: str) -> bool:
    return any(depth == 0 and sign == "|" for _, depth, sign in _walk(pattern))


def _walk(pattern: str) -> list[tuple[int, int, str]]:
    """Each sign that is neither escaped nor in a class: its place, the depth after it, itself."""
    found, depth, in_class, at = [], 0, False, 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 2
            continue
        if in_class:
            in_class = sign != "]"
        elif sign == "[":
            in_class = True
            at += len(_CLASS_BEGINS.match(pattern, at + 1)[0])  # type: ignore[index]
        else:
            depth += (sign == "(") - (sign == ")")
            found.append((at, depth, sign))
        at += 1
    return found
