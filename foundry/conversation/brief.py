"""What a conversation starts from, what it may use, and what remains of it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from foundry.errors import ModelUnavailable
from foundry.model.base import Model
from foundry.schema.events import Observer
from foundry.schema.journal import Spend
from foundry.schema.memory import Draft
from foundry.schema.messages import Block, Message, Usage
from foundry.schema.workflow import Budget, Reflection
from foundry.tools.base import Toolset

Reason = Literal[
    "submitted", "not_submitted", "rejected", "refused", "context_full", "restart", "cut", "turns",
    "minutes", "budget", "deadline", "unavailable",
]  # fmt: skip
"""`restart`: the threshold was reached, and the step wants to begin afresh then. `unavailable`:
the model's server failed, and what was done before counts."""

Purpose = Literal["turn", "reflection", "compaction"]
"""What a model is called for: a turn of the conversation, or a round of thinking before one."""


def nothing() -> str:
    """Where there is nothing to tell."""
    return ""


UNTHINKING = Reflection(mode="off")


Over = Literal["deadline", "turns", "minutes"]

SMALLEST_REPLY = 1_024
"""Tokens. A reply that may not even be this long is not worth asking for."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left for one conversation. `deadline` is on the clock that `now` tells."""

    budget: Budget
    usd_left: Callable[[], float]
    deadline: float
    now: Callable[[], float]

    def ended(self, turns: int, started: float) -> Over | None:
        """Why no further call may be made, if that is so.

        `deadline` ends the run's invocation; `turns` and `minutes` end this conversation.
        """
        now = self.now()
        if now >= self.deadline:
            return "deadline"
        if turns >= self.budget.turns:
            return "turns"
        if now - started >= self.budget.minutes * 60:
            return "minutes"
        return None


def affordable_output(
    cost: Callable[[Usage], float | None], prompt_tokens: int, usd_left: float, wanted: int
) -> int:
    """The longest reply that the money left can pay for, at most `wanted`; 0 when it is too short.

    The prompt is counted uncached, so that the limit holds even when the cache misses.
    """
    prompt = cost(Usage(input_tokens=prompt_tokens))
    per_million = cost(Usage(output_tokens=1_000_000))
    if prompt is None or not per_million:
        return wanted
    tokens = int((usd_left - prompt) / per_million * 1_000_000)
    return 0 if tokens < min(SMALLEST_REPLY, wanted) else min(tokens, wanted)


@dataclass(frozen=True, slots=True)
class TurnDone:
    """A model call with the results of its tool calls."""

    number: int
    """From 1."""
    messages: tuple[Message, ...]
    """The reply, and the message with the results."""
    began: datetime
    ended: datetime
    tokens: int
    """Of the whole context after it: what sending it again costs."""
    summary: Draft | None = None
    """What the rounds of thinking before it settled on, made whole by code: no failed command,
    changed file or error of the turn is missing. None where nobody wrote one."""
    thoughts: str = ""
    """What was thought in rounds before it."""


@dataclass(frozen=True, slots=True)
class Brief:
    """All that a conversation starts from, what it may use, and who hears of it."""

    id: str
    step: str
    system: tuple[Block, ...]
    opening: tuple[Block, ...]
    tools: Toolset
    model: Model
    allowance: Allowance
    observe: Observer
    record: Callable[[Message], None]
    """Writes the transcript."""
    spent: Callable[[Usage, float | None, Purpose], None]
    """Counts the money of a call before anything follows from it."""
    on_text: Callable[[str], None] | None = None
    """Hears a reply as it streams."""
    turned: Callable[[TurnDone], None] = lambda _: None
    reflection: Reflection = UNTHINKING
    """Whether it thinks, and how (reflection.py)."""
    workspace: Callable[[], str] = nothing
    """How things stand now, for a round of thinking."""
    memory: Callable[[], str] = nothing
    """The accumulated summaries of the memory; nothing where there is nothing to recall."""
    keeps: bool = False
    """Whether what was done before the model's server failed is an outcome, too."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that remains of a conversation."""

    reason: Reason
    submission: BaseModel | None
    detail: str
    spend: Spend
    rejections: tuple[str, ...] = ()
    known: str = ""
    """With `restart`: what the conversation found out, for the one that comes after it."""
    said: str = ""
    """The model's last words."""
    failure: ModelUnavailable | None = None
    """With `unavailable`: how the model's server failed."""
