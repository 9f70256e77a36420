"""How many tokens something will be. An estimate: the truth is what the last reply reported."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from foundry.model.request import claude
from foundry.schema.messages import Block

CHARACTERS_PER_TOKEN = 3.5
"""Where no model is known: on the safe side of what most use for code and English."""

OLDER, NEWEST = 4.0, 2.8
"""Characters a token of Claude up to 4.6 and of most others, and of Claude since Opus 4.7."""

_IMAGE = 6_000
"""An image costs by its size in pixels, at most about so many characters' worth."""


def characters_per_token(model: str) -> float:
    """What to expect of a model before it has reported anything."""
    return NEWEST if claude(model)[1] >= (4, 7) else OLDER


def estimate(blocks: Iterable[Block], per_token: float = CHARACTERS_PER_TOKEN) -> int:
    """Tokens of these blocks, estimated from their length in bytes: where a character has several,
    as in Chinese, a token has fewer characters."""
    return int(_length(blocks, _bytes) / per_token)


def characters(blocks: Iterable[Block] | str) -> int:
    """The length of content as a model reads it; plain text is one block of it."""
    return _length(blocks, len)


def _length(blocks: Iterable[Block] | str, measure: Callable[[str], int]) -> int:
    if isinstance(blocks, str):
        return measure(blocks)
    return sum(_length_of(block, measure) for block in blocks)


def _length_of(block: Block, measure: Callable[[str], int]) -> int:
    match block.get("type"):
        case "text":
            return measure(block["text"])
        case "tool_result":
            return _length(block.get("content") or "", measure) + 60
        case "thinking":
            return measure(block.get("thinking", ""))  # its signature is no text to the model
        case "image":
            return _IMAGE
        case _:
            return measure(json.dumps(block, default=_opaque))


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _opaque(value: Any) -> str:
    return str(value)
