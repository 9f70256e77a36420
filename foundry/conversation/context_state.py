"""How full one conversation is: a value, and the functions that carry it from turn to turn.

Truth is what the last reply reported; only what was added since is estimated, and the estimate is
multiplied with what earlier replies have taught about it (calibration.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from foundry.conversation.calibration import Sample
from foundry.model.tokens import estimate
from foundry.schema.messages import Block, Message, Usage


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


def record(state: ContextState, usage: Usage, content: Iterable[Block] = ()) -> ContextState:
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


def with_ratios(state: ContextState, ratio: float, opening_ratio: float) -> ContextState:
    """With what is known by now of how estimates of this model turn out."""
    return replace(state, ratio=ratio, opening_ratio=opening_ratio)


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
