"""The session log read back: lines to events. What another version wrote is read where it fits."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from typing import Any, ClassVar

from pydantic import TypeAdapter

from foundry.schema import events
from foundry.schema.events import Event

EARLIER = {"turn": "llm_call", "tool": "tool_execution"}
"""Kinds of event by the names that they had before."""


@dataclass(frozen=True, slots=True)
class Unknown(Event):
    """An event that this version has no words for."""

    kind: ClassVar[str] = "unknown"


@dataclass(frozen=True, slots=True)
class Logged:
    """An event, when it happened, and its line as it was written."""

    at: datetime
    event: Event
    raw: str

    @property
    def data(self) -> dict[str, Any]:
        """The line's fields."""
        fields: dict[str, Any] = json.loads(self.raw)
        return fields


class Reader:
    """Reads lines and counts those that can't be: damaged by whatever happened to the file."""

    def __init__(self) -> None:
        self.damaged = 0

    def read(self, lines: Iterable[str]) -> Iterator[Logged]:
        """The events of whole lines."""
        for line in lines:
            logged = read_line(line)
            if logged is not None:
                yield logged
            elif line.strip():
                self.damaged += 1


def replay(lines: Iterable[str]) -> Iterator[Logged]:
    """The events of whole lines; damaged ones are left out."""
    return Reader().read(lines)


def read_line(line: str) -> Logged | None:
    """One line, or None when it is torn or no line of a log."""
    try:
        data = json.loads(line)
        at, name = datetime.fromisoformat(data["at"]), data["event"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if at.tzinfo is None or not isinstance(name, str):
        return None
    return Logged(at, _event(EARLIER.get(name, name), data), line)


def _event(name: str, data: dict[str, Any]) -> Event:
    kind = kinds().get(name)
    if kind is None:
        return Unknown()
    if isinstance(data.get("ms"), int | float):
        data = {"seconds": data["ms"] / 1000, **data}
    wanted = {each.name: data[each.name] for each in fields(kind) if each.name in data}
    try:
        return _adapter(kind.kind).validate_python(wanted)
    except ValueError:
        return Unknown()


@cache
def kinds() -> dict[str, type[Event]]:
    """The kinds of events by the names that they have in a log."""
    return {
        each.kind: each
        for each in vars(events).values()
        if isinstance(each, type) and issubclass(each, Event) and each is not Event
    }


@cache
def _adapter(kind: str) -> TypeAdapter[Event]:
    return TypeAdapter(kinds()[kind])
