"""Rounds of thinking as lines: `💭 round 2/3 · what happens to a half-written file`."""

from foundry.report import units
from foundry.report.lines import NEUTRAL, Line
from foundry.report.tool_lines import LOOKS, THINKS
from foundry.schema.events import Reflected, ReflectionEnded

Lines = tuple[Line, ...]

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
    told = event.text.split("\n") if event.text else []
    head = f"round {event.round}/{event.rounds}"
    first = f"{head} · {event.focus}" if event.focus else head
    parts = (_recalled(event), units.duration(event.seconds))
    rest = " · ".join(part for part in parts if part)
    lines = (Line(line, tone="dim", indent=2, fit="wrap") for line in told if line.strip())
    return (Line(first, THINKS, tone="dim", indent=1, rest=rest), *lines)


def end_line(event: ReflectionEnded) -> Line:
    """Why it is over, and what it cost."""
    why = ENDS.get(event.reason, event.reason.replace("_", " "))
    count = units.counted(event.rounds, "round")
    figures = f"{count} · {units.tokens(event.tokens)} tokens · {units.money(event.cost_usd)}"
    return Line(f"thinking ended: {why}", NEUTRAL, tone="dim", indent=1, rest=figures)


def _recalled(event: Reflected) -> str:
    return f"{LOOKS} recalled {', '.join(event.recalled)}" if event.recalled else ""
