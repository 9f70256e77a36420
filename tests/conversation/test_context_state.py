"""The token monitor: reported usage is the truth, and estimates learn from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.conversation.context_meter import (
    KEPT,
    Calibration,
    Calibrator,
    ContextMeter,
    ContextState,
    added,
    compacted,
    get_usage_stats,
    model_family,
    opened,
    record,
    sample,
)
from foundry.model.tokens import (
    NEWEST,
    OLDER,
    characters,
    characters_per_token,
    estimate,
)
from foundry.schema.messages import Message, Reply, Usage, text_block

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
    state = record(added(begun(), said(4_000)), usage, [text_block("Well.")])
    assert state.total_tokens == 310
    assert state.messages == 3
    assert added(state, said(400)).total_tokens == 410
    assert added(state, said(400)).messages == 4


def test_what_is_shown_has_the_names_and_the_parts_of_the_total():
    state = record(added(begun(), said(600)), Usage(input_tokens=390, output_tokens=10))
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
        state = added(record(state, Usage(input_tokens=reported)), said(length))
    stats = get_usage_stats(state)
    assert sum(stats["breakdown"].values()) == stats["total_tokens"]
    assert all(part >= 0 for part in stats["breakdown"].values())


def test_what_compaction_saved_counts_at_once_and_teaches_nothing():
    state = added(record(begun(), Usage(input_tokens=500)), said(400))
    after = compacted(state, 250, 2)
    assert (after.total_tokens, after.messages, after.compactions) == (350, 2, 1)
    assert sample(after, Usage(input_tokens=400)) is None
    assert sample(record(after, Usage(input_tokens=400)), Usage(input_tokens=400)) == (0, 0)


def test_a_sample_compares_what_was_added_with_what_it_cost():
    state = added(record(begun(), Usage(input_tokens=300, output_tokens=20)), said(400))
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


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-opus-4-8", NEWEST),
        ("claude-opus-4-7-20260401", NEWEST),
        ("claude-sonnet-5-5", NEWEST),
        ("us.anthropic.claude-haiku-5-5-v1:0", NEWEST),
        ("claude-fable-5-2", NEWEST),
        ("claude-opus-4-1-20250805", OLDER),
        ("claude-sonnet-4-20250514", OLDER),
        ("claude-sonnet-4-6", OLDER),
        ("claude-3-5-sonnet-20241022", OLDER),
        ("qwen3-coder:30b", OLDER),
    ],
)
def test_the_newest_tokenizer_is_known_by_the_models_name(model, expected):
    assert characters_per_token(model) == expected


def test_releases_of_a_family_count_alike():
    names = ("claude-opus-4-1-20250805", "anthropic/claude-opus-4-1", "claude-opus-4-1@20250805",
             "us.anthropic.claude-opus-4-1-20250805-v1:0")  # fmt: skip
    assert {model_family(name) for name in names} == {"claude-opus-4-1"}
    assert model_family("claude-opus-4-8") != model_family("claude-opus-4-1")


def test_length_is_what_a_model_reads():
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 500_000}}
    thinking = {"type": "thinking", "thinking": "x" * 50, "signature": "s" * 9_000}
    assert characters([thinking]) == 50
    assert characters([image]) < 10_000
    result = {"type": "tool_result", "tool_use_id": "t", "content": [text_block("x" * 90), image]}
    assert 90 < characters([result]) < 10_000
    assert characters("plain") == 5


def test_where_a_character_has_several_bytes_a_token_has_fewer_characters():
    latin, chinese = text_block("word " * 200), text_block("\u6f22" * 1_000)
    assert estimate([latin], 4.0) == 250
    assert estimate([chinese], 4.0) == 750
    assert estimate([text_block("\ud800")], 1.0) == 3  # a lone half of a pair, as tools may print
