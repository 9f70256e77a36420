"""What a request costs and how much a model can hold: read from genai-prices, which works offline.

The library knows no limit on the length of a reply, so there is none here.
"""

from functools import lru_cache
from typing import TYPE_CHECKING

from foundry.schema.messages import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider


def cost(model_name: str, usage: Usage) -> float | None:
    """US dollars for one request, or None where no price is known.

    Prices can depend on the length of the prompt: add up costs, don't price added-up usage.
    """
    found = _find(model_name)
    if found is None:
        return None
    import genai_prices

    provider, model = found
    # The library's input_tokens include what was read from and written to the cache; ours don't.
    counted = genai_prices.Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    return float(model.calc_price(counted, provider).total_price)


def window(model_name: str) -> int | None:
    """The model's context window in tokens, or None where it isn't known."""
    found = _find(model_name)
    return found[1].context_window if found else None


@lru_cache(maxsize=64)
def _find(model_name: str) -> "tuple[Provider, ModelInfo] | None":
    """The library's entry; cached, for the library itself forgets what it didn't find."""
    reference = _reference(model_name)
    if reference is None:
        return None
    from genai_prices.data_snapshot import get_snapshot

    name, provider = reference
    try:
        return get_snapshot().find_provider_model(name, None, provider, None)
    except LookupError:
        return None


def _reference(model_name: str) -> tuple[str, str | None] | None:
    """How the library calls the model and who sells it; None for what runs on own hardware."""
    if "anthropic.claude" in model_name:
        return model_name, "aws"
    if ":" in model_name:  # a tag such as `deepseek-r1:8b`: some vendor's name, run for nothing
        return None
    return model_name.removeprefix("anthropic/"), None
