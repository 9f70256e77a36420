"""`--json`: one event a line on stdout, and nothing else there."""

import json

from foundry.cli.sink import Sink
from foundry.cli.still import Still
from foundry.schema.base import now
from foundry.schema.events import Event, RunEnded
from foundry.store.sessionlog import as_fields


class JsonLines(Still):
    """`{"event": kind, "at": time, ...fields}`. Pure ASCII, so that no terminal obeys it."""

    def __init__(self, out: Sink, *, only_the_end: bool = False) -> None:
        self._out, self._only_the_end = out, only_the_end

    def __enter__(self) -> "JsonLines":
        return self

    def observe(self, event: Event) -> None:
        """Write one event."""
        if isinstance(event, RunEnded) or not self._only_the_end:
            line = {"event": event.kind, "at": now().isoformat(), **as_fields(event)}
            self._out.line(json.dumps(line, default=str).replace("\x7f", "\\u007f"))
