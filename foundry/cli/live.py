"""The view in a terminal: permanent lines above, a panel that moves below."""

import os
import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live as Moving

from foundry.cli.panel import Panel
from foundry.redact import secret_values
from foundry.report.narrate import Lines, Narrator
from foundry.report.render import headings, show
from foundry.report.terminal_safe import safe
from foundry.schema.events import Event, Reasoned, RunEnded, RunStarted, TurnEnded

if TYPE_CHECKING:
    from rich.console import RenderableType

    from foundry.schema.permission import Answer, Question

FRAMES_PER_SECOND = 8
NARROWEST = 40


def can_move(console: Console) -> bool:
    """Whether the terminal can redraw a line."""
    return console.is_terminal and not console.is_dumb_terminal and console.width >= NARROWEST


class Live:
    """Progress on `console`, the result on `out`.

    What a step does is seen in the panel while it does it; `verbose` writes all of it down.
    """

    def __init__(self, console: Console, out: Console, *, verbose: bool = False) -> None:
        self.console, self._out = console, out
        self._narrator = Narrator("all" if verbose else "steps", secret_values(os.environ))
        self._panel = Panel(self._narrator, console, actions=not verbose)
        self._moving: Moving | None = None

    def __enter__(self) -> "Live":
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def on_text(self, text: str) -> None:
        """The model's words as they stream."""
        self._panel.hear(text)

    def observe(self, event: Event) -> None:
        """Show one event."""
        if isinstance(event, TurnEnded) and (words := self._panel.unsaid()):
            self.observe(Reasoned(event.step, words))
        lines = self._narrator.tell(event)
        self._panel.follow(event)
        if isinstance(event, RunEnded):
            self._stop()
            self._show(self._out, lines)
            return
        self._show(self.console, lines)
        if isinstance(event, RunStarted):
            self.console.print(headings(self.console.width - 1))

    def moving(self) -> "RenderableType":
        """The panel at the bottom as it is now."""
        return self._panel.render()

    def ask(self, question: str) -> bool | None:
        """Ask the person, with the panel out of the way."""
        import click

        if not sys.stdin.isatty():
            return None
        self._stop()
        try:
            return click.confirm(safe(question), default=False, err=True)
        finally:
            self._start()

    def approve(self, question: "Question") -> "Answer | None":
        """Ask the person about a call, with the panel out of the way."""
        from foundry.cli.approve import ask_person

        if not sys.stdin.isatty():
            return None
        self._stop()
        try:
            return ask_person(question)
        finally:
            self._start()

    def _show(self, console: Console, lines: Lines) -> None:
        for line in lines:
            show(console, line)

    def _start(self) -> None:
        self._moving = Moving(
            console=self.console,
            get_renderable=self.moving,
            refresh_per_second=FRAMES_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._moving.start()

    def _stop(self) -> None:
        moving, self._moving = self._moving, None
        if moving is not None:
            moving.stop()
