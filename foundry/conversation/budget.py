"""When a conversation has to end: turns, time, money. Decisions are pure; the clock is given."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from foundry.schema.messages import Usage
from foundry.schema.workflow import Budget

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
