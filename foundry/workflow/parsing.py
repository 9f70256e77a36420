"""From the text of a document to a JSON value: nothing in it is lost silently, nothing can hang.

YAML is the core schema of YAML 1.2, which editors and other tools read by: `yes`, `no`, `on`, `off`
and `12:30` are text, and a key given twice is reported. Merge keys (`<<`) work. A date is reported,
as readers disagree on what it is. The value is built from the parser's events, without recursion
and with a budget: nested brackets can't exhaust the stack, and aliases can't be written out to more
than a document may hold.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml

from foundry.workflow.problem import Finding, Loc

MAX_BYTES = 5_000_000

TOO_LARGE = Finding((), f"has more than {MAX_BYTES:,} bytes: make it smaller")

MAX_DEPTH = 64
"""Levels of lists and objects; recursion over a document that keeps to it is safe."""

TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep: write it flatter"
_LARGEST = 10**308
_EXACT = 2**53

TWICE = "this key is given twice, and only one of them can hold: remove one"

MAX_EXPANDED = 10_000_000
"""Characters of all values once aliases are written out, each value counting as 16 more."""

_TAG = "tag:yaml.org,2002:"
_WORDS = {"": None, "~": None, "null": None, "Null": None, "NULL": None,
          "true": True, "True": True, "TRUE": True,
          "false": False, "False": False, "FALSE": False}  # fmt: skip
_INTEGER = re.compile(r"[-+]?[0-9]{1,400}|0o[0-7]{1,400}|0x[0-9a-fA-F]{1,400}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?")

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NO_KEY: Any = object()


@dataclass(slots=True)
class Plain:
    """A document as JSON, and what had to be changed to make it so."""

    value: Any = None
    findings: list[Finding] = field(default_factory=list)


def read_text(text: str, *, json: bool) -> Plain:
    """The value of a JSON or YAML text; what can't be read at all is None with one finding."""
    if len(text) > MAX_BYTES:
        return Plain(None, [TOO_LARGE])
    if not text.isascii() and text != text.encode("utf-8", "replace").decode():
        return Plain(None, [Finding((), "has half of a character (a lone surrogate)")])
    read = read_json(text) if json else read_yaml(text)
    made_plain = plain(read.value)
    return Plain(made_plain.value, [*read.findings, *made_plain.findings])


def plain(raw: Any) -> Plain:
    """`raw` as a JSON value; what JSON has not is reported and stands in it as text or null.

    A whole number is the same however it is written: `3.0` becomes 3.
    """
    result = Plain()
    result.value = _plain(raw, (), result.findings)
    return result


def _plain(raw: Any, loc: Loc, findings: list[Finding]) -> Any:
    if len(loc) > MAX_DEPTH:
        findings.append(Finding(loc, TOO_DEEP))
        return None
    if raw is None or isinstance(raw, bool):
        return raw
    if isinstance(raw, list | tuple):
        return [_plain(each, (*loc, number), findings) for number, each in enumerate(raw)]
    if isinstance(raw, dict):
        return _object(raw, loc, findings)
    return _scalar(raw, loc, findings)


def _scalar(raw: Any, loc: Loc, findings: list[Finding]) -> Any:
    match raw:
        case str():
            return _text(raw, loc, findings)
        case int() | float():
            return _number(raw, loc, findings)
        case _:
            what = f"is a {type(raw).__name__}, which JSON has not: write it as text, in quotes"
            findings.append(Finding(loc, what))
            return str(raw)


def _object(raw: dict[Any, Any], loc: Loc, findings: list[Finding]) -> dict[str, Any]:
    result = {}
    for key, value in raw.items():
        if not isinstance(key, str):
            findings.append(Finding((*loc, str(key)), "this key is not text: put it in quotes"))
        name = _text(str(key), (*loc, str(key)), findings)
        result[name] = _plain(value, (*loc, name), findings)
    return result


