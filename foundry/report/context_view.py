"""How full conversations were, as a table with bars, for a terminal of 60 columns or more."""

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from foundry.report import units
from foundry.report.context_usage import ConversationUsage
from foundry.report.terminal_safe import safe

BAR = 20
"""Characters for a whole window."""

GOAL = 0.4
"""The share of its window that a conversation stays under."""

PARTS = {
    "system_and_tools": "system and tools",
    "codebase_summary": "project",
    "current_task": "task",
    "messages": "messages",
}


def context_view(found: Sequence[ConversationUsage]) -> RenderableType:
    """A row for each conversation, and what the fullest one was used for."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("conversation", overflow="fold")
    for name in ("turns", "tokens", "now", "peak"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("of the window", no_wrap=True)
    table.add_column("compacted", justify="right", no_wrap=True)
    for each in found:
        table.add_row(
            safe(each.name),
            str(each.turns),
            units.tokens(each.last.total_tokens),
            units.share(each.share),
            Text(units.share(each.peak_share), _style(each.peak_share)),
            Text(bar(each.share, each.peak_share), _style(each.peak_share)),
            _compactions(each),
        )
    fullest = max(found, key=lambda each: each.peak_share)
    return Group(table, Text(), Text(_parts(fullest), "dim"))


def bar(now: float, peak: float) -> str:
    """`[####--........]`: the tokens now, up to the peak, up to the whole window."""
    filled = min(BAR, round(now * BAR))
    reached = max(filled, min(BAR, round(peak * BAR)))
    return f"[{'#' * filled}{'-' * (reached - filled)}{'.' * (BAR - reached)}]"


def _style(peak: float) -> str:
    return "green" if peak < GOAL else "yellow" if peak < 2 * GOAL else "red"


def _compactions(each: ConversationUsage) -> str:
    if not each.compactions:
        return "-"
    saved = sum(event.tokens_before - event.tokens_after for event in each.compactions)
    return f"{len(each.compactions)} (-{units.tokens(saved)})"


def _parts(each: ConversationUsage) -> str:
    parts: Iterable[str] = (
        f"{name} {units.tokens(each.last.breakdown[key])}"
        for key, name in PARTS.items()
        if each.last.breakdown.get(key)
    )
    window = units.tokens(each.last.limit)
    return f"{safe(each.name)}, of {window}: {', '.join(parts)}"
