"""Making room in a conversation that reached its threshold: from its state to the next one."""

from collections.abc import Sequence
from dataclasses import dataclass

from foundry.conversation.compaction.pipeline import Compaction, Goal, compact, size
from foundry.conversation.compaction.summary import Writer
from foundry.conversation.context_state import ContextState, compacted
from foundry.schema.events import Compacted
from foundry.schema.messages import Message

BATCH = 20_000
"""Characters that are taken out at once at least: what is changed in a thread breaks the prompt
cache from there on, so it is changed seldom."""

NEARLY_FULL = 0.9
"""Share of the window from which on every little helps."""


@dataclass(frozen=True, slots=True)
class Room:
    """The thread as it goes on, and the event that tells of it."""

    messages: tuple[Message, ...]
    state: ContextState
    event: Compacted


def make_room(
    messages: Sequence[Message], state: ContextState, step: str, writer: Writer | None = None
) -> Room | None:
    """Compact a thread to its state's target, or None when that is not worth it."""
    per_token = state.characters_per_token
    excess = int((state.total_tokens - state.target) * per_token)
    deeper = int(state.target * per_token) // 3
    length = size(messages)
    goal = Goal(max(0, length - excess), batch=BATCH, deep=max(0, length - excess - deeper))
    done = compact(messages, goal, writer=writer)
    if not done.stages or not _worth(done, state):
        return None
    saved = round((done.before - done.after) / state.per_token)
    after = compacted(state, saved, len(done.messages))
    return Room(done.messages, after, _event(done, messages, state, after, step))


def _worth(done: Compaction, state: ContextState) -> bool:
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
