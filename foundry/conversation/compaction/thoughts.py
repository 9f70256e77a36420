"""Thinking blocks in a thread: they go back to the API as they came, or not at all.

Newer models bind a thought to everything that stands before it, and refuse it when that has
changed. So whoever changes a thread takes all thoughts out of it, and what they led to stays.
"""

from collections.abc import Iterable, Sequence

from foundry.schema.messages import Block, Message, text_block

THOUGHTS = ("thinking", "redacted_thinking")
TAKEN_OUT = "(a thought, taken out to save room)"


def without_thoughts(messages: Sequence[Message]) -> list[Message]:
    """The messages without what the model thought in them."""
    return [_without(message) if message["role"] == "assistant" else message
            for message in messages]  # fmt: skip


def signed(content: Iterable[Block]) -> list[Block]:
    """A cut reply as it may be sent back: a thought that was cut has no signature, and goes."""
    return [block for block in content
            if block.get("type") != "thinking" or block.get("signature")]  # fmt: skip


def _without(message: Message) -> Message:
    blocks = message["content"]
    kept = blocks if isinstance(blocks, str) else [b for b in blocks if b["type"] not in THOUGHTS]
    return {"role": message["role"], "content": kept or [text_block(TAKEN_OUT)]}
