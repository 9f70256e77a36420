"""Lines in a terminal: colour where it helps, columns that line up, nothing wider than it."""

from rich.console import Console
from rich.text import Text

from foundry.report.lines import INDENT, Figures, Line, label_width

STYLES = {
    "plain": "",
    "good": "green",
    "bad": "red",
    "warn": "yellow",
    "dim": "dim",
    "strong": "bold",
    "act": "cyan",
}
HEADINGS = ("time", "tokens", "cost", "ctx", "commit")
WIDTHS = (7, 6, 7, 4, 7)
COLUMNS = {79: (0, 1, 2, 3, 4), 56: (0, 3, 4), 0: (0, 3)}
"""The columns that a terminal has room for, by its width."""

GAP = "  "

GOAL, FULL = 0.4, 0.8
"""Shares of the window: a conversation is to stay under the one, and is compacted by the other."""


def show(console: Console, line: Line) -> None:
    """Print a line."""
    text = styled(line, console.width - 1)
    if line.fit == "wrap":
        head = INDENT * line.indent + " " * (label_width(line) + 1 if line.label else 2)
        first, *more = text.wrap(console, console.width - 1 - len(head))
        text = Text("\n").join([first, *(Text(head) + part for part in more)])
    console.print(text, soft_wrap=True)


def styled(line: Line, width: int) -> Text:
    """The line for a terminal of this width; only one that is not to be cut may be wider."""
    head = Text(INDENT * line.indent)
    style = STYLES[line.tone]
    if line.mark:
        head.append(f"{line.mark} ", style)
    if line.label:
        head.append(f"{line.label:<{label_width(line)}} ", "bold" if line.figures else "dim")
    head.append(line.text, _text_style(line))
    if line.figures is None:
        return _with_rest(head, line, width)
    tail = figures(line.figures, width)
    left = width - tail.cell_len - len(GAP)
    head = cut(head, left)
    head.pad_right(left - head.cell_len)
    return Text.assemble(head, GAP, tail)


def _with_rest(head: Text, line: Line, width: int) -> Text:
    """What came of something is told whole where there is room for it, the thing itself cut."""
    rest = Text(
        f" · {line.rest}" if line.rest else "", STYLES["bad" if line.tone == "bad" else "dim"]
    )
    if line.fit != "cut":
        return head + rest
    left = max(width - rest.cell_len, width // 2)
    return cut(cut(head, left) + rest, width)


def headings(width: int) -> Text:
    """What the columns of figures mean."""
    names = _columns(HEADINGS, width)
    return Text(names.rjust(width), "dim")


def figures(used: Figures, width: int) -> Text:
    """A step's figures in columns; a narrow terminal gets fewer."""
    return Text(_columns(used.cells(), width), "dim")


def share_style(share: float) -> str:
    """The colour of a share of the window that is in use."""
    return "green" if share < GOAL else "yellow" if share < FULL else "red"


def cut(text: Text, width: int) -> Text:
    """The text in one line of at most this width, `…` where it was longer."""
    short = text.copy()
    short.truncate(max(width, 1), overflow="ellipsis")
    return short


def _columns(cells: tuple[str, ...], width: int) -> str:
    chosen = next(columns for least, columns in COLUMNS.items() if width >= least)
    return GAP.join(f"{cells[n]:>{WIDTHS[n]}}" for n in chosen)


def _text_style(line: Line) -> str:
    """A mark is enough colour for what went well; what went wrong is coloured whole."""
    plain = line.tone == "act" or (line.tone == "good" and line.figures)
    return "" if plain else STYLES[line.tone]
