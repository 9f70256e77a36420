"""YAML text to a value: the core schema of YAML 1.2, which editors and other tools read by.

Built from the parser's events, without recursion and with a budget: nested brackets can't exhaust
the stack, and aliases can't be written out to more than a document may hold. Differences to
PyYAML's own loader: `yes`, `no`, `on`, `off` and `12:30` are text, and a key given twice is
reported. Merge keys (`<<`) work. A date is reported, as readers disagree on what it is.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from foundry.workflow.problem import Finding, Loc
from foundry.workflow.reading.read_json import TWICE
from foundry.workflow.reading.value import MAX_DEPTH, TOO_DEEP, Plain

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
