"""Single messages of a thread: cache breakpoints, thinking blocks, and what is shown of them.

Newer models bind a thought to everything that stands before it, and refuse it when that has
changed. So whoever changes a thread takes all thoughts out of it, and what they led to stays.
"""

from collections.abc import Iterable, Sequence

from foundry.context.templates import MOST_MARKS
from foundry.schema.messages import Block, Message, Reply, ToolCall, text_block

SHOWN = 200
"""Characters of a call's subject, and of an error, in an event."""

GIVEN = 2_000
"""Characters of an opening that its event holds; the transcript has it whole."""

THOUGHTS = ("thinking", "redacted_thinking")

TAKEN_OUT = "(a thought, taken out to save room)"


def with_breakpoint(messages: list[Message]) -> tuple[Message, ...]:
    """The messages with a cache breakpoint at the end, so that the next turn reads this one.

    Where the opening leaves one over, it stands where the last turn had it: the API itself looks
    for that no more than 20 blocks back, and a turn of many calls has more.
    """
    shared = sum("cache_control" in block for block in messages[0]["content"])
    turns = [at for at, message in enumerate(messages) if message["role"] == "user"]
    result = list(messages)
    for at in turns[-1 if shared == MOST_MARKS else -2 :]:
        *head, end = messages[at]["content"]
        result[at] = {"role": messages[at]["role"], "content": [*head, marked(end)]}
    return tuple(result)


def marked(block: Block) -> Block:
    """A block with a cache breakpoint after it."""
    return {**block, "cache_control": {"type": "ephemeral"}}


def subject(call: ToolCall) -> str:
    """What a call is about, in a few words: its command, pattern or path, or what it recalls."""
    arguments = call.arguments if isinstance(call.arguments, dict) else {}
    given = [arguments.get(key) for key in ("command", "pattern", "path")]
    recalled = [arguments.get(key) for key in ("keywords", "contextIds", "turnNumbers")]
    given += [", ".join(map(str, each)) for each in recalled if isinstance(each, list)]
    first = next((each for each in given if isinstance(each, str) and each.strip()), "")
    return first.strip().split("\n", 1)[0][:SHOWN]


def reason(text: str) -> str:
    """The start of an error on one line."""
    return " ".join(text.split())[:SHOWN]


def given(opening: Iterable[Block]) -> str:
    """The beginning of an opening's last block: what the conversation is about."""
    *_, last = [block.get("text", "") for block in opening] or [""]
    return str(last)[:GIVEN]


def reasoning(reply: Reply) -> str:
    """What a reply thinks and says beside its tool calls."""
    said = (block.get("thinking") or block.get("text") or "" for block in reply.content)
    return "\n".join(text.strip() for text in said if text.strip())


def last_words(messages: list[Message]) -> str:
    """What the model said last, beside its tool calls."""
    for message in reversed(messages):
        if message["role"] == "assistant":
            texts = (block.get("text", "") for block in message["content"])
            if said := "\n".join(text for text in texts if text):
                return said
    return ""


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
