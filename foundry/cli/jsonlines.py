"""`--json`: one event a line on stdout, and nothing else there."""

import json
from typing import Any

from foundry.cli.sink import Sink
from foundry.cli.still import Still
from foundry.schema.base import now
from foundry.schema.events import Event, RunEnded
from foundry.store.session_log import LogLines


class JsonLines(Still):
    """The lines of the session log, as they happen."""

    def __init__(self, out: Sink, *, only_the_end: bool = False) -> None:
        self._out, self._only_the_end = out, only_the_end
        self._lines = LogLines()

    def __enter__(self) -> "JsonLines":
        return self

    def observe(self, event: Event) -> None:
        """Write one event."""
        if isinstance(event, RunEnded) or not self._only_the_end:
            line = {"at": now().isoformat(), "event": event.kind, **self._lines.fields(event)}
            self._out.line(ascii_line(line))


def ascii_line(value: Any) -> str:
    """JSON in pure ASCII, so that every pipe takes it and no terminal obeys it."""
    return json.dumps(value, default=str).replace("\x7f", "\\u007f")
