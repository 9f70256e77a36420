"""How many tokens something will be. An estimate: the truth is what the last reply reported."""

import json
from collections.abc import Iterable
from typing import Any

from foundry.schema.messages import Block

CHARACTERS_PER_TOKEN = 3.5
"""On the safe side of what current models use for code and English."""


def estimate(blocks: Iterable[Block]) -> int:
    """Tokens of these blocks, estimated from their length."""
    return int(sum(_length(block) for block in blocks) / CHARACTERS_PER_TOKEN)


def _length(block: Block) -> int:
    match block.get("type"):
        case "text":
            return len(block["text"])
        case "tool_result" if isinstance(block["content"], str):
            return len(block["content"]) + 60
        case _:
            return len(json.dumps(block, default=_opaque))


def _opaque(value: Any) -> str:
    return str(value)
