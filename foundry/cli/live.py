"""The view in a terminal: permanent lines above, a panel that moves below.

The panel shows what goes on while a step runs: its last actions, how far it is. Events come from
the thread that works, drawing from rich's own: what both touch is replaced as a whole and never
changed in place.
"""

import os
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live as Moving
from rich.spinner import Spinner
from rich.text import Text

from foundry.redact import redact, secret_values
from foundry.report import details, units
from foundry.report.lines import OK, Line, Lines
from foundry.report.narrate import Narrator
from foundry.report.render import cut, headings, share_style, show, styled
from foundry.report.terminal_safe import safe
from foundry.report.tool_lines import THINKS, describe_call
from foundry.schema.events import (
    ContextUpdated,
    Event,
    Reasoned,
    Reflected,
    RunEnded,
    RunStarted,
    StepStarted,
    ToolRan,
    ToolStarted,
    TurnEnded,
    Waiting,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from foundry.schema.permission import Answer, Question

FRAMES_PER_SECOND = 8
NARROWEST = 40

ROWS = 6
"""Actions that stay in sight."""

BESIDE = 8
"""Rows of the terminal that are left for what stays."""

HEARD = 2_000
"""Characters of the model's words that are kept while it speaks."""

SPOKEN_ROWS = 2
BAR = 8
WIDE = 76
"""Columns from which the line below has room for everything."""


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


class Panel:
    """Follows the events; `render` is what there is to see now."""

    def __init__(self, narrator: Narrator, console: Console, *, actions: bool = True) -> None:
        self._narrator, self._console, self._actions = narrator, console, actions
        utf8 = console.encoding.lower().startswith("utf")
        self._spinner = Spinner("dots" if utf8 else "line", style="cyan")
        self._phases: tuple[str, ...] = ()
        self._rows: tuple[Line, ...] = ()
        self._calling: tuple[ToolStarted, float] | None = None
        self._words = ""
        self._spent: float | None = 0.0
        self._begun = self._until = 0.0
        self._turn = self._tokens = 0
        self._shares: dict[str, float] = {}
        """How full the conversations of this step are: several may go on side by side."""

    def follow(self, event: Event) -> None:
        """Take in what an event changes."""
        match event:
            case RunStarted():
                self._phases = event.phases
            case StepStarted():
                self._begin()
            case TurnEnded():
                self._turn = event.turn - (event.purpose != "turn")
                self._words = ""
                self._shares = {**self._shares, event.conversation: event.context_share}
                self._tokens += event.input_tokens + event.output_tokens
                self._tokens += event.cache_read_tokens + event.cache_write_tokens
                self._spent = units.total((self._spent, event.cost_usd))
            case ContextUpdated():
                self._shares = {**self._shares, event.conversation: event.usage_percent / 100}
            case Reasoned() | Reflected():
                self._words = ""
            case ToolStarted():
                self._calling = event, time.monotonic()
            case ToolRan():
                self._calling = None
            case Waiting():
                self._until, self._words = time.monotonic() + event.seconds, ""
        if self._actions:
            new = map(_steady, details.short(self._narrator.clean(event)))
            self._rows = (*self._rows, *new)[-ROWS:]

    def hear(self, text: str) -> None:
        """Keep the end of what the model writes."""
        self._until = 0.0
        self._words = (self._words + text)[-HEARD:]

    def unsaid(self) -> str:
        """What was heard and no event has told yet."""
        return self._words.strip()

    def render(self) -> "RenderableType":
        """The panel, or nothing between steps."""
        step = self._narrator.step
        if step is None:
            return Group()
        width = self._console.width - 1
        rows = max(1, min(ROWS, self._console.height - BESIDE))
        now = self._now(width)
        above = [*(styled(line, width) for line in self._rows), *now][-rows:]
        self._spinner.text = self._status(step, width - 2)
        below = [self._phase_line(step, width)] if rows > 1 and self._phases else []
        return Group(*above, self._spinner, *below)

    def _begin(self) -> None:
        self._begun, self._turn, self._tokens, self._shares = time.monotonic(), 0, 0, {}
        self._rows, self._words, self._calling = (), "", None

    def _now(self, width: int) -> list[Text]:
        """What is going on: a wait, a call that runs, or the end of what the model is saying."""
        if (left := self._until - time.monotonic()) > 0:
            return [styled(Line(f"retry in {left:.0f}s", tone="warn", indent=1), width)]
        if calling := self._calling:
            call, since = calling
            mark, text = describe_call(call)
            running = units.duration(time.monotonic() - since)
            line = Line(redact(text, self._narrator.secrets), mark, "", "act", indent=1)
            return [styled(_steady(replace(line, rest=running)), width)]
        return self._spoken(width)

    def _spoken(self, width: int) -> list[Text]:
        words = _without_joints(safe(redact(self._words.strip(), self._narrator.secrets)))
        if not words:
            return []
        lines = Text(words, "dim").wrap(self._console, max(width - 8, 8))[-SPOKEN_ROWS:]
        heads = [f"    {THINKS} ", *["       "] * SPOKEN_ROWS]
        return [Text(head) + line for head, line in zip(heads, lines, strict=False)]

    def _status(self, step: StepStarted, width: int) -> Text:
        """The step, and of its figures as many as the terminal has room for."""
        text = Text(self._narrator.label(), "bold")
        parts = [Text(units.duration(time.monotonic() - self._begun))]
        if step.conversation:
            parts += self._figures(wide=width >= WIDE)
        tail = Text().join(Text(" · ", "dim") + part for part in parts)
        left = width - text.cell_len - tail.cell_len - 1
        if left >= len("Look …"):
            text += Text(" ") + cut(Text(_without_joints(safe(step.title))), left)
        return cut(text + tail, width)

    def _figures(self, *, wide: bool) -> list[Text]:
        context = Text("ctx ")
        fullest = max(self._shares.values(), default=0.0)
        style = share_style(fullest)
        if wide:
            context += _bar(fullest, style) + Text(" ")
        context.append(units.share(fullest), style)
        figures = [context, Text(units.money(self._spent))]
        if wide:
            figures.insert(0, Text(f"turn {self._turn + 1}"))
            figures.insert(2, Text(f"{units.tokens(self._tokens)} tokens"))
        return figures

    def _phase_line(self, step: StepStarted, width: int) -> Text:
        """The phases: what is done, where it is, what is to come."""
        line, done = Text("  "), step.phase in self._phases
        for phase in self._phases:
            if phase == step.phase:
                line.append(f"{safe(phase)}  ", "bold")
                done = False
            else:
                line.append(f"{safe(phase)}{f' {OK}' if done else ''}  ", "dim")
        return cut(line, width)


def _bar(share: float, style: str) -> Text:
    filled = min(BAR, round(share * BAR))
    return Text("█" * filled, style) + Text("░" * (BAR - filled), "dim")


def _steady(line: Line) -> Line:
    return replace(line, text=_without_joints(line.text), rest=_without_joints(line.rest))


def _without_joints(text: str) -> str:
    """Without what joins characters to one picture: terminals don't agree how wide that is, and
    what moves has to be as wide as it was taken to be."""
    return text if text.isascii() else text.translate({0x200D: None, 0xFE0F: None, 0x20E3: None})
