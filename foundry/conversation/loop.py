"""One fresh thread: ask, run the tools that the reply calls, until a submission is accepted.

The whole state of a conversation is its messages and what it has spent; when it ends, only the
Outcome remains.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal

from pydantic import BaseModel

from foundry.conversation.brief import Brief, Outcome, TurnDone, affordable_output
from foundry.conversation.calls import Calls
from foundry.conversation.compaction.summary import Writer, known, model_writer
from foundry.conversation.context_meter import ContextMeter
from foundry.conversation.memory.summarise import completed
from foundry.conversation.memory.turns import facts_of
from foundry.conversation.messages import (
    given,
    last_words,
    reasoning,
    signed,
    with_breakpoint,
    without_thoughts,
)
from foundry.conversation.reflection import (
    DueTurn,
    ReflectiveThinkingProcessor,
    Thinking,
)
from foundry.errors import ContextOverflow, ModelUnavailable
from foundry.schema.base import now
from foundry.schema.events import Given, Reasoned
from foundry.schema.journal import Spend
from foundry.schema.memory import Draft
from foundry.schema.messages import Block, Message, Reply, ToolCall, text_block, tool_result
from foundry.tools.base import SUBMIT

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


@dataclass
class _Thread:
    """What changes while a conversation goes on."""

    messages: list[Message]
    gauge: ContextMeter
    turns: int = 0
    reminders: int = 0
    cuts: int = 0
    rejections: tuple[str, ...] = ()
    began: datetime = field(default_factory=now)
    ponders: bool = True
    """Whether to think before the next turn: the first, or after a refused submission."""
    thought: Thinking | None = None
    """What was thought before the turn that goes on."""


def converse(brief: Brief) -> Outcome:
    """Hold one conversation from an empty thread to its end.

    Raises ModelUnavailable and ModelRejected when the model's side fails; every other ending is
    an Outcome.
    """
    return _Conversation(brief).hold()


class _Conversation:
    def __init__(self, brief: Brief) -> None:
        model, allowance = brief.model, brief.allowance
        self.brief, self.model, self.allowance = brief, model, allowance
        self.window = min(model.window, WORKING_WINDOW)
        self.started = allowance.now()
        threshold = int(self.window * allowance.budget.threshold)
        on_server = allowance.budget.compaction == "server"
        self.calls = Calls(brief, edit_at=threshold if on_server else 0)
        self.thinking = ReflectiveThinkingProcessor(brief, self.calls, self.started)
        gauge = ContextMeter(brief.id, model.name, self.window, threshold)
        gauge.open((*brief.system, *self.calls.specs), brief.opening)
        opening: Message = {"role": "user", "content": [*brief.opening]}
        self.thread = _Thread([opening], gauge)
        brief.record(opening)
        brief.observe(Given(brief.step, brief.id, "opening", given(brief.opening), gauge.tokens))

    def hold(self) -> Outcome:
        while True:
            over = self._over() or self._make_room()
            if over is not None:
                return over
            due = self.thread.ponders and self.thinking.wanted
            try:
                reply = self._think() if due else self._ask()
            except ModelUnavailable as error:
                if not self.brief.keeps:
                    raise
                return replace(self._outcome("unavailable", error.message), failure=error)
            if isinstance(reply, Outcome):
                return reply
            if reply is None:  # it has thought: that took time, money and room, so look again
                continue
            before = len(self.thread.messages)
            outcome = self._answer(reply)
            self._turned(self.thread.messages[before:])
            if outcome is not None:
                return outcome

    def _over(self) -> Outcome | None:
        ended = self.allowance.ended(self.calls.made, self.started)
        turns = self.thread.turns
        return self._outcome(ended, f"no submission after {turns} turns") if ended else None

    def _think(self) -> Reply | None:
        """Think before the turn that is due; a reply where the model did its work instead."""
        thread, longest = self.thread, self._longest_reply()
        thread.ponders = False
        if not longest:
            return None
        thread.began = now()
        messages, tokens = tuple(thread.messages), thread.gauge.tokens
        due = DueTurn(messages, tokens, thread.turns + 1, thread.gauge.state.share, longest)
        thread.thought = thought = self.thinking.think(due)
        if thought.blocks:
            self._add(thought.blocks)
        if thought.act is not None:
            self._count(thought.act, thought.seconds)
        return thought.act

    def _ask(self) -> Reply | Outcome:
        """The next reply."""
        most, begun = self._longest_reply(), time.perf_counter()
        if not most:
            return self._outcome("budget", "the money left does not pay for another call")
        if self.thread.thought is None:
            self.thread.began = now()
        try:
            reply = self.calls.send(with_breakpoint(self.thread.messages), most, "turn")
        except ContextOverflow as error:
            return self._outcome("context_full", error.message)
        self._count(reply, time.perf_counter() - begun)
        return reply

    def _count(self, reply: Reply, seconds: float) -> None:
        """Pay for a turn and tell of it."""
        thread = self.thread
        cost = self.calls.pay(reply.usage)
        thread.turns += 1
        thread.gauge.count(reply)
        if words := reasoning(reply):
            self.brief.observe(Reasoned(self.brief.step, words, self.brief.id))
        self.calls.tell(reply, cost, seconds, thread.turns, thread.gauge.state.share)
        self.brief.observe(thread.gauge.usage_event(self.brief.step))

    def _answer(self, reply: Reply) -> Outcome | None:
        """React to a reply; an Outcome when the conversation is over."""
        if reply.stop_reason == "refusal":
            return self._outcome("refused", "the model refused to do this")
        if reply.stop_reason == "model_context_window_exceeded":
            return self._outcome("context_full", "the reply did not fit the window any more")
        cut = reply.stop_reason == "max_tokens"
        content = signed(reply.content) if cut else list(reply.content)
        if content:
            self._append("assistant", content, counted=True)
        calls = list(reply.tool_calls())
        if cut:
            return self._cut(calls)
        if not calls:
            return self._remind(empty=not reply.content)
        return self._run(calls)

    def _run(self, calls: list[ToolCall]) -> Outcome | None:
        results: list[Block] = []
        for call in calls:
            result = self.calls.run(call)
            results.append(tool_result(call, result.content, is_error=result.is_error))
            if result.submission is not None:
                self._append("user", results, counted=True)
                return self._outcome("submitted", "", result.submission)
            if call.name == SUBMIT:
                self.thread.rejections += (result.content[:KEPT_REJECTION],)
                self.thread.ponders = True
        self._append("user", results)
        if len(self.thread.rejections) >= REJECTIONS:
            return self._outcome("rejected", self.thread.rejections[-1])
        return None

    def _turned(self, messages: list[Message]) -> None:
        thread, thought = self.thread, self.thread.thought
        if not messages:
            return
        thread.thought = None
        settled = thought.summary if thought else ""
        written = Draft(text=settled, source="model") if settled else None
        self.brief.turned(
            TurnDone(
                number=thread.turns,
                messages=tuple(messages),
                began=thread.began,
                ended=now(),
                tokens=thread.gauge.tokens,
                summary=written and completed(written, facts_of(messages)),
                thoughts=thought.text if thought else "",
            )
        )

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
            messages, event = room
            thread.messages = without_thoughts(messages)
            self.brief.observe(event)
        return None

    def _writer(self) -> Writer | None:
        if self.allowance.budget.compaction != "model":
            return None
        return model_writer(self.model, partial(self._written_up, now()), self._longest_reply())

    def _written_up(self, begun: datetime, reply: Reply) -> None:
        cost = self.calls.pay(reply.usage, "compaction")
        seconds, share = (now() - begun).total_seconds(), self.thread.gauge.state.share
        self.calls.tell(reply, cost, seconds, self.thread.turns, share, "compaction")

    def _longest_reply(self) -> int:
        wanted = min(self.model.max_output, REPLY_TOKENS)
        left = self.allowance.usd_left()
        return affordable_output(self.model.cost, self.thread.gauge.tokens, left, wanted)

    def _say(self, words: str) -> None:
        """Speak to the model. An empty reply can't stand in a thread: there the last words grow."""
        if self.thread.messages[-1]["role"] == "assistant":
            self._append("user", [text_block(words)])
        else:
            self._add([text_block(words)])

    def _add(self, blocks: Sequence[Block]) -> None:
        """Let the last message grow."""
        last = self.thread.messages[-1]
        self.thread.messages[-1] = {"role": "user", "content": [*last["content"], *blocks]}
        self.thread.gauge.add(blocks)
        self.brief.record({"role": "user", "content": list(blocks)})

    def _append(
        self, role: Literal["user", "assistant"], content: list[Block], *, counted: bool = False
    ) -> None:
        message: Message = {"role": role, "content": content}
        self.thread.messages.append(message)
        if not counted:
            self.thread.gauge.add(message)
        self.brief.record(message)

    def _outcome(
        self, reason: Any, detail: str, submission: BaseModel | None = None, known: str = ""
    ) -> Outcome:
        thread = self.thread
        spend = Spend(
            usage=self.calls.usage,
            cost_usd=None if self.calls.cost is None else round(self.calls.cost, 6),
            turns=thread.turns,
            seconds=round(self.allowance.now() - self.started, 3),
            peak_tokens=thread.gauge.peak,
            window=self.window,
            model=self.model.name,
            conversation=self.brief.id,
            reflection=self.calls.thought.rounded,
        )
        said = last_words(thread.messages)[-KNOWN:]
        return Outcome(reason, submission, detail, spend, thread.rejections, known, said)
