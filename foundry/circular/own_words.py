"""The sentences of a message that are its writer's own words: no code, quotes or logs. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

OPEN_ITEM = "todo: an item is not checked"
"""What an unchecked item of a list, or a mark for something unfinished, is read as."""

QUOTE = "§"
"""What stands for a quotation."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence in lower case, without decoration; a question mark, colon or dots are kept."""

    text: str
    introduced: bool = False
    """A line before it ends with a colon: it may be what that line tells of."""
    listed: bool = False
    """It is an item of a list."""


_FENCE = re.compile(r"```.*?(```|\Z)|~~~.*?(~~~|\Z)|<(\w+)>.*?</\3>|<!--.*?-->", re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_QUOTED = re.compile(
    r"\"[^\"\n]*\"|„[^“”\n]*[“”]|“[^”\n]*”|«[^»\n]*»|(?<!\w)'[^'\n]*'(?!\w)|~~[^~\n]+~~"
)
_TYPOGRAPHY = {0x2018: "'", 0x2019: "'", 0x2013: "-", 0x2014: "-", 0xA0: " "}

_LOG = re.compile(
    r"\s*([$%] |#\s*\$|[>|]|\+{2,3} |-{3} |@@)|\s*\[?\d{4}-\d\d-\d\d|"
    r"\s*\[?\d\d:\d\d(:\d\d)?\]?\s|( {4,}|\t)\S|"
    r"\s*(\[(\w+)\] |(INFO|WARN|WARNING|DEBUG|ERROR|TRACE|LOG|OUTPUT|PASS|FAIL|ok)\b)|"
    r"\s*(?i:assistant|agent|system|user|human|model|claude|ai)\s*(\(.*\))?:"
)
_UNFINISHED = re.compile(r"\s*([-*+]|\d+[.)])\s+\[[ ~/-]?\]|.*[❌⏳⬜🚧🟡🔴☐⚠🔲🟠🤞🙃🙄😏😉]")
_BULLET = re.compile(r"^\s*([-*+•]|\d+[.)])\s+(\[[xX]\]\s*)?")
_DECORATION = re.compile(r"[*_#()\[\]✅🎉✔☑🟢🚀✨💯🏁\ufe0f]+")
_HEADING = re.compile(
    r"(?:a |the )?(?:final |short |brief )?(?:summary|status|result|verdict|outcome|changes|"
    r"conclusion|overview|what (?:changed|was done)|highlights|details|verification|evidence|"
    r"files|report|summary of changes)(?: of (?:the )?changes)?:?"
)


def own_sentences(text: str) -> list[Sentence]:
    """The sentences in their order."""
    plain = _CODE.sub("code", _FENCE.sub("\n", text.translate(_TYPOGRAPHY)))
    return [sentence for line in _lines(_QUOTED.sub(f" {QUOTE} ", plain)) for sentence in line]


def is_heading(sentence: str) -> bool:
    """Whether it only names what comes after it."""
    return _HEADING.fullmatch(sentence) is not None


def _lines(text: str) -> Iterator[list[Sentence]]:
    introduced = logged = False  # whether the lines before it speak of it; reset by blank lines
    listed = False
    for line in text.splitlines():
        if not line.strip():
            logged = False
            continue
        logged = logged or _LOG.match(line) is not None
        if logged:
            continue
        bullet = bool(_BULLET.match(line))
        found = [OPEN_ITEM] if _UNFINISHED.match(line) else _sentences(_plain(line))
        introduced = introduced and (bullet or not listed)
        yield [Sentence(each, introduced, bullet) for each in found]
        if found:
            listed = bullet
            introduced = (introduced and bullet) or _introduces(found[-1])


def _introduces(sentence: str) -> bool:
    return sentence.endswith(":") and not is_heading(sentence)


def _plain(line: str) -> str:
    text = _DECORATION.sub(" ", _BULLET.sub("", line.lstrip("# "), count=1))
    return " ".join(text.lower().split())


def _sentences(line: str) -> list[str]:
    parts = [part for part in re.split(r"(?<=[.!?…])\s+", line) if part.strip(" .!")]
    return [part if part.endswith("..") else part.rstrip(" !").removesuffix(".") for part in parts]
