"""Regular expressions that can't hang: RE2 matches in time linear to the text.

RE2 has no lookarounds and no backreferences; a pattern that needs one is refused when the document
is validated, so that a run never waits for it. The exception are lookaheads that a pattern begins
with, which public documents have: `^(?!.*TODO)(?=.*done)rest` is three matches at the beginning of
the text, each by RE2. A pattern that is nothing but `(?=P)` is a search for P. One that is nothing
but `(?!P)` holds for every text as soon as P needs a character, as it need not look further than
the end.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

FLAGS = "imsguy"
"""Those of JavaScript; `g`, `u` and `y` change nothing about whether a text matches."""

LONGEST = 2_000
"""Characters of a pattern."""


@lru_cache(maxsize=512)
def compiled(pattern: str, flags: str = "i") -> Any:
    """A pattern with `.search(text)`; raises ValueError that says what is wrong with it."""
    import re2

    if len(pattern) > LONGEST:
        raise ValueError(f"a pattern of {len(pattern):,} characters is longer than {LONGEST:,}")
    unknown = "".join(sorted(set(flags) - set(FLAGS)))
    if unknown:
        raise ValueError(f"unknown flags {unknown!r}: known are i, m, s (and g, u, y, ignored)")
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = "i" not in flags
    inline = "".join(sorted(set(flags) & {"m", "s"}))
    try:
        return re2.compile(f"(?{inline}){pattern}" if inline else pattern, options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]
        raise ValueError(
            f"{pattern!r} is no regular expression of RE2 (which has no lookarounds and no "
            f"backreferences): {reason}"
        ) from error


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


def compiled_with_lookaheads(pattern: str, flags: str = "i") -> Any:
    """A pattern with `.search(text)`; raises ValueError that says what is wrong with it."""
    if len(pattern) > LONGEST:
        return compiled(pattern, flags)  # which says so
    anchored = pattern.startswith("^") and "m" not in flags
    heads, rest = _split(pattern[1:] if anchored else pattern)
    if not heads or _alternatives(rest):
        return compiled(pattern, flags)
    if anchored:
        looks = tuple((kind == "=", compiled(inside, flags)) for kind, inside in heads)
        return _Start(looks, compiled(rest, flags))
    [(kind, inside), *more] = heads
    if not more and not rest and kind == "=":
        return compiled(inside, flags)
    if not more and not rest and _needs_a_character(inside, flags):
        return Anything()
    raise ValueError(
        f"{pattern!r} looks ahead anywhere in the text, which RE2 can't: begin it with '^' "
        "(without the flag m)"
    )


def _needs_a_character(pattern: str, flags: str) -> bool:
    """Whether it can't match at the end of a text, where there is nothing left."""
    anchors = re.search(r"\\[bBzZ]|\$", pattern)
    return anchors is None and compiled(pattern, flags).match("") is None


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
    return next((at for at, depth, _ in _signs(pattern) if depth == 0), None)


def _alternatives(pattern: str) -> bool:
    return any(depth == 0 and sign == "|" for _, depth, sign in _signs(pattern))


def _signs(pattern: str) -> list[tuple[int, int, str]]:
    """Each sign that is neither escaped nor in a class: its index, the depth after it, itself."""
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
