"""The view where there is no terminal: dated lines without colour or control characters."""

import os
import sys
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from foundry.cli.sink import Sink
from foundry.cli.still import Still
from foundry.redact import secret_values
from foundry.report.lines import plain
from foundry.report.log_view import stamped
from foundry.report.narrate import Narrator
from foundry.schema.base import now
from foundry.schema.events import Event, RunEnded

if TYPE_CHECKING:
    from foundry.schema.permission import Answer, Question


class Plain(Still):
    """Progress on `err` with the local time of day, the result on `out`."""

    def __init__(
        self, out: Sink, err: Sink, clock: Callable[[], datetime] = now, *, verbose: bool = False
    ) -> None:
        self._out, self._err, self._clock = out, err, clock
        self._narrator = Narrator("all" if verbose else "steps", secret_values(os.environ))

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

    def approve(self, question: "Question") -> "Answer | None":
        """Ask a person whose terminal can't redraw a line."""
        from foundry.cli.approve import ask_person

        there = sys.stdin.isatty() and self._err.isatty()
        return ask_person(question) if there else None
