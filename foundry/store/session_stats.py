"""What a session came to: a fold over its events, the same while it goes on and from its log."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce
from typing import Any

from foundry.schema.events import (
    Compacted,
    ContextUpdated,
    Event,
    Stats,
    StepEnded,
    ToolRan,
    TurnEnded,
    Waiting,
)

WRITES = ("write_file", "edit_file")
"""The tools whose subject is the file that they change."""


def stats_of(events: Iterable[Event]) -> Stats:
    """The figures of all these events."""
    return reduce(counted, events, Stats())


def counted(stats: Stats, event: Event) -> Stats:
    """The figures with one event more."""
    counts = _COUNTS.get(type(event))
    return counts(stats, event) if counts else stats


def _called(stats: Stats, call: TurnEnded) -> Stats:
    prompt = call.input_tokens + call.cache_read_tokens + call.cache_write_tokens
    costs = (stats.cost_usd, call.cost_usd)
    return replace(
        stats,
        total_turns=stats.total_turns + (call.purpose == "turn"),
        llm_calls=stats.llm_calls + 1,
        total_tokens_used=stats.total_tokens_used + prompt + call.output_tokens,
        input_tokens=stats.input_tokens + call.input_tokens,
        output_tokens=stats.output_tokens + call.output_tokens,
        cache_read_tokens=stats.cache_read_tokens + call.cache_read_tokens,
        cache_write_tokens=stats.cache_write_tokens + call.cache_write_tokens,
        cost_usd=None if None in costs else sum(each or 0.0 for each in costs),
    )


def _ran(stats: Stats, ran: ToolRan) -> Stats:
    wrote = ran.tool in WRITES and not ran.error
    return replace(
        stats,
        tools_executed=stats.tools_executed + 1,
        tools_failed=stats.tools_failed + bool(ran.error),
        files_modified=_with(stats, (ran.subject,) if wrote else ()),
    )


def _compacted(stats: Stats, _event: Compacted) -> Stats:
    return replace(stats, compactions=stats.compactions + 1)


def _waited(stats: Stats, _event: Waiting) -> Stats:
    return replace(stats, retries=stats.retries + 1)


def _accepted(stats: Stats, event: StepEnded) -> Stats:
    return replace(stats, files_modified=_with(stats, event.files))


def _filled(stats: Stats, event: ContextUpdated) -> Stats:
    peak = max(stats.peak_usage_percent, event.usage_percent)
    return replace(stats, peak_usage_percent=peak)


def _with(stats: Stats, files: Iterable[str]) -> tuple[str, ...]:
    """The files changed so far and these, each once, in the order of their first change."""
    new = (path.removeprefix("./") for path in files)
    return tuple(dict.fromkeys((*stats.files_modified, *new)))


_COUNTS: dict[type[Event], Callable[[Stats, Any], Stats]] = {
    TurnEnded: _called,
    ToolRan: _ran,
    Compacted: _compacted,
    Waiting: _waited,
    StepEnded: _accepted,
    ContextUpdated: _filled,
}
