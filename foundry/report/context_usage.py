"""How full each conversation of a run was, from its session logs, and that as a table with bars."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from foundry.report import units
from foundry.report.render import share_style
from foundry.report.replay import replay, whole_lines
from foundry.report.terminal_safe import safe
from foundry.schema.events import Compacted, ContextUpdated, Event, RunStarted
from foundry.store.project import Project


@dataclass
class ConversationUsage:
    """One conversation: its last state, and what it was over its life."""

    last: ContextUpdated
    run: str = ""
    turns: int = 0
    peak_tokens: int = 0
    compactions: list[Compacted] = field(default_factory=list)

    def follow(self, event: ContextUpdated) -> None:
        """Take in another turn."""
        self.last, self.turns = event, self.turns + 1
        self.peak_tokens = max(self.peak_tokens, event.total_tokens)

    @property
    def name(self) -> str:
        """The conversation's id without the run's, which all of them begin with."""
        return self.last.conversation.removeprefix(f"{self.run}-")

    @property
    def share(self) -> float:
        """Of the window, at the end."""
        return self.last.total_tokens / self.last.limit if self.last.limit else 0.0

    @property
    def peak_share(self) -> float:
        """Of the window, at its fullest."""
        return self.peak_tokens / self.last.limit if self.last.limit else 0.0

    def as_json(self) -> dict[str, Any]:
        """The seed's figures, with turns and peak."""
        last = self.last
        return {
            "conversation": last.conversation,
            "step": last.step,
            "turns": self.turns,
            "total_tokens": last.total_tokens,
            "limit": last.limit,
            "usage_percent": last.usage_percent,
            "available_tokens": last.available_tokens,
            "needs_compaction": last.needs_compaction,
            "message_count": last.message_count,
            "compaction_count": last.compaction_count,
            "peak_tokens": self.peak_tokens,
            "peak_percent": round(100 * self.peak_share, 1),
            "breakdown": last.breakdown,
        }


def usages(project: Project, run: str = "") -> list[ConversationUsage]:
    """The conversations of a run in their order; without a name, of the newest run."""
    by_run: dict[str, list[Event]] = {}
    name = ""
    for log in sorted(project.logs.glob("*.jsonl")):
        for logged in replay(whole_lines(log)):
            if isinstance(logged.event, RunStarted):
                name = logged.event.run
            by_run.setdefault(name, []).append(logged.event)
    return _followed(by_run.get(run or name, ()), run or name)


def _followed(events: Iterable[Event], run: str) -> list[ConversationUsage]:
    found: dict[str, ConversationUsage] = {}
    for event in events:
        if isinstance(event, ContextUpdated):
            found.setdefault(event.conversation, ConversationUsage(event, run)).follow(event)
        elif isinstance(event, Compacted) and event.conversation in found:
            found[event.conversation].compactions.append(event)
    return list(found.values())


BAR = 20
"""Characters for a whole window."""

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
            Text(units.share(each.peak_share), share_style(each.peak_share)),
            Text(bar(each.share, each.peak_share), share_style(each.peak_share)),
            _compactions(each),
        )
    fullest = max(found, key=lambda each: each.peak_share)
    return Group(table, Text(), Text(_parts(fullest), "dim"))


def bar(now: float, peak: float) -> str:
    """`[####--........]`: the tokens now, up to the peak, up to the whole window."""
    filled = min(BAR, round(now * BAR))
    reached = max(filled, min(BAR, round(peak * BAR)))
    return f"[{'#' * filled}{'-' * (reached - filled)}{'.' * (BAR - reached)}]"


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
