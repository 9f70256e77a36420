"""What a person sees of a build: one interface, four ways to show it.

Progress goes to stderr and the result to stdout; with `--json` all events go to stdout.
"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TextIO

from foundry.cli.sink import Sink
from foundry.cli.still import Still
from foundry.schema.events import Event, RunEnded, RunStarted

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


class Quiet(Still):
    """Only the result."""

    def __init__(self, out: Sink) -> None:
        self._out, self._resume = out, ""

    def __enter__(self) -> "Quiet":
        return self

    def observe(self, event: Event) -> None:
        """Keep silent until the end."""
        from foundry.report.ending import short
        from foundry.report.lines import plain

        if isinstance(event, RunStarted):
            self._resume = event.resume
        if isinstance(event, RunEnded):
            for line in short(event, self._resume):
                self._out.line(plain(line))


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
        from foundry.cli.jsonlines import JsonLines

        return JsonLines(out, only_the_end=quiet)
    if quiet:
        return Quiet(out)
    if err.isatty():
        from foundry.cli.console import console_on
        from foundry.cli.live import Live, can_move

        if can_move(console := console_on(err)):
            return Live(console, console_on(out), verbose=verbose)
    from foundry.cli.plain import Plain

    return Plain(out, err, verbose=verbose)