def _number(raw: float, loc: Loc, findings: list[Finding]) -> float | int:
    if isinstance(raw, int):
        if abs(raw) > _LARGEST:
            findings.append(Finding(loc, "is too large a number: write it as text, in quotes"))
            return 0
        return raw
    if not math.isfinite(raw):
        findings.append(
            Finding(loc, f"{raw} is no number that JSON has: leave it out or write it as text")
        )
        return 0
    return int(raw) if raw.is_integer() and abs(raw) <= _EXACT else raw


def _text(raw: str, loc: Loc, findings: list[Finding]) -> str:
    if raw.isascii():
        return raw
    mended = raw.encode("utf-8", "replace").decode()
    if mended != raw:
        findings.append(Finding(loc, "has half of a character (a lone surrogate): write it whole"))
    return mended


def read_json(text: str) -> Plain:
    """The value of a JSON text; a syntax error is one finding, and the value None."""
    repeated: dict[int, list[str]] = {}
    objects: list[dict[str, Any]] = []  # keeps ids from being used again

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            objects.append(found)
            counts = Counter(key for key, _ in items)
            repeated[id(found)] = [key for key in found if counts[key] > 1]
        return found

    try:
        value = json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        return Plain(None, [Finding((), f"is not valid JSON at {where}: {error.msg}")])
    except ValueError:  # more digits than Python reads
        return Plain(None, [Finding((), "has a number of thousands of digits: write it as text")])
    except RecursionError:
        return Plain(None, [Finding((), TOO_DEEP)])
    locations = _repeated(value, repeated) if repeated else []
    return Plain(value, [Finding(loc, TWICE) for loc in locations])


def _repeated(value: Any, repeated: dict[int, list[str]], loc: Loc = ()) -> list[Loc]:
    if len(loc) > MAX_DEPTH:
        return []
    found = [(*loc, key) for key in repeated.get(id(value), ())]
    items: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    return found + [
        inner for key, each in items for inner in _repeated(each, repeated, (*loc, key))
    ]


class _Unreadable(Exception):
    """The text can't be read to its end."""


@dataclass(slots=True)
class _Open:
    """A list or an object whose end has not come yet."""

    value: Any
    anchor: str | None
    began: int
    key: Any = _NO_KEY
    merged: list[dict[str, Any]] = field(default_factory=list)


