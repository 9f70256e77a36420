"""The view in a terminal: permanent lines above, one line that moves below."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live as Moving
from rich.spinner import Spinner
from rich.text import Text

from foundry.report import units
from foundry.report.narrate import Lines, Narrator, tool_line
from foundry.report.render import cut, headings, show
from foundry.report.safe import safe
from foundry.schema.events import (
    AttemptFailed,
    Event,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    ToolRan,
    TurnEnded,
    Waiting,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

FRAMES_PER_SECOND = 8
NARROWEST = 40
LAST_WORDS = 200


def can_move(console: Console) -> bool:
    """Whether the terminal can redraw a line."""
    return console.is_terminal and not console.is_dumb_terminal and console.width >= NARROWEST


class Live:
    """Progress on `console`, the result on `out`."""

    def __init__(self, console: Console, out: Console) -> None:
        self.console, self._out = console, out
        self._narrator = Narrator()
        self._status = _Status(self._narrator, console)
        self._moving: Moving | None = None

    def __enter__(self) -> "Live":
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def on_text(self, text: str) -> None:
        """The model's words as they stream: the end of them is shown as its activity."""
        self._status.hear(text)

    def observe(self, event: Event) -> None:
        """Show one event."""
        lines = self._narrator.tell(event)
        self._status.follow(event)
        if isinstance(event, RunEnded):
            self._stop()
            self._show(self._out, lines)
            return
        self._show(self.console, lines)
        if isinstance(event, RunStarted):
            self.console.print(headings(self.console.width - 1))

    def moving(self) -> "RenderableType":
        """The line at the bottom as it is now."""
        return self._status.render()

    def ask(self, question: str) -> bool | None:
        """Ask the person, with the moving line out of the way."""
        import click

        if not sys.stdin.isatty():
            return None
        self._stop()
        try:
            return click.confirm(safe(question), default=False, err=True)
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


class _Status:
    """The line that moves while a step runs. Drawn by rich's own thread."""

    def __init__(self, narrator: Narrator, console: Console) -> None:
        self._narrator, self._console = narrator, console
        utf8 = console.encoding.lower().startswith("utf")
        self._spinner = Spinner("dots" if utf8 else "line", style="cyan")
        self._spent: float | None = 0.0
        self._begun = 0.0
        self._turn: TurnEnded | None = None
        self._tokens = 0
        self._activity = self._words = ""
        self._until = 0.0

    def follow(self, event: Event) -> None:
        """Take in what an event changes."""
        match event:
            case StepStarted():
                self._begun, self._turn, self._tokens = time.monotonic(), None, 0
                self._activity = self._words = ""
            case TurnEnded():
                self._turn, self._words = event, ""
                self._tokens += _tokens_of(event)
                self._spent = units.total((self._spent, event.cost_usd))
            case ToolRan():
                self._activity = tool_line(event) + (" (refused)" if event.error else "")
            case Waiting():
                self._until, self._words = time.monotonic() + event.seconds, ""
            case StepEnded() | AttemptFailed():
                self._activity = self._words = ""

    def hear(self, text: str) -> None:
        """Keep the end of what the model writes."""
        self._until = 0.0
        self._words = (self._words + text)[-LAST_WORDS:]

    def render(self) -> "RenderableType":
        """The line, or nothing between steps."""
        step = self._narrator.step
        if step is None:
            return Group()
        title = cut(Text(safe(step.title)), self._console.width // 3).plain
        facts = [
            f"{self._narrator.label()} {title}",
            units.duration(time.monotonic() - self._begun),
        ]
        if step.conversation:
            facts += self._figures()
        text = Text(" · ".join(facts))
        if activity := self._doing():
            text.append(f" · {activity}", "dim")
        self._spinner.text = cut(text, self._console.width - 3)
        return self._spinner

    def _figures(self) -> list[str]:
        turn = self._turn
        return [
            f"turn {turn.turn + 1 if turn else 1}",
            f"ctx {units.share(turn.context_share if turn else 0)}",
            units.tokens(self._tokens),
            units.money(self._spent),
        ]

    def _doing(self) -> str:
        left = self._until - time.monotonic()
        if left > 0:
            return f"retry in {left:.0f}s"
        words = safe(self._words.strip())
        return words[-60:] if words else safe(self._activity)


def _tokens_of(turn: TurnEnded) -> int:
    prompt = turn.input_tokens + turn.cache_read_tokens + turn.cache_write_tokens
    return prompt + turn.output_tokens
