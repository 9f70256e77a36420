"""The last words of a run: how it ended, what there is now, and what to do next."""

import shlex
from pathlib import Path

from foundry.config import program
from foundry.report import units
from foundry.report.lines import FAILED, NEUTRAL, OK, Line, Tone
from foundry.schema.events import RunEnded
from foundry.schema.run import Status

OVER = {each for each in Status if each.over}
MARKS: dict[str, tuple[str, Tone]] = {
    Status.VERIFIED: (OK, "good"),
    Status.UNVERIFIED: (NEUTRAL, "warn"),
    Status.FAILED: (FAILED, "bad"),
    Status.PAUSED: (NEUTRAL, "warn"),
    Status.INTERRUPTED: (NEUTRAL, "warn"),
}


def ending(event: RunEnded, resume: str = "") -> tuple[Line, ...]:
    """The block that a run ends with; `resume` is the command that takes it up again."""
    rows = [
        *_facts(event),
        *(_next(event) if event.status in OVER else _again(event, resume)),
        *_look(event),
    ]
    shown = (
        Line(text, label=label, fit="wrap" if label == "built" else "whole")
        for label, text in _once(rows)
    )
    return (Line(""), verdict(event), *shown)


def verdict(event: RunEnded) -> Line:
    """How it ended, in one line."""
    mark, tone = MARKS.get(event.status, (NEUTRAL, "plain"))
    return Line(f"{event.status}: {event.reason}", mark, tone=tone, fit="wrap")


def short(event: RunEnded, resume: str = "") -> tuple[Line, ...]:
    """The ending for `--quiet`."""
    rows = [("place", event.place)]
    if event.status not in OVER:
        rows += _again(event, resume)
    return (verdict(event), *(Line(text, label=label, fit="whole") for label, text in rows))


def checkout(place: str, branch: str) -> str:
    """The checkout that a run's work tree stands beside, or nothing when it is the project."""
    parent = Path(place).parent
    if not branch or parent.suffix != ".foundry":
        return ""
    return str(parent.with_suffix(""))


def _facts(event: RunEnded) -> list[tuple[str, str]]:
    used = (units.money(event.cost_usd), f"{units.tokens(event.tokens)} tokens")
    if event.cost_usd is None:
        used = (f"{units.tokens(event.tokens)} tokens", "price unknown")
    built = [("built", event.built)] if event.built else []
    proof = f"{event.proven} of {units.counted(event.requirements, 'requirement')} proven"
    return [
        *built,
        ("place", event.place),
        *([("proof", proof)] if event.requirements else []),
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
