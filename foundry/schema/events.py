"""What happens while a run goes on, for whoever watches: terminal, JSON lines, session log."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened."""

    kind: ClassVar[str] = "event"


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """A run begins or goes on."""

    kind: ClassVar[str] = "run_started"
    run: str
    place: str
    branch: str
    model: str
    max_usd: float
    max_hours: float
    log: str
    resume: str
    sandbox: str
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class StepStarted(Event):
    """A step begins. A conversation starts empty: this is the seed's context reset."""

    kind: ClassVar[str] = "step_started"
    step: str
    phase: str
    title: str
    attempt: int
    conversation: bool
    number: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class TurnEnded(Event):
    """One model call came back."""

    kind: ClassVar[str] = "turn"
    step: str
    turn: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float | None
    context_share: float
    seconds: float
    stop_reason: str


@dataclass(frozen=True, slots=True)
class ToolRan(Event):
    """A tool answered."""

    kind: ClassVar[str] = "tool"
    step: str
    tool: str
    subject: str
    seconds: float
    error: str = ""


@dataclass(frozen=True, slots=True)
class Masked(Event):
    """Old tool results were taken out of a conversation that grew too full."""

    kind: ClassVar[str] = "masked"
    step: str
    results: int
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True)
class Waiting(Event):
    """The model's server failed in a way that may pass; the call is repeated."""

    kind: ClassVar[str] = "waiting"
    reason: str
    seconds: float
    attempt: int


@dataclass(frozen=True, slots=True)
class CheckRan(Event):
    """A check was run by the harness."""

    kind: ClassVar[str] = "check"
    step: str
    name: str
    command: str
    status: str
    verdict: str
    seconds: float


@dataclass(frozen=True, slots=True)
class StepEnded(Event):
    """A step was accepted and committed."""

    kind: ClassVar[str] = "step_ended"
    step: str
    phase: str
    title: str
    summary: str
    commit: str
    seconds: float
    tokens: int
    cost_usd: float | None
    context_share: float
    conversation: bool


@dataclass(frozen=True, slots=True)
class AttemptFailed(Event):
    """A step was not accepted; its partial work is kept as a patch."""

    kind: ClassVar[str] = "attempt_failed"
    step: str
    attempt: int
    reason: str
    detail: str
    salvage: str


@dataclass(frozen=True, slots=True)
class Note(Event):
    """Something that a person should know."""

    kind: ClassVar[str] = "note"
    text: str


@dataclass(frozen=True, slots=True)
class RunEnded(Event):
    """The run ended or paused. `log` holds the newest commits; `artifacts` those to edit."""

    kind: ClassVar[str] = "run_ended"
    run: str
    status: str
    reason: str
    place: str
    branch: str
    commits: int
    cost_usd: float | None
    tokens: int
    seconds: float
    exit_code: int
    artifacts: tuple[str, ...] = ()
    built: str = ""
    requirements: int = 0
    proven: int = 0
    log: tuple[str, ...] = ()


Observer = Callable[[Event], None]
