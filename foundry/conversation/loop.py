"""One fresh thread: ask, run the tools that the reply calls, until a submission is accepted.

The whole state of a conversation is its messages and what it has spent; when it ends, only the
Outcome remains.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel

from foundry.conversation.budget import Allowance, affordable_output
from foundry.conversation.compaction.summary import Writer, known
from foundry.conversation.compaction.write_up import model_writer
from foundry.conversation.gauge import Gauge
from foundry.conversation.wording import given, reason, reasoning, subject, with_breakpoint
from foundry.errors import ContextOverflow, ModelError
from foundry.model.base import Model
from foundry.model.editing import context_management
from foundry.schema.base import now
from foundry.schema.events import Given, Observer, Reasoned, ToolRan, ToolStarted, TurnEnded
from foundry.schema.excerpt import excerpt
from foundry.schema.journal import Spend
from foundry.schema.messages import (
    Block,
    Message,
    ModelRequest,
    Reply,
    ToolCall,
    Usage,
    text_block,
    tool_result,
)
from foundry.tools import submit
from foundry.tools.base import Toolset

Reason = Literal[
    "submitted", "not_submitted", "rejected", "refused", "context_full", "restart", "cut", "turns",
    "minutes", "budget", "deadline",
]  # fmt: skip
"""`restart`: the threshold was reached, and the step wants to begin afresh then."""

WORKING_WINDOW = 200_000
"""Tokens. Quality falls as a window fills, so a larger one is not used as if it were this good."""

REPLY_TOKENS = 32_000
REMINDERS = 3
CUTS = 3
REJECTIONS = 6
KNOWN = 24_000
"""Characters of what a conversation that ends for want of room leaves behind."""

KEPT_REJECTION = 600
"""Characters of a refused submission's reason that outlive the conversation."""


@dataclass(frozen=True, slots=True)
class Brief:
    """All that a conversation starts from."""

    id: str
    step: str
    system: tuple[Block, ...]
    opening: tuple[Block, ...]
    tools: Toolset


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


@dataclass(frozen=True, slots=True)
class Watchers:
    """Who hears of a conversation while it goes on."""

    observe: Observer
    record: Callable[[Message], None]
    spent: Callable[[Usage, float | None], None]
    on_text: Callable[[str], None] | None = None
    turned: Callable[[TurnDone], None] = lambda _: None


@dataclass
class _Thread:
    """What changes while a conversation goes on."""

    messages: list[Message]
    gauge: Gauge
    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0
    turns: int = 0
    reminders: int = 0
    cuts: int = 0
    rejections: tuple[str, ...] = ()
    began: datetime = field(default_factory=now)


def converse(brief: Brief, model: Model, allowance: Allowance, watch: Watchers) -> Outcome:
    """Hold one conversation from an empty thread to its end.

    Raises ModelUnavailable and ModelRejected when the model's side fails; every other ending is
    an Outcome.
    """
    return _Conversation(brief, model, allowance, watch).hold()


