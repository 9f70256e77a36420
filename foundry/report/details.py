"""What happens within a step, as lines: reasoning, actions, results, and what they cost.

Short, each is a line of the panel that moves while a step runs; whole, it is what `-v` shows.
"""

from collections.abc import Callable
from typing import Any

from foundry.report import units
from foundry.report.lines import FAILED, NEUTRAL, OK, Line, Lines
from foundry.report.tool_lines import LOOKS, THINKS, call_line, describe_call, result_lines
from foundry.schema.events import (
    ContextUpdated,
    Event,
    Given,
    Judged,
    Reasoned,
    Reflected,
    ReflectionEnded,
    Retrieved,
    Stats,
    ToolRan,
    ToolStarted,
    TurnEnded,
)

ENDS_WELL = ("end_turn", "tool_use", "stop_sequence", "pause_turn", "")


def short(event: Event) -> Lines:
    """At most one line, for the panel."""
    match event:
        case Reasoned():
            return thought(event.text)
        case ToolRan():
            return (call_line(event),)
    return ()


def whole(event: Event) -> Lines:
    """All that `-v` tells of an event."""
    worded = _WHOLE.get(type(event))
    return worded(event) if worded else ()


def everything(event: Event) -> Lines:
    """Also what other lines tell already: for whoever asks for events of this kind."""
    worded = _EVERYTHING.get(type(event))
    return worded(event) if worded else whole(event)


def heads(event: Event) -> Lines:
    """One line of all that there is to tell; figures whole."""
    return whole(event) if isinstance(event, Stats) else everything(event)[:1]


def thought(text: str) -> Lines:
    """Reasoning in one line, however long it is."""
    return (Line(text, THINKS, tone="dim", indent=1),) if text.strip() else ()


def _reasoned(event: Reasoned) -> Lines:
    first, *more = [line for line in event.text.split("\n") if line.strip()] or [""]
    head = Line(first, THINKS, tone="dim", indent=1, fit="wrap")
    return (head, *(Line(line, tone="dim", indent=2, fit="wrap") for line in more))


def _turn(event: TurnEnded) -> Lines:
    used = event.input_tokens + event.cache_read_tokens + event.cache_write_tokens
    cached = f" ({units.share(event.cache_read_tokens / used)} cached)" if used else ""
    name = f"turn {event.turn}" if event.purpose == "turn" else event.purpose
    parts = (
        f"{units.tokens(used)} in{cached}, {units.tokens(event.output_tokens)} out",
        units.money(event.cost_usd),
        f"context {units.share(event.context_share)}",
        units.duration(event.seconds),
        "" if event.stop_reason in ENDS_WELL else event.stop_reason.replace("_", " "),
    )
    rest = " · ".join(part for part in parts if part)
    return (Line(name, "⏺", tone="dim", indent=1, rest=rest),)


def _ran(event: ToolRan) -> Lines:
    return (call_line(event), *result_lines(event))


def _called(event: ToolStarted) -> Lines:
    mark, text = describe_call(event)
    return (Line(text, mark, tone="act", indent=1, rest="called"),)


def _given(event: Given) -> Lines:
    rest = f"{units.tokens(event.tokens)} tokens"
    where = f" {event.conversation}" if event.conversation else ""
    head = Line(f"{event.source}{where}", NEUTRAL, tone="dim", indent=bool(event.step), rest=rest)
    return (head,)


def _given_whole(event: Given) -> Lines:
    lines = (Line(line, tone="dim", indent=2) for line in event.content.split("\n"))
    return (*_given(event), *lines)


def _retrieved(event: Retrieved) -> Lines:
    rest = f"{units.tokens(event.tokens_added)} tokens"
    head = Line(units.counted(len(event.actions), "thing") + " looked up beforehand", LOOKS,
                tone="act", indent=1, rest=rest)  # fmt: skip
    return (head, *(Line(each, tone="dim", indent=2) for each in event.actions))


def _judged(event: Judged) -> Lines:
    """What a person said; what the rules said is told by the call itself."""
    return () if event.who == "policy" else _judged_whole(event)


def _judged_whole(event: Judged) -> Lines:
    allowed = event.decision not in ("deny", "no", "wait")
    by = f"{event.decision} by {event.who}"
    why = event.why or event.rule
    rest = f"{by}: {why}" if why else by
    mark, tone = (OK, "act") if allowed else (FAILED, "bad")
    text = f"{event.tool}: {event.subject}"
    return (Line(text, mark, tone=tone, indent=1, rest=rest),)  # type: ignore[arg-type]


def _context(event: ContextUpdated) -> Lines:
    parts = ", ".join(
        f"{name.replace('_', ' ')} {units.tokens(count)}"
        for name, count in event.breakdown.items()
        if count
    )
    head = f"context {event.total_tokens:,} of {event.limit:,} tokens ({event.usage_percent:g}%)"
    return (Line(head, tone="dim", indent=1, rest=parts),)


