"""The memory for a terminal: what was found, what happened, one entry whole, and figures."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from foundry.report import units
from foundry.report.terminal_safe import safe
from foundry.schema.memory import Head, MemoryEntry, MemoryStats


def found_view(heads: Sequence[Head]) -> RenderableType:
    """Two lines for each: where it was, and what it says."""
    lines: list[RenderableType] = []
    for head in heads:
        where = safe(f"{_step_and_turn(head)}, run {head.run}, {head.ended:%Y-%m-%d %H:%M}")
        title = Text.assemble(
            (head.id, "bold"), f"  {head.score:.2f}  ", (where, "dim"), overflow="fold"
        )
        lines += [title, Padding(Text(safe(head.summary) or "(no summary)"), (0, 0, 0, 4))]
    return Group(*lines) if lines else Text("nothing fits", "dim")


def timeline_view(heads: Sequence[Head]) -> RenderableType:
    """A line for each, under its run."""
    lines: list[RenderableType] = []
    run = None
    for head in heads:
        if head.run != run:
            run = head.run
            lines.append(Text(f"run {safe(run)}", "bold"))
        lines.append(
            Text.assemble(
                (f"{head.ended:%m-%d %H:%M}  ", "dim"), head.id,
                f"  {safe(_step_and_turn(head))}  ",
                (safe(head.summary), "dim"), no_wrap=True, overflow="ellipsis",
            )
        )  # fmt: skip
    return Group(*lines) if lines else Text("nothing happened", "dim")


def stats_view(stats: MemoryStats, prompt_tokens: int, path: Path) -> RenderableType:
    """Figures, a line each; `prompt_tokens` are those that a conversation begins with."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in _figures(stats, prompt_tokens, path):
        table.add_row(name, value)
    return table


def entry_text(entry: MemoryEntry) -> str:
    """Everything that an entry holds, under headings."""
    snapshot = entry.snapshot
    sections = [
        (f"{entry.id}: {entry.kind} {entry.turn} of {entry.step or entry.phase or 'a run'}",
         "\n".join(_facts(entry))),
        *((f"summary, by {each.source}, {each.at:%Y-%m-%d %H:%M}",
           "\n".join((each.text, *(f"- {insight}" for insight in each.insights))))
          for each in entry.summaries),
        ("task", snapshot.task),
        ("said", snapshot.said),
        *(section for call in snapshot.calls for section in (
            (f"call {call.tool}", json.dumps(call.arguments, indent=2, ensure_ascii=False)),
            ("error" if call.failed else "result", call.result or "(nothing)"))),
        ("decisions", "\n".join(f"- {each}" for each in snapshot.decisions)),
        ("files", "\n".join(f"{each.path}: {each.deeds}" for each in snapshot.files)),
        ("state", json.dumps(snapshot.state, indent=2, ensure_ascii=False)
         if snapshot.state else ""),
    ]  # fmt: skip
    return "\n\n".join(f"# {title}\n{text}" for title, text in sections if text)


def _facts(entry: MemoryEntry) -> Iterator[str]:
    yield f"run {entry.run}"
    if entry.conversation:
        yield f"conversation {entry.conversation}"
    yield f"{entry.began:%Y-%m-%d %H:%M:%S} to {entry.ended:%H:%M:%S} UTC"
    yield units.counted(entry.tokens, "token")


def _figures(stats: MemoryStats, prompt_tokens: int, path: Path) -> Iterator[tuple[str, str]]:
    yield "memory", str(path)
    runs = units.counted(stats.runs, "run")
    yield "entries", f"{stats.turns:,} turns and {stats.steps:,} steps of {runs}"
    yield "files touched", f"{stats.files:,}"
    yield "originals", f"{units.tokens(stats.original_tokens)} tokens"
    for name, count in (("summaries", stats.summary_tokens), ("in a prompt", prompt_tokens)):
        yield name, f"{units.tokens(count)} tokens{_saving(stats, count)}"
    sizes = (stats.original_bytes, stats.distinct_bytes, stats.stored_bytes)
    written, distinct, packed = map(units.size, sizes)
    yield "stored", f"{written} of originals, {distinct} of them distinct, {packed} packed"
    yield "file", f"{units.size(stats.file_bytes)} with what finds them"
    if stats.first and stats.last:
        yield "from", f"{stats.first:%Y-%m-%d %H:%M} to {stats.last:%Y-%m-%d %H:%M} UTC"


def _saving(stats: MemoryStats, tokens: int) -> str:
    """Against sending all originals again; nothing where that is no saving."""
    share = 1 - tokens / max(1, stats.original_tokens)
    return f" ({share:.1%} fewer)" if share > 0 else ""


def _step_and_turn(head: Head) -> str:
    where = head.step or head.phase or "?"
    return f"{where} turn {head.turn}" if head.kind == "turn" else f"{where} (step)"
