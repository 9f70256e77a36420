"""The context of one conversation as it grows: its state, kept up from turn to turn."""

from collections.abc import Iterable, Sequence

from foundry.conversation.calibration import METER, Meter
from foundry.conversation.compaction.summary import Writer
from foundry.conversation.context_state import (
    ContextState,
    added,
    get_usage_stats,
    opened,
    record,
    sample,
    with_ratios,
)
from foundry.conversation.room import make_room
from foundry.model.tokens import characters_per_token
from foundry.schema.events import Compacted, ContextUpdated
from foundry.schema.messages import Block, Message, Reply

TARGET = 0.75
"""Share of the threshold that is left when room was made: a quarter of it to grow in."""


class Gauge:
    """Holds the state; every change of it is a function of context_state.py."""

    def __init__(
        self, conversation: str, model: str, window: int, threshold: int, meter: Meter = METER
    ) -> None:
        self._meter, self.peak = meter, 0
        state = ContextState(
            conversation=conversation,
            model=model,
            window=window,
            threshold=threshold,
            target=int(threshold * TARGET),
            per_token=characters_per_token(model),
        )
        self.state = with_ratios(state, *meter.ratios(model))

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
            self._meter.learn(state.model, sample(state, reply.usage), state.reported is None)
        counted = record(state, reply.context, reply.content)
        self.state = with_ratios(counted, *self._meter.ratios(state.model))
        self.peak = max(self.peak, self.tokens)

    def make_room(
        self, messages: Sequence[Message], step: str, writer: Writer | None
    ) -> tuple[list[Message], Compacted] | None:
        """The messages compacted, and the event that tells of it; None when it is not worth it."""
        room = make_room(messages, self.state, step, writer)
        if room is None:
            return None
        self.state = room.state
        return list(room.messages), room.event

    def told(self, step: str) -> ContextUpdated:
        """The event that tells how full it is."""
        return ContextUpdated(step, self.state.conversation, **get_usage_stats(self.state))
