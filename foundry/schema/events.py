"""What happens while a run goes on, for whoever watches: terminal, JSON lines, session log."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

LINES = 24
CHARACTERS = 1_200
LONGEST_LINE = 200
"""What is shown of a text that is too long."""


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
    phases: tuple[str, ...] = ()


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
class Given(Event):
    """What a run or a conversation starts from. `source`: spec, opening, or answer (a person's)."""

    kind: ClassVar[str] = "input"
    step: str
    conversation: str
    source: str
    content: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Retrieved(Event):
    """What a conversation was given to read before it asked."""

    kind: ClassVar[str] = "retrieval"
    step: str
    conversation: str
    actions: tuple[str, ...]
    tokens_added: int
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Reasoned(Event):
    """What the model said beside its tool calls, or thought before them."""

    kind: ClassVar[str] = "reasoning"
    step: str
    text: str
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class Reflected(Event):
    """A round of thinking before a turn. `text` is what was thought, `focus` what about, and
    `recalled` what was given back from the memory for the next round."""

    kind: ClassVar[str] = "reflection"
    step: str
    conversation: str
    turn: int
    round: int
    rounds: int
    focus: str
    text: str
    recalled: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ReflectionEnded(Event):
    """The thinking before a turn is over: `done`, or which limit or accident ended it. `rounds`
    is how many there were, `tokens` what they sent and received."""

    kind: ClassVar[str] = "reflection_end"
    step: str
    conversation: str
    turn: int
    rounds: int
    reason: str
    tokens: int
    cost_usd: float | None
    seconds: float
    recalled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnEnded(Event):
    """One model call came back. `purpose`: a turn of the conversation, a round of thinking
    (reflection), or other work for it."""

    kind: ClassVar[str] = "llm_call"
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
    conversation: str = ""
    model: str = ""
    purpose: str = "turn"


@dataclass(frozen=True, slots=True)
class ToolStarted(Event):
    """A tool was called. `subject` is its command, pattern or file."""

    kind: ClassVar[str] = "tool_call"
    step: str
    tool: str
    subject: str
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class ToolRan(Event):
    """A tool answered. `result` is the answer's beginning and end, `lines` how many it has;
    `approval` is what `Judged` decided about the call."""

    kind: ClassVar[str] = "tool_execution"
    step: str
    tool: str
    subject: str
    seconds: float
    error: str = ""
    conversation: str = ""
    result: str = ""
    lines: int = 0
    approval: str = ""


@dataclass(frozen=True, slots=True)
class Judged(Event):
    """Permission for one tool call. `decision` is allow, deny, wait, or a person's answer."""

    kind: ClassVar[str] = "approval"
    step: str
    tool: str
    subject: str
    decision: str
    part: str
    why: str
    rule: str
    who: str


@dataclass(frozen=True, slots=True)
class ContextUpdated(Event):
    """How full a conversation is now, and with what; the parts add up to the total."""

    kind: ClassVar[str] = "context_update"
    step: str
    conversation: str
    total_tokens: int
    limit: int
    usage_percent: float
    available_tokens: int
    needs_compaction: bool
    message_count: int
    compaction_count: int
    breakdown: dict[str, int]


@dataclass(frozen=True, slots=True)
class Compacted(Event):
    """Room was made in a conversation that grew too full. `stages`: what was taken out by each,
    tool results or messages. The conversation as it was stays in its transcript."""

    kind: ClassVar[str] = "compaction"
    step: str
    conversation: str
    tokens_before: int
    tokens_after: int
    reduction_percent: float
    messages_before: int
    messages_after: int
    stages: dict[str, int]


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
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IterationStarted(Event):
    """A thread of circular prompting begins, or several side by side on the `parts`. `reasons` is
    why it is set up so, where that was decided by what the iterations before achieved."""

    kind: ClassVar[str] = "iteration_started"
    step: str
    iteration: int
    doubt: bool
    threshold: float
    model: str
    prompt_version: int
    reasons: dict[str, str]
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartEnded(Event):
    """One of several threads that worked side by side ended, and was merged or not (`why`)."""

    kind: ClassVar[str] = "part"
    step: str
    part: str
    merged: bool
    why: str
    reason: str
    context_share: float
    files_changed: int
    tokens: int


@dataclass(frozen=True, slots=True)
class IterationEnded(Event):
    """An iteration of circular prompting was judged. `doubt`: a thread that tried to prove the
    claim of this iteration wrong. `progress` is the share of the known issues that is resolved;
    `trip` names the breaker that ends the run."""

    kind: ClassVar[str] = "iteration"
    step: str
    iteration: int
    doubt: bool
    status: str
    reason: str
    context_share: float
    files_changed: int
    resolved: int
    discovered: int
    checks: int
    failing: int
    tokens: int
    seconds: float
    progress: float
    trip: str = ""


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
    proof: str = ""
    """The figures of the verdict in one line."""
    flags: tuple[str, ...] = ()
    """What a person should know before they trust the result."""
    log: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stats(Event):
    """What an invocation came to, at the end of its session log. Tokens are those that were sent
    and received in all calls; files those that a step was accepted with or a tool wrote."""

    kind: ClassVar[str] = "stats"
    total_turns: int = 0
    llm_calls: int = 0
    tools_executed: int = 0
    tools_failed: int = 0
    compactions: int = 0
    retries: int = 0
    total_tokens_used: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = 0.0
    peak_usage_percent: float = 0.0
    files_modified: tuple[str, ...] = ()


Observer = Callable[[Event], None]


def excerpt(text: str) -> str:
    """The text, or where it is longer its first and last lines and how many were left out.

    The end gets two thirds of it: that is where commands say how it went.
    """
    lines = text.rstrip("\n").split("\n")
    if len(lines) <= LINES and len(text) <= CHARACTERS:
        return text.rstrip("\n")
    head = _fitting(lines[: LINES // 3], CHARACTERS // 3)
    tail = _fitting(lines[len(head) :][::-1][: LINES - LINES // 3], CHARACTERS * 2 // 3)[::-1]
    left_out = len(lines) - len(head) - len(tail)
    middle = [f"[… {left_out:,} lines left out …]"] if left_out else []
    return "\n".join((*head, *middle, *tail))


def _fitting(lines: list[str], limit: int) -> list[str]:
    found = []
    for line in lines:
        cut = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"
        limit -= len(cut) + 1
        if limit < 0:
            break
        found.append(cut)
    return found
