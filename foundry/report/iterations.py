"""Iterations of circular prompting as lines: how one begins and why, its parts, what it came to."""

from collections.abc import Mapping

from foundry.report import units
from foundry.report.lines import FAILED, NEUTRAL, OK, Line, Tone
from foundry.schema.events import IterationEnded, IterationStarted, PartEnded

Lines = tuple[Line, ...]

MARKS: dict[str, tuple[str, Tone]] = {
    "success": (OK, "good"),
    "continue": (NEUTRAL, "act"),
    "blocked": (FAILED, "bad"),
    "unknown": (NEUTRAL, "warn"),
}


def begun(event: IterationStarted, told: Mapping[str, str]) -> Lines:
    """Why an iteration is set up as it is, as far as that was not `told` before."""
    lines = [
        Line(f"{name} {why}" if name == "threshold" else f"{name}: {why}", tone="dim", indent=1,
             fit="wrap")
        for name, why in event.reasons.items()
        if told.get(name) != why
    ]  # fmt: skip
    if event.parts:
        side = f"{len(event.parts)} side by side: {'; '.join(event.parts)}"
        lines.append(Line(side, tone="plain", indent=1, fit="wrap"))
    return tuple(lines)


def part(event: PartEnded) -> Lines:
    """What became of one that worked beside others."""
    rest = _joined(
        _said(event.reason),
        units.counted(event.files_changed, "file"),
        f"ctx {units.share(event.context_share)}",
        f"{units.tokens(event.tokens)} tokens",
    )
    if event.merged:
        return (Line(f"{event.part}: merged", OK, tone="good", indent=1, rest=rest),)
    text = f"{event.part}: not merged, {event.why}; {rest}"
    return (Line(text, NEUTRAL, tone="warn", indent=1, fit="wrap"),)


def ended(event: IterationEnded) -> Lines:
    """What an iteration, or a thread that doubted one, came to."""
    mark, tone = MARKS["blocked" if event.trip else event.status]
    holding = f"{event.checks - event.failing}/{event.checks} checks" if event.checks else ""
    text = _joined(
        f"{'doubt of ' if event.doubt else ''}iteration {event.iteration}",
        event.status,
        _ended(event.reason),
        f"no progress ({_said(event.trip)})" if event.trip else "",
        f"{event.resolved} resolved, {event.discovered} found",
        holding,
        units.counted(event.files_changed, "file"),
        f"ctx {units.share(event.context_share)}",
        f"{units.tokens(event.tokens)} tokens",
        f"{units.share(event.progress)} done",
    )
    return (Line(text, mark, tone=tone, fit="wrap"),)


def _ended(reason: str) -> str:
    if reason == "submitted":
        return reason
    return "ended at its threshold" if reason == "restart" else f"ended: {_said(reason)}"


def _said(word: str) -> str:
    return word.replace("_", " ")


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
