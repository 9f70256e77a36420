"""The session log read back: whole lines of a file that may grow, and lines to events.

What another version wrote is read where it fits.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from pathlib import Path
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


POLL_SECONDS = 0.2


def whole_lines(path: Path) -> list[str]:
    """The lines that are finished; the torn one of a killed process is not among them."""
    return _parts(path)[:-1]


def is_torn(path: Path) -> bool:
    """Whether the last line was never finished."""
    return bool(_parts(path)[-1])


def follow(path: Path, goes_on: Callable[[], bool]) -> Iterator[str]:
    """Every whole line, and those that are still to come for as long as `goes_on` says so."""
    rest = b""
    with path.open("rb") as file:
        while True:
            last_look = not goes_on()  # asked before reading: what came until then is still told
            *lines, rest = (rest + file.read()).split(b"\n")
            for line in lines:
                yield line.decode("utf-8", errors="replace")
            if last_look:
                return
            if not lines:
                time.sleep(POLL_SECONDS)


def _parts(path: Path) -> list[str]:
    return path.read_bytes().decode("utf-8", errors="replace").split("\n")
