"""The session log read back: lines to events. What another version wrote is read where it fits."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache

from pydantic import TypeAdapter

from foundry.schema import events
from foundry.schema.events import Event


@dataclass(frozen=True, slots=True)
class Logged:
    """An event, when it happened, and its line as it was written."""

    at: datetime
    event: Event
    raw: str


def replay(lines: Iterable[str]) -> Iterator[Logged]:
    """The events of whole lines; torn lines and unknown kinds are left out."""
    for line in lines:
        logged = read_line(line)
        if logged is not None:
            yield logged


def read_line(line: str) -> Logged | None:
    """One line, or None when it is torn or tells of something that this version does not know."""
    try:
        data = json.loads(line)
        at = datetime.fromisoformat(data["at"])
        kind = _kinds()[data["event"]]
        wanted = {each.name: data[each.name] for each in fields(kind) if each.name in data}
        return Logged(at, _adapter(kind.kind).validate_python(wanted), line)
    except (ValueError, KeyError, TypeError):
        return None


@cache
def _kinds() -> dict[str, type[Event]]:
    return {
        each.kind: each
        for each in vars(events).values()
        if isinstance(each, type) and issubclass(each, Event)
    }


@cache
def _adapter(kind: str) -> TypeAdapter[Event]:
    return TypeAdapter(_kinds()[kind])
