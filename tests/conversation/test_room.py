"""Making room: seldom, in one go, and only where it is worth what it costs the prompt cache."""

from foundry.conversation.compaction.pipeline import size
from foundry.conversation.context_meter import BATCH, ContextState, make_room, record
from foundry.schema.messages import Message, Usage
from tests.conversation.test_compaction import call, looks, thread


def reported(tokens: int, messages: list[Message]) -> ContextState:
    state = ContextState("c", "m", 40_000, 8_000, 6_000, 4.0, messages=len(messages))
    return record(state, Usage(input_tokens=tokens))


def test_what_is_taken_out_is_a_batch_even_when_less_would_do():
    messages = looks(40, 1_000)
    room = make_room(messages, reported(8_001, messages), "step")
    assert room is not None
    assert size(messages) - size(room.messages) >= BATCH
    assert room.event.stages.keys() == {"mask"}
    assert room.event.tokens_before == 8_001
    assert room.event.tokens_after == room.state.total_tokens <= 8_001 - BATCH // 4 + 1
    assert (room.state.compactions, room.event.conversation) == (1, "c")


def test_a_thread_stays_as_it_is_where_little_can_be_saved():
    messages = thread(call(1, "look", {}, "x" * 2_000), call(2, "look", {"at": 2}, "y" * 9_000))
    assert make_room(messages, reported(8_001, messages), "step") is None


def test_when_the_window_is_nearly_full_every_little_helps():
    messages = thread(call(1, "look", {}, "x" * 2_000), call(2, "look", {"at": 2}, "y" * 9_000))
    room = make_room(messages, reported(38_000, messages), "step")
    assert room is not None
    assert room.event.stages == {"mask": 1}
