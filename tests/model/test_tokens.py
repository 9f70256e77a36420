"""Lengths and tokens of texts, estimated."""

import pytest

from foundry.model.tokens import NEWEST, OLDER, characters, characters_per_token, estimate
from foundry.schema.messages import text_block


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
