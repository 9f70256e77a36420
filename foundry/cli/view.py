"""What a person sees of a build: one interface, four ways to show it (the fourth is in `live`).

Progress goes to stderr and the result to stdout; with `--json` all events go to stdout.
"""

import os
import sys
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TextIO

from foundry.cli.output import Sink, ascii_line
from foundry.redact import secret_values
from foundry.report.lines import plain
from foundry.report.log_view import stamped
from foundry.report.narrate import Narrator
from foundry.report.run_lines import short
from foundry.schema.base import now
from foundry.schema.events import Event, RunEnded, RunStarted
from foundry.store.session_log import LogLines

if TYPE_CHECKING:
    from foundry.schema.permission import Answer, Question


class View(Protocol):
    """An observer that is a context manager. `on_text` hears a model's words as they stream."""

    @property
    def on_text(self) -> Callable[[str], None] | None:
        """Who hears the words, or None when nobody does."""

    def __enter__(self) -> "View": ...

    def __exit__(self, *_: object) -> None: ...

    def observe(self, event: Event) -> None:
        """Show one event."""

    def ask(self, question: str) -> bool | None:
        """Ask the person; None when nobody is there."""

    def approve(self, question: "Question") -> "Answer | None":
        """Ask the person about a tool call; None when nobody is there."""


class Still:
    """What views share that need no setting up: no words, nobody to ask."""

    on_text: Callable[[str], None] | None = None

    def __exit__(self, *_: object) -> None:
        return None

    def ask(self, question: str) -> bool | None:
        """Nobody is there."""
        return None

    def approve(self, question: "Question") -> "Answer | None":
        """Nobody is there."""
        return None


class Quiet(Still):
    """Only the result."""

    def __init__(self, out: Sink) -> None:
        self._out, self._resume = out, ""

    def __enter__(self) -> "Quiet":
        return self

    def observe(self, event: Event) -> None:
        """Keep silent until the end."""
        if isinstance(event, RunStarted):
            self._resume = event.resume
        if isinstance(event, RunEnded):
            for line in short(event, self._resume):
                self._out.line(plain(line))


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


def make_view(
    *,
    json: bool,
    quiet: bool,
    verbose: bool = False,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
) -> View:
    """The view that fits the wish and the streams (default: this process's own)."""
    out, err = Sink(stdout or sys.stdout), Sink(stderr or sys.stderr)
    if json:
        return JsonLines(out, only_the_end=quiet)
    if quiet:
        return Quiet(out)
    if err.isatty():
        from foundry.cli.live import Live, can_move
        from foundry.cli.output import console_on

        if can_move(console := console_on(err)):
            return Live(console, console_on(out), verbose=verbose)
    return Plain(out, err, verbose=verbose)
