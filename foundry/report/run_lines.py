"""What a run as a whole tells, as lines: how it begins, its iterations, how it ends."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from foundry.config import program
from foundry.report import units
from foundry.report.lines import FAILED, NEUTRAL, OK, Line, Lines, Tone
from foundry.sandbox.base import promise
from foundry.schema.events import IterationEnded, IterationStarted, PartEnded, RunEnded, RunStarted
from foundry.schema.run import Status

PROSE = ("limits", "sandbox")
WRAPPED = ("built", "proof", "know")
"""Rows that nobody copies: they may be wrapped."""


def confinement(level: str) -> str:
    """A sandbox by its name, with what it holds back where that is known."""
    return ": ".join(filter(None, (level, promise(level)[0])))


def banner(event: RunStarted) -> Lines:
    """What a person needs to know before they go to sleep."""
    rows = {
        "place": event.place,
        "branch": event.branch,
        "model": event.model,
        "limits": f"${event.max_usd:g} for the run · {event.max_hours:g} h from now",
        "sandbox": confinement(event.sandbox),
        "log": event.log,
        "resume": event.resume,
    }
    verb = "goes on" if event.resumed else "begins"
    head = Line(f"Foundry: run {event.run} {verb}", tone="strong")
    lines = (
        Line(text, label=name, fit="wrap" if name in PROSE else "whole")
        for name, text in rows.items()
        if text
    )
    return (head, *lines, Line(""))


OVER = {each for each in Status if each.over}
STATUS_MARKS: dict[str, tuple[str, Tone]] = {
    Status.VERIFIED: (OK, "good"),
    Status.UNVERIFIED: (NEUTRAL, "warn"),
    Status.FAILED: (FAILED, "bad"),
    Status.PAUSED: (NEUTRAL, "warn"),
    Status.INTERRUPTED: (NEUTRAL, "warn"),
}


def ending(event: RunEnded, resume: str = "") -> Lines:
    """The block that a run ends with; `resume` is the command that takes it up again."""
    rows = [
        *_facts(event),
        *(_next(event) if event.status in OVER else _again(event, resume)),
        *_look(event),
    ]
    shown = (
        Line(text, label=label, fit="wrap" if kind in WRAPPED else "whole")
        for (kind, _), (label, text) in zip(rows, _once(rows), strict=True)
    )
    return (Line(""), verdict(event), *shown)


def verdict(event: RunEnded) -> Line:
    """How it ended, in one line."""
    mark, tone = STATUS_MARKS.get(event.status, (NEUTRAL, "plain"))
    return Line(f"{event.status}: {event.reason}", mark, tone=tone, fit="wrap")


def short(event: RunEnded, resume: str = "") -> Lines:
    """The ending for `--quiet`."""
    rows = [("place", event.place)]
    if event.status not in OVER:
        rows += _again(event, resume)
    return (verdict(event), *(Line(text, label=label, fit="whole") for label, text in rows))


def checkout(worktree: str, branch: str) -> str:
    """The checkout that a run's work tree stands beside, or nothing when it is the project."""
    parent = Path(worktree).parent
    if not branch or parent.suffix != ".foundry":
        return ""
    return str(parent.with_suffix(""))


def _facts(event: RunEnded) -> list[tuple[str, str]]:
    used = (units.money(event.cost_usd), f"{units.tokens(event.tokens)} tokens")
    if event.cost_usd is None:
        used = (f"{units.tokens(event.tokens)} tokens", "price unknown")
    built = [("built", event.built)] if event.built else []
    return [
        *built,
        ("place", event.place),
        *([("proof", event.proof)] if event.proof else []),
        *(("know", words) for words in event.flags),
        ("branch", f"{event.branch} · {units.counted(event.commits, 'commit')}"),
        *(("commits", line) for line in event.log),
        ("used", " · ".join((*used, units.duration(event.seconds)))),
    ]


def _next(event: RunEnded) -> list[tuple[str, str]]:
    theirs = checkout(event.place, event.branch)
    if not theirs:
        return []
    return [("merge", f"cd {shlex.quote(theirs)} && git merge {shlex.quote(event.branch)}")]


def _again(event: RunEnded, resume: str) -> list[tuple[str, str]]:
    rows = [("resume", resume or f"{program()} resume {shlex.quote(event.place)}")]
    if event.status == Status.PAUSED and event.artifacts:
        rows.append(("edit", " and ".join(event.artifacts) + " in .context-foundry/, if you like"))
    return rows


def _look(event: RunEnded) -> list[tuple[str, str]]:
    return [
        ("look", f"cd {shlex.quote(event.place)}"),
        ("look", "git log --oneline      the commits"),
        ("look", f"{program()} show evidence  what proves each requirement"),
        ("look", f"{program()} status         phases, tasks, cost"),
        ("look", f"{program()} log            what happened, line by line"),
    ]


def _once(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """A label that repeats is shown at its first row only."""
    shown, last = [], ""
    for label, text in rows:
        shown.append((" " if label == last else label, text))
        last = label
    return shown


ITERATION_MARKS: dict[str, tuple[str, Tone]] = {
    "success": (OK, "good"),
    "continue": (NEUTRAL, "act"),
    "blocked": (FAILED, "bad"),
    "unknown": (NEUTRAL, "warn"),
}


def iteration_began(event: IterationStarted, before: Mapping[str, str]) -> Lines:
    """Why an iteration is set up as it is, as far as `before`, the last one's reasons, differs."""
    lines = [
        Line(f"{name} {why}" if name == "threshold" else f"{name}: {why}", tone="dim", indent=1,
             fit="wrap")
        for name, why in event.reasons.items()
        if before.get(name) != why
    ]  # fmt: skip
    if event.parts:
        side = f"{len(event.parts)} side by side: {'; '.join(event.parts)}"
        lines.append(Line(side, tone="plain", indent=1, fit="wrap"))
    return tuple(lines)


def part_ended(event: PartEnded) -> Lines:
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


def iteration_ended(event: IterationEnded) -> Lines:
    """What an iteration, or a thread that doubted one, came to."""
    mark, tone = ITERATION_MARKS["blocked" if event.trip else event.status]
    holding = f"{event.checks - event.failing}/{event.checks} checks" if event.checks else ""
    text = _joined(
        f"{'doubt of ' if event.doubt else ''}iteration {event.iteration}",
        event.status,
        _ending(event.reason),
        f"no progress ({_said(event.trip)})" if event.trip else "",
        f"{event.resolved} resolved, {event.discovered} found",
        holding,
        units.counted(event.files_changed, "file"),
        f"ctx {units.share(event.context_share)}",
        f"{units.tokens(event.tokens)} tokens",
        f"{units.share(event.progress)} done",
    )
    return (Line(text, mark, tone=tone, fit="wrap"),)


def _ending(reason: str) -> str:
    if reason == "submitted":
        return reason
    return "ended at its threshold" if reason == "restart" else f"ended: {_said(reason)}"


def _said(word: str) -> str:
    return word.replace("_", " ")


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
