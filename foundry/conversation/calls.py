"""The calls of one conversation: to the model, with what they cost, and to its tools."""

import time
from collections.abc import Sequence

from foundry.conversation.brief import Brief, Purpose
from foundry.conversation.messages import reason, subject
from foundry.errors import ModelError
from foundry.model.request import context_management
from foundry.schema.events import ToolRan, ToolStarted, TurnEnded, excerpt
from foundry.schema.journal import Thought
from foundry.schema.messages import (
    Message,
    ModelRequest,
    Reply,
    Thinking,
    ToolCall,
    Usage,
)
from foundry.tools.base import ToolResult

WISHES: dict[str, Thinking] = {"native": "on", "rounds": "off", "off": "off"}
"""One wish for all calls of a conversation: a change of it would lose the cached messages."""


class Calls:
    """Asks and counts. `made` are the calls of the model, of whatever purpose."""

    def __init__(self, brief: Brief, *, edit_at: int = 0) -> None:
        self.brief, self.model = brief, brief.model
        self.specs = brief.tools.specs()
        self._editing = context_management(edit_at) if edit_at else None
        self.usage = Usage()
        self.cost: float | None = 0.0
        self.thought = Thought()
        self.made = 0

    def send(self, messages: Sequence[Message], max_tokens: int, purpose: Purpose) -> Reply:
        """Ask once, with the cache breakpoints that `messages` have. What is cut on the way is paid
        all the same; a reply is not paid yet: its purpose may turn out to be another."""
        request = ModelRequest(
            self.brief.system,
            self.specs,
            tuple(messages),
            max_tokens,
            self._editing,
            WISHES[self.brief.reflection.mode],
        )
        try:
            return self.model.complete(request, self.brief.on_text)
        except ModelError as error:
            if any(error.billed.values()):
                self.pay(Usage(**error.billed), purpose)
            raise

    def pay(self, usage: Usage, purpose: Purpose = "turn") -> float | None:
        """Count what a reply cost; None where no price is known."""
        cost = self.model.cost(usage)
        self.brief.spent(usage, cost, purpose)
        self.usage += usage
        self.cost = None if cost is None or self.cost is None else self.cost + cost
        if purpose == "reflection":
            self.thought = self.thought.plus(usage, cost)
        return cost

    def tell(
        self,
        reply: Reply,
        cost: float | None,
        seconds: float,
        turn: int,
        share: float,
        purpose: Purpose = "turn",
    ) -> None:
        """Tell whoever watches that a call came back."""
        self.made += 1
        usage = reply.usage
        self.brief.observe(
            TurnEnded(
                step=self.brief.step,
                turn=turn,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cache_read_tokens=usage.cache_read_tokens,
                cache_write_tokens=usage.cache_write_tokens,
                cost_usd=cost,
                context_share=share,
                seconds=seconds,
                stop_reason=reply.stop_reason,
                conversation=self.brief.id,
                model=self.model.name,
                purpose=purpose,
            )
        )

    def run(self, call: ToolCall) -> ToolResult:
        """Run one call of a tool, and tell of it."""
        begun, about = time.perf_counter(), subject(call)
        self.brief.observe(ToolStarted(self.brief.step, call.name, about, self.brief.id))
        result = self.brief.tools.run(call.name, call.arguments)
        self.brief.observe(
            ToolRan(
                step=self.brief.step,
                tool=call.name,
                subject=about,
                seconds=time.perf_counter() - begun,
                error=reason(result.content) if result.is_error else "",
                conversation=self.brief.id,
                result=excerpt(result.content),
                lines=result.content.rstrip("\n").count("\n") + 1,
            )
        )
        return result