def read_yaml(text: str, *, dates: bool = False) -> Plain:
    """The value of a YAML text; a syntax error is one finding, and the value None.

    With `dates` a date is the text that it was written as, and not reported.
    """
    builder = _Builder(dates=dates)
    try:
        for event in yaml.parse(text, Loader=_Loader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        what = error.problem or error.context or "it can't be parsed"
        return Plain(None, [Finding((), f"is not valid YAML{where}: {what}")])
    except yaml.YAMLError as error:
        return Plain(None, [Finding((), f"is not valid YAML: {' '.join(str(error).split())}")])
    except _Unreadable as error:
        return Plain(None, [*builder.findings, Finding(builder.loc, str(error))])
    return Plain(builder.root, builder.findings)


class _Builder:
    """Puts events together."""

    def __init__(self, *, dates: bool) -> None:
        self._dates = dates
        self.root: Any = None
        self.findings: list[Finding] = []
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._documents = 0
        self._spent = 0

    @property
    def loc(self) -> Loc:
        """Where the next value goes."""
        parts: list[str | int] = []
        for each in self._open:
            if isinstance(each.value, list):
                parts.append(len(each.value))
            elif each.key is not _NO_KEY:
                parts.append(str(each.key))
        return tuple(parts)

    def take(self, event: Any) -> None:
        """One event of the parser."""
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise _Unreadable("a second document begins here: one file is one workflow")
            case yaml.AliasEvent():
                self._alias(str(event.anchor))
            case yaml.ScalarEvent():
                began = self._spend(len(event.value))
                merge = self._at_key and event.value == "<<" and event.implicit[0]
                value = _Merge("<<") if merge else self._scalar(event)
                self._finish(value, event.anchor, began)
            case yaml.CollectionStartEvent():
                if len(self._open) >= MAX_DEPTH:
                    raise _Unreadable(TOO_DEEP)
                self._begin(event)
            case yaml.CollectionEndEvent():
                done = self._open.pop()
                for merged in done.merged:
                    done.value = {**merged, **done.value}
                self._finish(done.value, done.anchor, done.began)

    @property
    def _at_key(self) -> bool:
        return (
            bool(self._open)
            and self._open[-1].key is _NO_KEY
            and isinstance(self._open[-1].value, dict)
        )

    def _begin(self, event: Any) -> None:
        if (event.tag or "").removeprefix(_TAG) not in ("", "!", "seq", "map"):
            self._foreign(event.tag)
        self._anchors.pop(event.anchor, None)
        value: Any = [] if isinstance(event, yaml.SequenceStartEvent) else {}
        self._open.append(_Open(value, event.anchor, self._spend(0)))

    def _foreign(self, tag: str) -> None:
        self.findings.append(Finding(self.loc, f"the tag {tag!r} is not of JSON: leave it out"))

    def _spend(self, characters: int) -> int:
        before = self._spent
        self._spent += characters + 16
        if self._spent > MAX_EXPANDED:
            raise _Unreadable("has too many values (with its aliases written out): make it smaller")
        return before

    def _alias(self, name: str) -> None:
        if name not in self._anchors:
            raise _Unreadable(f"the alias *{name} names no value that is complete: write it out")
        value, size = self._anchors[name]
        self._spend(size)
        self._add(value)

    def _finish(self, value: Any, anchor: str | None, began: int) -> None:
        if anchor:
            self._anchors[anchor] = value, self._spent - began
        self._add(value)

    def _add(self, value: Any) -> None:
        if not self._open:
            self.root = value
            return
        parent = self._open[-1]
        if isinstance(parent.value, list):
            parent.value.append(value)
        elif parent.key is _NO_KEY:
            parent.key = self._key(value)
        else:
            if isinstance(parent.key, _Merge):
                self._take_over(parent, value)
            else:
                parent.value[parent.key] = value
            parent.key = _NO_KEY

    def _key(self, value: Any) -> Any:
        if isinstance(value, _Merge):
            return value
        if not isinstance(value, str):
            name = "?" if isinstance(value, list | dict) else str(value)
            self.findings.append(
                Finding((*self.loc, name), "this key is not text: put it in quotes")
            )
            return name
        if value in self._open[-1].value:
            self.findings.append(Finding((*self.loc, value), TWICE))
        return value

    def _take_over(self, parent: _Open, value: Any) -> None:
        """Keys of another object, by `<<`; the object's own ones go before."""
        others = value if isinstance(value, list) else [value]
        if not all(isinstance(each, dict) for each in others):
            self.findings.append(Finding(self.loc, "`<<` takes an object over, or a list of them"))
        parent.merged += [each for each in others if isinstance(each, dict)]

    def _scalar(self, event: Any) -> Any:
        plain, text = event.implicit[0], event.value
        tag = (event.tag or "").removeprefix(_TAG)
        if tag in ("str", "!") or (not tag and not plain):
            return text
        if tag and tag not in ("null", "bool", "int", "float"):
            self._foreign(event.tag)
            return text
        return self._resolved(text)

    def _resolved(self, text: str) -> Any:
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.fullmatch(text):
            base = {"0o": 8, "0x": 16}.get(text[:2], 10)
            return int(text, base)
        if _FLOAT.fullmatch(text):
            return float(text)
        if _NO_NUMBER.fullmatch(text):
            return float(text.replace(".", ""))
        if not self._dates and _DATE.fullmatch(text):
            what = f"{text[:40]} is a date, which JSON has not: put it in quotes"
            self.findings.append(Finding(self.loc, what))
        return text


class _Merge(str):
    """The key `<<`, not in quotes."""

    __slots__ = ()
