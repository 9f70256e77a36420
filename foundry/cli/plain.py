"""The view where there is no terminal: dated lines without colour or control characters."""

from collections.abc import Callable
from datetime import datetime

from foundry.cli.sink import Sink
from foundry.cli.still import Still
from foundry.report.lines import plain
from foundry.report.narrate import Lines, Narrator
from foundry.schema.base import now
from foundry.schema.events import Event, RunEnded


class Plain(Still):
    """Progress on `err` with the local time of day, the result on `out`."""

    def __init__(self, out: Sink, err: Sink, clock: Callable[[], datetime] = now) -> None:
        self._out, self._err, self._clock = out, err, clock
        self._narrator = Narrator()

    def __enter__(self) -> "Plain":
        return self

    def observe(self, event: Event) -> None:
        """Write what an event is worth."""
        lines = self._narrator.tell(event)
        if isinstance(event, RunEnded):
            for line in lines:
                self._out.line(plain(line))
            return
        for text in stamped(self._clock(), lines):
            self._err.line(text)


def stamped(at: datetime, lines: Lines) -> list[str]:
    """Lines as a log shows them: local time first, empty ones left out."""
    time = f"{at.astimezone():%H:%M:%S}"
    return [f"{time} {plain(line)}" for line in lines if plain(line)]
