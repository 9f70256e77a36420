"""The context of one conversation as it grows: how full it is, and room in it when it is too full.

Truth is what the last reply reported; only what was added since is estimated. Texts differ in how
many characters a token has (code, prose and logs by a quarter, tokenizers by half), so estimates
are multiplied with what earlier replies have taught about them: a running median, which forgives
the single reply that counts something else (an image, thinking that the server dropped).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from foundry.conversation.compaction.pipeline import Compaction, Goal, compact, size
from foundry.conversation.compaction.summary import Writer
from foundry.model.tokens import characters_per_token, estimate
from foundry.schema.events import Compacted, ContextUpdated
from foundry.schema.messages import Block, Message, Reply, Usage

KEPT = 31
"""Samples of a family: enough to be calm, few enough to follow when the text changes."""

WORTH = 50
"""Estimated tokens below which a sample says more about rounding than about the model."""

BELIEVABLE = (0.3, 3.0)
"""A ratio outside has another cause than the tokenizer."""

Sample = tuple[int, int]
"""Estimated and reported tokens of the same text."""

TARGET = 0.75
"""Share of the threshold that is left when room was made: a quarter of it to grow in."""

BATCH = 20_000
"""Characters that are taken out at once at least: what is changed in a thread breaks the prompt
cache from there on, so it is changed seldom."""

NEARLY_FULL = 0.9
"""Share of the window from which on every little helps."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The newest samples of each family."""

    samples: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)

    def ratio(self, family: str) -> float:
        """Reported over estimated: the median, long texts weighing more; 1 before any sample."""
        known = sorted(self.samples.get(family, ()), key=lambda each: each[1] / each[0])
        half, passed = sum(estimated for estimated, _ in known) / 2, 0
        for estimated, reported in known:
            passed += estimated
            if passed >= half:
                return reported / estimated
        return 1.0

    def learned(self, family: str, sample: Sample | None) -> "Calibration":
        """With one more sample, unless that is none worth learning from."""
        if sample is None or sample[0] < WORTH:
            return self
        least, most = BELIEVABLE
        if not least <= sample[1] / sample[0] <= most:
            return self
        kept = (*self.samples.get(family, ()), sample)[-KEPT:]
        return replace(self, samples={**self.samples, family: kept})


class Calibrator:
    """The calibration that the conversations of a process share: added text and whole first
    requests apart, for those hold tools, which cost more than their text."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._added, self._opening = Calibration(), Calibration()

    def ratios(self, model: str) -> tuple[float, float]:
        """Of text that is added, and of a first request."""
        name = model_family(model)
        return self._added.ratio(name), self._opening.ratio(name)

    def learn(self, model: str, sample: Sample | None, opening: bool) -> None:
        """Take in a sample of either kind."""
        name = model_family(model)
        with self._lock:
            if opening:
                self._opening = self._opening.learned(name, sample)
            else:
                self._added = self._added.learned(name, sample)


CALIBRATOR = Calibrator()
"""What this process has learnt: estimates get better from conversation to conversation."""


def model_family(model: str) -> str:
    """The model without vendor, date and tag: releases of one family count alike."""
    name = model.lower().rsplit("/", 1)[-1].split(":", 1)[0].split("anthropic.")[-1]
    return re.sub(r"[-@]\d{8}.*$|-latest$", "", name)


@dataclass(frozen=True, slots=True)
class ContextState:
    """One conversation's tokens. `fixed`, `project`, `task` and `said` are plain estimates.

    `window` is what is used of the model's own; from `threshold` tokens on there is to be room
    made, down to `target`.
    """

    conversation: str
    model: str
    window: int
    threshold: int
    target: int
    per_token: float
    ratio: float = 1.0
    """Tokens for one estimated token, of what is added to a thread."""
    opening_ratio: float = 1.0
    """The same for a whole first request, whose tools cost more than their text."""

    fixed: int = 0
    """System prompt and tools."""
    project: int = 0
    """What is shared with other conversations: project context and artifacts."""
    task: int = 0
    """What this conversation is about."""
    said: int = 0
    """All messages after the opening."""
    messages: int = 0
    reported: int | None = None
    """The context after the last reply, as the server counted it."""
    since: int = 0
    """What was added after that reply, or with a negative sign taken out."""
    compactions: int = 0
    comparable: bool = True
    """Whether the next reply's count can be compared with the estimate."""

    @property
    def total_tokens(self) -> int:
        """What the next request will hold."""
        if self.reported is None:
            whole = self.fixed + self.project + self.task + self.said
            return max(0, round(whole * self.opening_ratio))
        return max(0, self.reported + round(self.since * self.ratio))

    @property
    def share(self) -> float:
        """Of the window, from 0 to 1 and beyond."""
        return self.total_tokens / self.window if self.window else 0.0

    @property
    def available_tokens(self) -> int:
        """What the window still takes."""
        return max(0, self.window - self.total_tokens)

    @property
    def needs_compaction(self) -> bool:
        """Whether there is to be room made before the next request."""
        return self.total_tokens > self.threshold

    @property
    def characters_per_token(self) -> float:
        """What an added token has, as far as is known now."""
        return self.per_token / self.ratio


def opened(
    state: ContextState, fixed: Iterable[Block], project: Iterable[Block], task: Iterable[Block]
) -> ContextState:
    """A thread with its first message: what it was given, estimated part by part."""
    return replace(
        state,
        fixed=estimate(fixed, state.per_token),
        project=estimate(project, state.per_token),
        task=estimate(task, state.per_token),
        messages=1,
    )