class _Conversation:
    def __init__(self, brief: Brief, model: Model, allowance: Allowance, watch: Watchers) -> None:
        self.brief, self.model, self.allowance, self.watch = brief, model, allowance, watch
        self.specs = brief.tools.specs()
        self.window = min(model.window, WORKING_WINDOW)
        self.started = allowance.now()
        threshold = int(self.window * allowance.budget.threshold)
        gauge = Gauge(brief.id, model.name, self.window, threshold)
        gauge.open((*brief.system, *self.specs), brief.opening)
        opening: Message = {"role": "user", "content": [*brief.opening]}
        self.thread = _Thread([opening], gauge)
        watch.record(opening)
        watch.observe(Given(brief.step, brief.id, "opening", given(brief.opening), gauge.tokens))

    def hold(self) -> Outcome:
        while True:
            ended = self.allowance.ended(self.thread.turns, self.started)
            if ended:
                return self._outcome(ended, f"no submission after {self.thread.turns} turns")
            full = self._make_room()
            if full is not None:
                return full
            most = self._longest_reply()
            if not most:
                return self._outcome("budget", "the money left does not pay for another call")
            try:
                reply = self._ask(most)
            except ContextOverflow as error:
                return self._outcome("context_full", error.message)
            before = len(self.thread.messages)
            outcome = self._answer(reply)
            self._turned(self.thread.messages[before:])
            if outcome is not None:
                return outcome

    def _ask(self, max_tokens: int) -> Reply:
        thread, begun = self.thread, time.perf_counter()
        thread.began = now()
        request = ModelRequest(
            self.brief.system,
            self.specs,
            with_breakpoint(thread.messages),
            max_tokens,
            self._editing(),
        )
        try:
            reply = self.model.complete(request, self.watch.on_text)
        except ModelError as error:
            if any(error.billed.values()):  # what was cut on the way is paid all the same
                self._pay(Usage(**error.billed))
            raise
        cost = self._paid(reply)
        thread.turns += 1
        thread.gauge.count(reply)
        if words := reasoning(reply):
            self.watch.observe(Reasoned(self.brief.step, words, self.brief.id))
        self.watch.observe(
            TurnEnded(
                step=self.brief.step,
                turn=thread.turns,
                input_tokens=reply.usage.input_tokens,
                output_tokens=reply.usage.output_tokens,
                cache_read_tokens=reply.usage.cache_read_tokens,
                cache_write_tokens=reply.usage.cache_write_tokens,
                cost_usd=cost,
                context_share=thread.gauge.state.share,
                seconds=time.perf_counter() - begun,
                stop_reason=reply.stop_reason,
                conversation=self.brief.id,
                model=self.model.name,
            )
        )
        self.watch.observe(thread.gauge.told(self.brief.step))
        return reply

    def _editing(self) -> dict[str, Any] | None:
        if self.allowance.budget.compaction != "server":
            return None
        return context_management(self.thread.gauge.state.threshold)

    def _paid(self, reply: Reply) -> float | None:
        """Count what a reply cost; None where no price is known."""
        return self._pay(reply.usage)

    def _pay(self, usage: Usage) -> float | None:
        thread, cost = self.thread, self.model.cost(usage)
        self.watch.spent(usage, cost)
        thread.usage += usage
        thread.cost = None if cost is None or thread.cost is None else thread.cost + cost
        return cost

    def _answer(self, reply: Reply) -> Outcome | None:
        """React to a reply; an Outcome when the conversation is over."""
        if reply.stop_reason == "refusal":
            return self._outcome("refused", "the model refused to do this")
        if reply.stop_reason == "model_context_window_exceeded":
            return self._outcome("context_full", "the reply did not fit the window any more")
        if reply.content:
            self._append("assistant", list(reply.content), counted=True)
        calls = list(reply.tool_calls())
        if reply.stop_reason == "max_tokens":
            return self._cut(calls)
        if not calls:
            return self._remind(empty=not reply.content)
        return self._run(calls)

    def _run(self, calls: list[ToolCall]) -> Outcome | None:
        results: list[Block] = []
        for call in calls:
            begun, about = time.perf_counter(), subject(call)
            self.watch.observe(ToolStarted(self.brief.step, call.name, about, self.brief.id))
            result = self.brief.tools.run(call.name, call.arguments)
            self.watch.observe(
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
            results.append(tool_result(call, result.content, is_error=result.is_error))
            if result.submission is not None:
                self._append("user", results, counted=True)
                return self._outcome("submitted", "", result.submission)
            if call.name == submit.NAME:
                self.thread.rejections += (result.content[:KEPT_REJECTION],)
        self._append("user", results)
        if len(self.thread.rejections) >= REJECTIONS:
            return self._outcome("rejected", self.thread.rejections[-1])
        return None

    def _turned(self, messages: list[Message]) -> None:
        thread = self.thread
        if messages:
            tokens = thread.gauge.tokens
            done = TurnDone(thread.turns, tuple(messages), thread.began, now(), tokens)
            self.watch.turned(done)

    def _cut(self, calls: list[ToolCall]) -> Outcome | None:
        """A reply that hit its length limit: its tool calls may be incomplete and never run."""
        self.thread.cuts += 1
        if self.thread.cuts > CUTS:
            return self._outcome("cut", f"{self.thread.cuts} replies were longer than allowed")
        if calls:
            words = "Not run: the reply was cut at its length limit. Use smaller steps."
            self._append("user", [tool_result(call, words, is_error=True) for call in calls])
        else:
            self._say("Your reply was cut at its length limit. Go on.")
        return None

    def _remind(self, *, empty: bool) -> Outcome | None:
        self.thread.reminders += 1
        if self.thread.reminders > REMINDERS:
            return self._outcome("not_submitted", "the model stopped without submitting a result")
        words = (
            "This step ends with a call of `submit`. Go on where you are; when it is done, call it."
        )
        if empty and self.thread.reminders == 1:
            return None  # the same request once more: an empty reply is most often an accident
        self._say(words)
        return None

    def _make_room(self) -> Outcome | None:
        """Compact a thread that reached its threshold, or end it where it is to begin afresh."""
        thread, budget = self.thread, self.allowance.budget
        if not thread.gauge.state.needs_compaction:
            return None
        if budget.on_full == "restart":
            detail = f"the conversation reached {thread.gauge.state.share:.0%} of its window"
            return self._outcome("restart", detail, known=known(thread.messages, KNOWN))
        room = thread.gauge.make_room(thread.messages, self.brief.step, self._writer())
        if room is not None:
            thread.messages, event = room
            self.watch.observe(event)
        return None

    def _writer(self) -> Writer | None:
        if self.allowance.budget.compaction != "model":
            return None
        return model_writer(self.model, self._paid, self._longest_reply())

    def _longest_reply(self) -> int:
        wanted = min(self.model.max_output, REPLY_TOKENS)
        left = self.allowance.usd_left()
        return affordable_output(self.model.cost, self.thread.gauge.tokens, left, wanted)

    def _say(self, words: str) -> None:
        """Speak to the model. An empty reply can't stand in a thread: there the last words grow."""
        last = self.thread.messages[-1]
        if last["role"] == "assistant":
            self._append("user", [text_block(words)])
            return
        self.thread.messages[-1] = {
            "role": "user",
            "content": [*last["content"], text_block(words)],
        }
        self.thread.gauge.add([text_block(words)])
        self.watch.record({"role": "user", "content": [text_block(words)]})

    def _append(
        self, role: Literal["user", "assistant"], content: list[Block], *, counted: bool = False
    ) -> None:
        message: Message = {"role": role, "content": content}
        self.thread.messages.append(message)
        if not counted:
            self.thread.gauge.add(message)
        self.watch.record(message)

    def _outcome(
        self, reason: Any, detail: str, submission: BaseModel | None = None, known: str = ""
    ) -> Outcome:
        thread = self.thread
        spend = Spend(
            usage=thread.usage,
            cost_usd=None if thread.cost is None else round(thread.cost, 6),
            turns=thread.turns,
            seconds=round(self.allowance.now() - self.started, 3),
            peak_tokens=thread.gauge.peak,
            window=self.window,
            model=self.model.name,
            conversation=self.brief.id,
        )
        return Outcome(reason, submission, detail, spend, thread.rejections, known)
