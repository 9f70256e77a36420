"""Which events of a log are looked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from foundry.report.details import ENDS_WELL
from foundry.report.replay import Logged
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
        return not wanted.text or wanted.text.casefold() in _text(logged.data)

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


def _text(data: dict[str, Any]) -> str:
    return "\n".join(_texts(data)).casefold()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