def added(state: ContextState, message: Message | Iterable[Block]) -> ContextState:
    """With a message more, or with blocks more in its last one."""
    if isinstance(message, dict):
        grown = _grown(state, estimate(message["content"], state.per_token))
        return replace(grown, messages=state.messages + 1)
    return _grown(state, estimate(message, state.per_token))


def answered(state: ContextState, usage: Usage, content: Iterable[Block] = ()) -> ContextState:
    """After a reply: its report replaces every estimate. `content` is what it added."""
    blocks = list(content)
    return replace(
        state,
        reported=usage.context_tokens,
        since=0,
        comparable=True,
        said=state.said + estimate(blocks, state.per_token),
        messages=state.messages + bool(blocks),
    )


def sample(state: ContextState, usage: Usage) -> Sample | None:
    """What a reply to this state's request teaches: estimated and reported tokens of one text."""
    if not state.comparable:
        return None
    if state.reported is None:
        return state.fixed + state.project + state.task + state.said, usage.prompt_tokens
    return state.since, usage.prompt_tokens - state.reported


def compacted(state: ContextState, saved: int, messages: int) -> ContextState:
    """After room was made: `saved` estimated tokens are gone, `messages` are left."""
    return replace(
        _grown(state, -saved),
        messages=messages,
        compactions=state.compactions + 1,
        comparable=False,
    )


def get_usage_stats(state: ContextState) -> dict[str, Any]:
    """The figures of a conversation, with what its tokens are used for; parts add up."""
    total = state.total_tokens
    whole = max(1, state.fixed + state.project + state.task + state.said)
    fixed = min(round(state.fixed * total / whole), total)
    project = min(round(state.project * total / whole), total - fixed)
    task = min(round(state.task * total / whole), total - fixed - project)
    return {
        "total_tokens": total,
        "limit": state.window,
        "usage_percent": round(100 * state.share, 1),
        "available_tokens": state.available_tokens,
        "needs_compaction": state.needs_compaction,
        "message_count": state.messages,
        "compaction_count": state.compactions,
        "breakdown": {
            "system_and_tools": fixed,
            "codebase_summary": project,
            "current_task": task,
            "messages": max(0, total - fixed - project - task),
        },
    }


def _grown(state: ContextState, by: int) -> ContextState:
    return replace(state, said=max(0, state.said + by), since=state.since + by)


class ContextMeter:
    """Holds the state of one conversation; every change of it is a pure function."""

    def __init__(
        self,
        conversation: str,
        model: str,
        window: int,
        threshold: int,
        calibrator: Calibrator = CALIBRATOR,
    ) -> None:
        self._calibrator, self.peak = calibrator, 0
        state = ContextState(
            conversation=conversation,
            model=model,
            window=window,
            threshold=threshold,
            target=int(threshold * TARGET),
            per_token=characters_per_token(model),
        )
        self.state = self._calibrated(state)

    @property
    def tokens(self) -> int:
        """What the next request will hold."""
        return self.state.total_tokens

    def open(self, fixed: Iterable[Block], opening: Sequence[Block]) -> None:
        """The thread begins: of its opening the last block is the task, the rest the project."""
        self.state = opened(self.state, fixed, opening[:-1], opening[-1:])

    def add(self, message: Message | Iterable[Block]) -> None:
        """A message was added, or blocks to the last one."""
        self.state = added(self.state, message)

    def count(self, reply: Reply) -> None:
        """Learn from what a reply reports, and take it for the truth."""
        state = self.state
        if reply.last_usage is None:
            self._calibrator.learn(state.model, sample(state, reply.usage), state.reported is None)
        self.state = self._calibrated(answered(state, reply.context, reply.content))
        self.peak = max(self.peak, self.tokens)

    def make_room(
        self, messages: Sequence[Message], step: str, writer: Writer | None = None
    ) -> tuple[list[Message], Compacted] | None:
        """The messages brought to the state's target, and the event that tells of it; None when
        that is not worth it."""
        before, per_token = self.state, self.state.characters_per_token
        excess = int((before.total_tokens - before.target) * per_token)
        deeper = int(before.target * per_token) // 3
        length = size(messages)
        goal = Goal(max(0, length - excess), batch=BATCH, deep=max(0, length - excess - deeper))
        done = compact(messages, goal, writer=writer)
        if not done.stages or not _is_worth(done, before):
            return None
        saved = round((done.before - done.after) / before.per_token)
        self.state = compacted(before, saved, len(done.messages))
        return list(done.messages), _event(done, messages, before, self.state, step)

    def usage_event(self, step: str) -> ContextUpdated:
        """The event that tells how full it is."""
        return ContextUpdated(step, self.state.conversation, **get_usage_stats(self.state))

    def _calibrated(self, state: ContextState) -> ContextState:
        """With what is known by now of how estimates of this model turn out."""
        ratio, opening_ratio = self._calibrator.ratios(state.model)
        return replace(state, ratio=ratio, opening_ratio=opening_ratio)


def _is_worth(done: Compaction, state: ContextState) -> bool:
    if state.share >= NEARLY_FULL:
        return True
    least = min(BATCH, (state.threshold - state.target) * state.characters_per_token)
    return done.before - done.after >= least


def _event(
    done: Compaction,
    messages: Sequence[Message],
    before: ContextState,
    after: ContextState,
    step: str,
) -> Compacted:
    had, has = before.total_tokens, after.total_tokens
    return Compacted(
        step=step,
        conversation=before.conversation,
        tokens_before=had,
        tokens_after=has,
        reduction_percent=round(100 * (had - has) / had, 1) if had else 0.0,
        messages_before=len(messages),
        messages_after=len(done.messages),
        stages={stage.name: stage.count for stage in done.stages},
    )
