"""Take old tool results out of a conversation that grows too full.

The first, cheapest stage of compaction: what a tool said long ago is replaced by a line that says
so, which halves the cost of long conversations without costing solved tasks (arXiv 2508.21433).
Results are masked in one batch down to a target, so that the prompt cache breaks once and not at
every turn. Pairs of tool_use and tool_result stay whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from foundry.conversation.tokens import estimate
from foundry.schema.messages import Block, Message

KEEP_RECENT = 6
"""The newest results are never masked: the model is working with them."""

WORTH_MASKING = 400
"""Characters below which a result stays: masking it would save nothing."""

MASK = "[Taken out to save room. Run the tool again if you need this.]"


@dataclass(frozen=True, slots=True)
class MaskedMessages:
    """The messages with old results taken out, how many, and an estimate of the tokens saved."""

    messages: tuple[Message, ...]
    results: int
    saved: int


def mask(messages: Sequence[Message], *, save: int) -> MaskedMessages:
    """Mask the oldest results until about `save` tokens are gone, or nothing is left to mask."""
    places = [
        (number, position)
        for number, message in enumerate(messages)
        for position, block in enumerate(message["content"])
        if block.get("type") == "tool_result"
    ]
    chosen: dict[int, set[int]] = {}
    saved = results = 0
    for number, position in places[:-KEEP_RECENT]:
        block = messages[number]["content"][position]
        if saved >= save or not _worth(block):
            continue
        chosen.setdefault(number, set()).add(position)
        saved += estimate([block]) - estimate([_masked(block)])
        results += 1
    masked = tuple(
        _with_masks(message, chosen[number]) if number in chosen else message
        for number, message in enumerate(messages)
    )
    return MaskedMessages(masked, results, saved)


def _worth(block: Block) -> bool:
    content = block["content"]
    return isinstance(content, str) and len(content) > WORTH_MASKING and not block.get("is_error")


def _masked(block: Block) -> Block:
    return {**block, "content": MASK}


def _with_masks(message: Message, positions: set[int]) -> Message:
    content = [
        _masked(block) if position in positions else block
        for position, block in enumerate(message["content"])
    ]
    return {"role": message["role"], "content": content}
