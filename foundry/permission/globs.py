"""Globs against text that is only partly known.

A command holds text that the shell fills in when it runs: `rm "$x"`, `cat $(…)`, `ls *.py`.
Such gaps are kept as marks. Whether a glob matches then has two answers: *surely* (whatever
stands in the gap: what an allowance needs) and *possibly* (for some filling: enough to forbid).
"""

from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import cache, lru_cache
from re import Pattern, compile

MANY = "\U0010fff0"
"""Any text, as no word, one or several: an unquoted `$x` or `$(…)`."""
TEXT = "\U0010fff1"
"""Any text within one word: `"$x"`."""
NAME = "\U0010fff2"
"""Text without a slash, in one word or several: what an unquoted `*` stands for. At the start of
a name it is no dot."""

BELOW = "\U0010fff3"
"""Text that may hold slashes but never `..`, in one word or several: what braces become."""

GAPS = frozenset((MANY, TEXT, NAME, BELOW))
_SEVERAL = (MANY, NAME, BELOW)

_STAR, _DEEP, _ENTRY, _ONE = "*", "**", "**/", "?"
_FOLDERS = "**/…"  # what `**/` has entered: any folders, up to a slash


def known(text: str) -> bool:
    """Whether nothing of a text is left to the shell."""
    return not GAPS.intersection(text)


def shown(text: str) -> str:
    """A text for people, with `…` where the shell will fill in."""
    return "".join("…" if char in GAPS else char for char in text)


def literal(text: str) -> str:
    """A glob that matches exactly `text`."""
    escaped = text.replace("\\", "\\\\")
    return "".join(f"[{char}]" if char in "*?[" else char for char in escaped)


def fits(pattern: str, text: str, *, surely: bool) -> bool:
    """Whether a glob matches a whole text; a `*` goes beyond slashes."""
    return _run(_tokens(pattern, paths=False), text, surely=surely, below=False)


def covers(pattern: str, path: str, *, surely: bool) -> bool:
    """Whether a glob matches a path or a folder that it is in; `**` goes beyond slashes."""
    return _run(_tokens(pattern, paths=True), path, surely=surely, below=True)


def words_fit(pattern: Sequence[str], words: Sequence[str], *, surely: bool) -> bool:
    """Whether globs match the arguments of a command; a lone `*` is any of them, also none."""
    return (_surely if surely else _possibly)(tuple(pattern), tuple(words))


def _surely(pattern: tuple[str, ...], words: tuple[str, ...]) -> bool:
    @cache
    def rest(i: int, j: int) -> bool:
        if i == len(pattern):
            return j == len(words)
        if pattern[i] == _STAR:
            return rest(i + 1, j) or (j < len(words) and rest(i, j + 1))
        if j == len(words) or any(gap in words[j] for gap in _SEVERAL):
            return False
        return fits(pattern[i], words[j], surely=True) and rest(i + 1, j + 1)

    return rest(0, 0)


