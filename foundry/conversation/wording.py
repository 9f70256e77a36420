"""What the loop says and shows of single messages and calls."""

from collections.abc import Iterable

from foundry.schema.messages import Block, Message, Reply, ToolCall

SHOWN = 200
"""Characters of a call's subject, and of an error, in an event."""


def with_breakpoint(messages: list[Message]) -> tuple[Message, ...]:
    """The messages with a cache breakpoint at the end, so that the next turn reads this one."""
    *earlier, last = messages
    *blocks, block = last["content"]
    marked: Block = {**block, "cache_control": {"type": "ephemeral"}}
    return (*earlier, {"role": last["role"], "content": [*blocks, marked]})


def subject(call: ToolCall) -> str:
    """What a call is about, in a few words: its command, pattern or path."""
    arguments = call.arguments if isinstance(call.arguments, dict) else {}
    given = [arguments.get(key) for key in ("command", "pattern", "path")]
    first = next((each for each in given if isinstance(each, str) and each.strip()), "")
    return first.strip().split("\n", 1)[0][:SHOWN]


def reason(text: str) -> str:
    """The start of an error on one line."""
    return " ".join(text.split())[:SHOWN]


GIVEN = 2_000
"""Characters of an opening that its event holds; the transcript has it whole."""


def given(opening: Iterable[Block]) -> str:
    """The beginning of an opening's last block: what the conversation is about."""
    *_, last = [block.get("text", "") for block in opening] or [""]
    return str(last)[:GIVEN]


def reasoning(reply: Reply) -> str:
    """What a reply thinks and says beside its tool calls."""
    said = (block.get("thinking") or block.get("text") or "" for block in reply.content)
    return "\n".join(text.strip() for text in said if text.strip())
