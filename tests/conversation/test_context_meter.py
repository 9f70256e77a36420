"""The token monitor: reported usage is the truth, estimates learn from it, and room is made seldom,
in one go, where it is worth what it costs the prompt cache."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.conversation.compaction.pipeline import size
from foundry.conversation.context_meter import (
    BATCH,
    KEPT,
    Calibration,
    Calibrator,
    ContextMeter,
    ContextState,
    added,
    answered,
    compacted,
    get_usage_stats,
    model_family,
    opened,
    sample,
)
from foundry.schema.messages import Message, Reply, Usage, text_block
from tests.conversation.test_compaction import call, looks, thread

STATE = ContextState("c", "claude-opus-4-1", 1_000, 300, 200, 4.0)


def said(length: int) -> Message:
    return {"role": "user", "content": [text_block("x" * length)]}


def begun() -> ContextState:
    blocks = [text_block("x" * 400)]
    return opened(STATE, blocks, blocks, [text_block("x" * 200)])


def test_before_the_first_reply_everything_is_estimated():
    state = begun()
    assert (state.total_tokens, state.messages) == (250, 1)
    assert get_usage_stats(state)["breakdown"] == {
        "system_and_tools": 100, "codebase_summary": 100, "current_task": 50, "messages": 0,
    }  # fmt: skip


def test_a_reply_replaces_estimates_by_what_was_reported():
    usage = Usage(input_tokens=3, cache_read_tokens=100, cache_write_tokens=200, output_tokens=7)
    state = answered(added(begun(), said(4_000)), usage, [text_block("Well.")])
    assert state.total_tokens == 310
    assert state.messages == 3
    assert added(state, said(400)).total_tokens == 410
    assert added(state, said(400)).messages == 4


def test_what_is_shown_has_the_names_and_the_parts_of_the_total():
    state = answered(added(begun(), said(600)), Usage(input_tokens=390, output_tokens=10))
    assert get_usage_stats(state) == {
        "total_tokens": 400, "limit": 1_000, "usage_percent": 40.0, "available_tokens": 600,
        "needs_compaction": True, "message_count": 2, "compaction_count": 0,
        "breakdown": {"system_and_tools": 100, "codebase_summary": 100, "current_task": 50,
                      "messages": 150},
    }  # fmt: skip


@given(st.lists(st.integers(0, 5_000), max_size=6), st.integers(0, 9_000))
def test_the_parts_always_add_up(lengths, reported):
    state = begun()
    for length in lengths:
        state = added(answered(state, Usage(input_tokens=reported)), said(length))
    stats = get_usage_stats(state)
    assert sum(stats["breakdown"].values()) == stats["total_tokens"]
    assert all(part >= 0 for part in stats["breakdown"].values())


def test_what_compaction_saved_counts_at_once_and_teaches_nothing():
    state = added(answered(begun(), Usage(input_tokens=500)), said(400))
    after = compacted(state, 250, 2)
    assert (after.total_tokens, after.messages, after.compactions) == (350, 2, 1)
    assert sample(after, Usage(input_tokens=400)) is None
    assert sample(answered(after, Usage(input_tokens=400)), Usage(input_tokens=400)) == (0, 0)


def test_a_sample_compares_what_was_added_with_what_it_cost():
    state = added(answered(begun(), Usage(input_tokens=300, output_tokens=20)), said(400))
    assert sample(state, Usage(input_tokens=20, cache_read_tokens=450)) == (100, 150)
    assert sample(begun(), Usage(input_tokens=300)) == (250, 300)


def test_the_ratio_is_a_median_that_long_texts_weigh_in():
    learnt = Calibration()
    for each in ((100, 150), (100, 150), (100, 290), (1_000, 1_300), (60, 20)):
        learnt = learnt.learned("m", each)
    assert learnt.ratio("m") == 1.3
    assert learnt.ratio("other") == 1.0


@pytest.mark.parametrize("odd", [None, (10, 20), (100, 5), (100, 900), (100, -50), (0, 7)])
def test_samples_that_mean_something_else_are_left_out(odd):
    assert Calibration().learned("m", odd).samples == {}


def test_old_samples_are_forgotten():
    learnt = Calibration()
    for ratio in (100, 200):
        for _ in range(KEPT):
            learnt = learnt.learned("m", (100, ratio))
    assert learnt.ratio("m") == 2.0
    assert len(learnt.samples["m"]) == KEPT


def test_a_conversation_learns_from_the_ones_before():
    calibrator = Calibrator()
    meter = ContextMeter("a", "m", 10_000, 3_000, calibrator)
    meter.open([text_block("x" * 800)], [text_block("x" * 800)])
    assert meter.tokens == 400
    meter.count(Reply((text_block("x"),), "end_turn", Usage(input_tokens=900)))
    meter.add(said(4_000))
    assert meter.tokens == 1_900
    meter.count(Reply((), "end_turn", Usage(input_tokens=2_400)))
    meter.add(said(4_000))
    assert meter.tokens == 2_400 + 1_500
    later = ContextMeter("b", "m", 10_000, 3_000, calibrator)
    later.open([text_block("x" * 800)], [text_block("x" * 800)])
    assert later.tokens == 900


def test_several_rounds_of_one_reply_cost_all_and_fill_the_window_with_the_last():
    meter = ContextMeter("a", "m", 10_000, 3_000, Calibrator())
    meter.open([], [text_block("x")])
    first, last = Usage(input_tokens=5_000, output_tokens=300), Usage(input_tokens=900)
    meter.count(Reply((), "end_turn", first + last, last_usage=last))
    assert meter.tokens == 900


def test_releases_of_a_family_count_alike():
    names = ("claude-opus-4-1-20250805", "anthropic/claude-opus-4-1", "claude-opus-4-1@20250805",
             "us.anthropic.claude-opus-4-1-20250805-v1:0")  # fmt: skip
    assert {model_family(name) for name in names} == {"claude-opus-4-1"}
    assert model_family("claude-opus-4-8") != model_family("claude-opus-4-1")


# -- making room -------------------------------------------------------------------------------


def reported(tokens: int, messages: list[Message]) -> ContextMeter:
    meter = ContextMeter("c", "m", 40_000, 8_000, Calibrator())
    meter.state = replace(meter.state, per_token=4.0, messages=len(messages))
    meter.count(Reply((), "end_turn", Usage(input_tokens=tokens)))
    return meter


def test_what_is_taken_out_is_a_batch_even_when_less_would_do():
    messages = looks(40, 1_000)
    meter = reported(8_001, messages)
    room = meter.make_room(messages, "step")
    assert room is not None
    left, event = room
    assert size(messages) - size(left) >= BATCH
    assert event.stages.keys() == {"mask"}
    assert event.tokens_before == 8_001
    assert event.tokens_after == meter.tokens <= 8_001 - BATCH // 4 + 1
    assert (meter.state.compactions, event.conversation) == (1, "c")


def test_a_thread_stays_as_it_is_where_little_can_be_saved():
    messages = thread(call(1, "look", {}, "x" * 2_000), call(2, "look", {"at": 2}, "y" * 9_000))
    assert reported(8_001, messages).make_room(messages, "step") is None


def test_when_the_window_is_nearly_full_every_little_helps():
    messages = thread(call(1, "look", {}, "x" * 2_000), call(2, "look", {"at": 2}, "y" * 9_000))
    room = reported(38_000, messages).make_room(messages, "step")
    assert room is not None
    assert room[1].stages == {"mask": 1}