def _possibly(pattern: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Options and their values may stand anywhere: `push *` is also `-C x push`."""

    @cache
    def rest(i: int, j: int) -> bool:
        if i < len(pattern) and pattern[i] == _STAR:
            return rest(i + 1, j) or (j < len(words) and rest(i, j + 1))
        if j == len(words):
            return i == len(pattern)
        word = words[j]
        left_out = MANY in word or word.startswith("-")
        if left_out and (
            rest(i, j + 1) or (word[0] == "-" and j + 1 < len(words) and rest(i, j + 2))
        ):
            return True
        if i == len(pattern) or not (MANY in word or fits(pattern[i], word, surely=False)):
            return False
        several = any(gap in word for gap in _SEVERAL)
        return rest(i + 1, j + 1) or (several and rest(i + 1, j))

    return rest(0, 0)


# -- one glob, one text: a walk over sets of positions in the pattern -----------------------------


def _run(tokens: tuple[str, ...], text: str, *, surely: bool, below: bool) -> bool:
    """Whether the tokens match all of `text`, or with `below` a part that ends before a slash.

    What may forbid takes upper and lower case for the same: some file systems do.
    """
    at, before = _closed(tokens, (0,)), "/"
    for char in text if surely else text.casefold():
        if below and char == "/" and len(tokens) in at:
            return True
        if surely or char not in GAPS:
            after = _after(tokens, at, char, surely=surely)
        else:
            after = _gap_possibly(tokens, at, char, first=before == "/")
        at, before = _closed(tokens, after), char
        if not at:
            return False
    return len(tokens) in at


def _after(tokens: tuple[str, ...], at: frozenset[int], char: str, *, surely: bool) -> set[int]:
    if char in GAPS:
        return _gap_surely(tokens, at, char)
    after = set()
    for position in at:
        token = tokens[position] if position < len(tokens) else ""
        if token in (_DEEP, _FOLDERS) or (token == _STAR and char != "/"):
            after.add(position)
        if token == _FOLDERS and char == "/":
            after.add(position + 1)
        if token and _takes(token, char, folded=not surely):
            after.add(position + 1)
    return after


def _gap_surely(tokens: tuple[str, ...], at: frozenset[int], gap: str) -> set[int]:
    """Only a star takes whatever may stand there."""
    wide = (_DEEP, _STAR, _FOLDERS) if gap == NAME else (_DEEP,)
    return {position for position in at if position < len(tokens) and tokens[position] in wide}


def _gap_possibly(
    tokens: tuple[str, ...], at: frozenset[int], gap: str, *, first: bool
) -> set[int]:
    """Any part of the pattern may describe what stands there; a name ends before a slash."""
    after = {
        position for position in at if not (gap == NAME and first) or _is_star(tokens, position)
    }
    for position in at:
        if gap == NAME and first and tokens[position : position + 1] == (".",):
            continue
        for later in range(position, len(tokens)):
            if gap == NAME and tokens[later] == "/":
                break
            after.add(later + 1)
    return after


def _is_star(tokens: tuple[str, ...], position: int) -> bool:
    return position < len(tokens) and tokens[position] in (_STAR, _DEEP, _FOLDERS)


def _closed(tokens: tuple[str, ...], positions: Iterable[int]) -> frozenset[int]:
    """With the positions that are reached without taking a character."""
    found: set[int] = set()
    waiting = list(positions)
    while waiting:
        position = waiting.pop()
        if position in found:
            continue
        found.add(position)
        token = tokens[position] if position < len(tokens) else ""
        if token in (_STAR, _DEEP):
            waiting.append(position + 1)
        if token == _ENTRY:
            waiting += (position + 1, position + 2)
    return frozenset(found)


@lru_cache(maxsize=4096)
def _tokens(pattern: str, *, paths: bool) -> tuple[str, ...]:
    tokens: list[str] = []
    at = 0
    while at < len(pattern):
        piece = _piece(pattern, at)
        at += len(piece)
        if not paths and set(piece) == {"*"}:
            tokens.append(_DEEP)
        elif piece == _DEEP and pattern[at : at + 1] == "/":
            tokens += (_ENTRY, _FOLDERS)
            at += 1
        else:
            tokens.append(piece)
    return tuple(tokens)


def _piece(pattern: str, at: int) -> str:
    """`**`, a `[…]` that ends, `\\x` for x itself, or one character."""
    if pattern.startswith(_DEEP, at):
        return _DEEP
    end = pattern.find("]", at + 2)
    if pattern[at] == "[" and end > 0:
        return pattern[at : end + 1]
    return pattern[at : at + 2] if pattern[at] == "\\" else pattern[at]


def _takes(token: str, char: str, *, folded: bool) -> bool:
    """Whether a token that is no star takes a character."""
    if token == _ONE:
        return char != "/"
    if len(token) > 2:
        return token[0] == "[" and bool(_class(token, folded).fullmatch(char))
    wanted = token[-1].casefold() if folded else token[-1]
    return token not in (_STAR, _DEEP) and char == wanted


@lru_cache(maxsize=1024)
def _class(token: str, folded: bool) -> Pattern[str]:
    return compile(translate(token.casefold() if folded else token))
