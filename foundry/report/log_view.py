"""What `foundry log` prints: which events are wanted, their lines, and saved conversations."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from foundry.report import units
from foundry.report.details import ENDS_WELL
from foundry.report.lines import Line, plain
from foundry.report.narrate import Detail, Narrator
from foundry.report.replay import Logged
from foundry.report.terminal_safe import safe, safe_block
from foundry.schema.base import strings
from foundry.schema.events import (
    AttemptFailed,
    CheckRan,
    Event,
    Judged,
    RunEnded,
    RunStarted,
    Stats,
    StepStarted,
    ToolRan,
    TurnEnded,
    Waiting,
)
from foundry.schema.messages import Block, Message


@dataclass(frozen=True, slots=True)
class Wanted:
    """All of these have to hold; what is empty holds always.

    `step` is a phase or a step by its id or the beginning of it, `conversation` a part of its id.
    """

    kinds: frozenset[str] = frozenset()
    step: str = ""
    conversation: str = ""
    since: datetime | None = None
    until: datetime | None = None
    failures: bool = False
    text: str = ""

    @property
    def single(self) -> bool:
        """Whether single events are looked for, and not a stretch of what happened."""
        return bool(self.kinds or self.failures or self.text)


class Selection:
    """Decides about one event after the other: where it belongs may depend on earlier ones."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._step = self._phase = self._conversation = ""

    def takes(self, logged: Logged) -> bool:
        """Whether this event, the next one of the log, is wanted."""
        event, wanted = logged.event, self._wanted
        self._follow(event)
        if wanted.kinds and event.kind not in wanted.kinds:
            return False
        if (wanted.since and logged.at < wanted.since) or (
            wanted.until and logged.at > wanted.until
        ):
            return False
        if wanted.step and not self._is_of_step(event):
            return False
        if wanted.conversation and wanted.conversation not in self._conversation:
            return False
        if wanted.failures and not failed(event):
            return False
        return (
            not wanted.text or wanted.text.casefold() in "\n".join(strings(logged.data)).casefold()
        )

    def _follow(self, event: Event) -> None:
        if isinstance(event, StepStarted):
            self._step, self._phase, self._conversation = event.step, event.phase, ""
        if isinstance(event, RunStarted | RunEnded | Stats):
            self._step = self._phase = self._conversation = ""
        named = getattr(event, "conversation", "")
        if isinstance(named, str) and named:
            self._conversation = named

    def _is_of_step(self, event: Event) -> bool:
        step = str(getattr(event, "step", "") or self._step)
        wanted = self._wanted.step
        phase = str(getattr(event, "phase", "") or (self._phase if step == self._step else ""))
        return wanted in (step, phase) or step.startswith((f"{wanted}/", f"{wanted}["))


def failed(event: Event) -> bool:
    """Whether it tells of something that went wrong or was refused."""
    match event:
        case ToolRan():
            return bool(event.error)
        case TurnEnded():
            return event.stop_reason not in ENDS_WELL
        case CheckRan():
            return event.status in ("failed", "not_run")
        case Judged():
            return event.decision == "wait"  # what was refused, the call's own event tells
        case RunEnded():
            return event.exit_code != 0
    return isinstance(event, AttemptFailed | Waiting)


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
            text = wanted.text.casefold()
            lines = (*lines[:1], *(line for line in lines[1:] if text in line.text.casefold()))
        where = (narrator.label() or before) if wanted.single else ""
        if group := stamped(each.at, lines, where=where, dated=dated):
            yield group


def _detail(wanted: Wanted, *, verbose: bool) -> Detail:
    if wanted.single:
        return "everything" if verbose or wanted.text else "heads"
    return "all" if verbose else "steps"


def stamped(
    at: datetime, lines: Iterable[Line], *, where: str = "", dated: bool = False
) -> list[str]:
    """Lines as a log shows them: local time first, empty ones left out."""
    time = f"{at.astimezone():{'%Y-%m-%d ' if dated else ''}%H:%M:%S}"
    head = f"{time} {where:<{LABEL}}" if where else time
    return [f"{head} {text}" for line in lines if (text := plain(line))]


SHOWN_LINES = 12
"""Lines of a block, unless all of it is asked for."""

SHOWN_WIDTH = 300


def conversation_lines(messages: Sequence[Message], *, whole: bool = False) -> Iterator[str]:
    """The lines; long blocks are cut unless `whole`."""
    for number, message in enumerate(messages, 1):
        if number > 1:
            yield ""
        yield f"── {number} {message['role']}"
        content: Any = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            yield from _block(block, whole)


def _block(block: Block, whole: bool) -> Iterator[str]:
    match block.get("type"):
        case "text":
            yield from _shown(block["text"], whole)
        case "thinking":
            yield "thinking:"
            yield from _shown(block.get("thinking", ""), whole, "  ")
        case "tool_use":
            yield f"▶ {safe(str(block.get('name')))}"
            yield from _shown(_arguments(block.get("input")), whole, "  ")
        case "tool_result":
            yield "failed:" if block.get("is_error") else "answered:"
            yield from _shown(_content(block.get("content")), whole, "  ")
        case kind:
            yield f"({safe(str(kind))})"


def _shown(text: str, whole: bool, indent: str = "") -> Iterator[str]:
    lines = safe_block(text).rstrip("\n").split("\n")
    shown = lines if whole else lines[:SHOWN_LINES]
    for line in shown:
        cut = line if whole or len(line) <= SHOWN_WIDTH else f"{line[:SHOWN_WIDTH]}…"
        yield f"{indent}{cut}"
    if len(lines) > len(shown):
        yield f"{indent}… {units.counted(len(lines) - len(shown), 'more line')}"


def _arguments(value: Any) -> str:
    """Arguments as they read best: one a line, text as it is."""
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "\n".join(
        f"{name}: {each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)}"
        for name, each in value.items()
    )


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(
        str(block["text"]) if block.get("type") == "text" else f"({block.get('type')})"
        for block in content or ()
    )
