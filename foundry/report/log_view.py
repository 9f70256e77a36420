"""A session log as lines of text: each with its time, those that belong together in a group."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from foundry.report.lines import Line, plain
from foundry.report.log_filter import Selection, Wanted
from foundry.report.narrate import Detail, Lines, Narrator
from foundry.report.replay import Logged

LABEL = 14


def log_lines(
    logged: Iterable[Logged], wanted: Wanted, *, verbose: bool = False, dated: bool = False
) -> Iterator[list[str]]:
    """What the wanted events are worth, an item for each that is worth anything.

    Where single events are looked for, each is told and says to which step it belongs; of a text
    that is looked for, the lines that hold it.
    """
    narrator, selection = Narrator(_detail(wanted, verbose=verbose)), Selection(wanted)
    for each in logged:
        before = narrator.label()
        lines = narrator.tell(each.event)
        if not selection.takes(each):
            continue
        if wanted.text and not verbose:
            lines = _holding(lines, wanted.text)
        where = (narrator.label() or before) if wanted.single else ""
        if told := stamped(each.at, lines, where=where, dated=dated):
            yield told


def _detail(wanted: Wanted, *, verbose: bool) -> Detail:
    if wanted.single:
        return "everything" if verbose or wanted.text else "heads"
    return "all" if verbose else "steps"


def _holding(lines: Lines, text: str) -> Lines:
    """The first line, and of the others those with the text."""
    return (*lines[:1], *(line for line in lines[1:] if text.casefold() in line.text.casefold()))


def stamped(
    at: datetime, lines: Iterable[Line], *, where: str = "", dated: bool = False
) -> list[str]:
    """Lines as a log shows them: local time first, empty ones left out."""
    time = f"{at.astimezone():{'%Y-%m-%d ' if dated else ''}%H:%M:%S}"
    head = f"{time} {where:<{LABEL}}" if where else time
    return [f"{head} {text}" for line in lines if (text := plain(line))]
