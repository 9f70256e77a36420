"""A line of a report: what it says, apart from how a terminal or a file shows it."""

from dataclasses import dataclass
from typing import Literal

from foundry.report import units
from foundry.report.terminal_safe import safe

Tone = Literal["plain", "good", "bad", "warn", "dim", "strong", "act"]
"""`act`: something was done, neither well nor badly."""

Fit = Literal["cut", "wrap", "whole"]
"""What becomes of a line that is too long: cut, wrapped at words, or left for the terminal to break
so that what is copied from it (a path, a command) stays in one piece."""

OK, FAILED, NEUTRAL = "✓", "✗", "●"
RESET = "🔄 Context reset - starting fresh conversation"
INDENT = "    "

CHECK_MARKS: dict[str, tuple[str, Tone]] = {
    "passed": (OK, "good"),
    "failed": (FAILED, "bad"),
    "preexisting": (NEUTRAL, "warn"),
    "not_run": (NEUTRAL, "dim"),
}


@dataclass(frozen=True, slots=True)
class Figures:
    """What a step used. `context` is the fullest that its window was, None without one."""

    seconds: float
    tokens: int = 0
    cost_usd: float | None = None
    context: float | None = None
    commit: str = ""

    def cells(self) -> tuple[str, ...]:
        """Duration, tokens, cost, context, commit; empty where there is nothing to tell."""
        talked = self.context is not None
        return (
            units.duration(self.seconds),
            units.tokens(self.tokens) if talked else "",
            units.money(self.cost_usd) if talked else "",
            units.share(self.context or 0) if talked else "",
            safe(self.commit[:7]),
        )


@dataclass(frozen=True, slots=True)
class Line:
    """`label` is a short column before the text, `rest` what came of it, after it.

    Text is made safe here, so that no renderer can forget it.
    """

    text: str
    mark: str = ""
    label: str = ""
    tone: Tone = "plain"
    figures: Figures | None = None
    indent: int = 0
    fit: Fit = "cut"
    rest: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", safe(self.text))
        object.__setattr__(self, "label", safe(self.label))
        object.__setattr__(self, "rest", safe(self.rest))


Lines = tuple[Line, ...]


def plain(line: Line) -> str:
    """The line for a file: no colour, no padding to a width, nothing cut."""
    head = INDENT * line.indent + (f"{line.mark} " if line.mark else "")
    label = f"{line.label:<{label_width(line)}} " if line.label else ""
    text = f"{head}{label}{line.text}{line.rest and f' · {line.rest}'}"
    if line.figures is None:
        return text.rstrip()
    seconds, tokens, cost, context, commit = line.figures.cells()
    figures = (
        seconds,
        tokens and f"{tokens} tokens",
        cost,
        context and f"context {context}",
        commit,
    )
    return f"{text}  [{' · '.join(each for each in figures if each)}]"


def label_width(line: Line) -> int:
    """Columns for a label: room for `builder 12/20` before a step, for `resume` elsewhere."""
    return 13 if line.figures else 8