def stats_rows(stats: Stats) -> list[tuple[str, str]]:
    """What a session came to, by name."""
    prompt = stats.input_tokens + stats.cache_read_tokens + stats.cache_write_tokens
    cached = f", {units.share(stats.cache_read_tokens / prompt)} of them cached" if prompt else ""
    calls = units.counted(stats.llm_calls, "call")
    retries = f", {stats.retries} tried again" if stats.retries else ""
    failed = f", {stats.tools_failed} failed" if stats.tools_failed else ""
    rows = [
        ("turns", f"{stats.total_turns:,} · {calls} of a model{retries}"),
        ("tools", f"{stats.tools_executed:,}{failed}"),
        ("tokens", f"{units.tokens(prompt)} in{cached}, {units.tokens(stats.output_tokens)} out"),
        ("cost", units.money(stats.cost_usd)),
        ("context", f"{stats.peak_usage_percent:g}% at its fullest · "
                    f"{units.counted(stats.compactions, 'compaction')}"),
    ]  # fmt: skip
    files = stats.files_modified
    return [*rows, ("files", f"{len(files):,} modified")] + [("", path) for path in files]


def _stats(event: Stats) -> Lines:
    tokens = units.tokens(event.total_tokens_used)
    figures = (
        units.counted(event.total_turns, "turn"),
        units.counted(event.tools_executed, "tool call"),
        units.counted(event.compactions, "compaction"),
        f"{tokens} tokens",
        f"{units.counted(len(event.files_modified), 'file')} modified",
    )
    return (Line(" · ".join(figures), label="stats", tone="dim"),)


def _stats_whole(event: Stats) -> Lines:
    return tuple(Line(text, label=name or " ") for name, text in stats_rows(event))


_WHOLE: dict[type[Event], Callable[[Any], Lines]] = {
    Reasoned: _reasoned,
    TurnEnded: _turn,
    ToolRan: _ran,
    Given: _given,
    Retrieved: _retrieved,
    Judged: _judged,
    Stats: _stats,
}
_EVERYTHING: dict[type[Event], Callable[[Any], Lines]] = {
    ToolStarted: _called,
    Given: _given_whole,
    Judged: _judged_whole,
    ContextUpdated: _context,
    Stats: _stats_whole,
}


QUIET = ("done", "acted", "ignored")
"""Ends that nobody has to be told of."""

ENDS = {
    "done": "it had thought enough",
    "rounds": "no round is left",
    "tokens": "the tokens for it are used up",
    "seconds": "the time for it is used up",
    "repeated": "it went round in a circle",
    "empty": "nothing came of it",
    "ignored": "it did not say whether to go on",
    "acted": "it set to work at once",
    "cut": "a reply was cut at its length limit",
    "refused": "the model refused",
    "context_full": "the window is full",
    "turns": "the turns of the conversation are used up",
    "minutes": "the time of the conversation is used up",
    "budget": "the money does not pay for it",
    "deadline": "the time of this invocation is over",
}


def round_line(event: Reflected) -> Line:
    """A round in one line: what it was about, and what was recalled in it."""
    about = event.focus or " ".join(event.text.split())
    text = " · ".join(part for part in (f"round {event.round}/{event.rounds}", about) if part)
    rest = f"{LOOKS} recalled {event.recalled[0]}" if event.recalled else ""
    more = len(event.recalled) - 1
    return Line(text, THINKS, tone="dim", indent=1, rest=f"{rest} +{more}" if more > 0 else rest)


def round_lines(event: Reflected) -> Lines:
    """A round with all that was thought in it."""
    thoughts = event.text.split("\n") if event.text else []
    head = f"round {event.round}/{event.rounds}"
    first = f"{head} · {event.focus}" if event.focus else head
    parts = (_recalled(event), units.duration(event.seconds))
    rest = " · ".join(part for part in parts if part)
    lines = (Line(line, tone="dim", indent=2, fit="wrap") for line in thoughts if line.strip())
    return (Line(first, THINKS, tone="dim", indent=1, rest=rest), *lines)


def end_line(event: ReflectionEnded) -> Line:
    """Why it is over, and what it cost."""
    why = ENDS.get(event.reason, event.reason.replace("_", " "))
    count = units.counted(event.rounds, "round")
    figures = f"{count} · {units.tokens(event.tokens)} tokens · {units.money(event.cost_usd)}"
    return Line(f"thinking ended: {why}", NEUTRAL, tone="dim", indent=1, rest=figures)


def _recalled(event: Reflected) -> str:
    return f"{LOOKS} recalled {', '.join(event.recalled)}" if event.recalled else ""
