import pytest

from foundry.model import prices
from foundry.schema.messages import Usage

MILLION = 1_000_000


def dollars(model, **tokens):
    return prices.cost(model, Usage(**tokens))


@pytest.mark.parametrize(
    ("model", "per_million"),
    [  # input, output, cache read, cache write, as published
        ("claude-opus-5-5", (4, 20, 0.20, 5)),
        ("claude-sonnet-5-5", (2, 10, 0.10, 2.5)),
        ("claude-fable-5-2", (8, 40, 0.20, 10)),
    ],
)
def test_each_kind_of_token_has_its_price(model, per_million):
    kinds = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    assert [dollars(model, **{kind: MILLION}) for kind in kinds] == pytest.approx(per_million)


def test_kinds_are_disjoint():
    """1,000 new, 20,000 read and 4,000 written: 0.002 + 0.002 + 0.010, and 0.003 of output."""
    found = dollars(
        "claude-sonnet-5-5",
        input_tokens=1_000,
        cache_read_tokens=20_000,
        cache_write_tokens=4_000,
        output_tokens=300,
    )
    assert found == pytest.approx(0.017)


def test_a_tier_depends_on_the_whole_prompt():
    cheap = dollars("claude-haiku-5-5", input_tokens=10_000, cache_read_tokens=90_000)
    dear = dollars("claude-haiku-5-5", input_tokens=10_001, cache_read_tokens=90_000)
    assert cheap == pytest.approx(10_000 * 0.10e-6 + 90_000 * 0.01e-6)
    assert dear == pytest.approx(10_001 * 0.50e-6 + 90_000 * 0.05e-6)


def test_nothing_costs_nothing():
    assert dollars("claude-sonnet-5-5") == 0


@pytest.mark.parametrize(
    "model", ["anthropic/claude-sonnet-5-5", "claude-sonnet-5-5-20260901", "CLAUDE-SONNET-5-5"]
)
def test_spellings_of_one_model(model):
    assert dollars(model, input_tokens=MILLION) == pytest.approx(2)
    assert prices.window(model) == MILLION


def test_bedrock_has_prices_of_its_own():
    assert dollars("us.anthropic.claude-sonnet-5-5", input_tokens=MILLION) == pytest.approx(2.2)


@pytest.mark.parametrize("model", ["", "qwen3-coder", "deepseek-r1:8b", "claude-9-unheard-of"])
def test_an_unknown_model_has_no_price(model):
    assert dollars(model, input_tokens=MILLION) is None
    assert prices.window(model) is None


def test_windows():
    assert prices.window("claude-opus-5-5") == MILLION
    assert prices.window("claude-haiku-4-5") == 200_000
