"""What goes to a model and what comes back.

Blocks keep the shape of the Messages API, so that kinds we do not know (thinking, citations)
are carried through a conversation untouched.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from foundry.schema.base import Value

Block = Mapping[str, Any]

Thinking = Literal["", "on", "off"]
"""Whether a model is to think before it answers; empty: as it is used to."""


class Message(TypedDict):
    """One message of a conversation."""

    role: Literal["user", "assistant"]
    content: list[Block]


class Usage(Value):
    """Tokens as the API reported them; the four kinds are disjoint."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        """Everything that was sent, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def context_tokens(self) -> int:
        """How full the window is after this reply."""
        return self.prompt_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
        )


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of a model. Layout is stable first, changing last: tools, system, messages."""

    system: tuple[Block, ...]
    tools: tuple[Block, ...]
    messages: tuple[Message, ...]
    max_tokens: int
    context_management: Mapping[str, Any] | None = None
    """What the server is asked to do itself when the context grows (see model/request.py)."""
    thinking: Thinking = ""
    """Translated by model/request.py: models differ in what they take."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply. `stop_reason` is never None: a cut stream is an error, not a reply."""

    content: tuple[Block, ...]
    stop_reason: str
    usage: Usage
    model: str = ""
    id: str = ""
    last_usage: Usage | None = None
    """Of the last round alone, where the server took several to answer (it compacted, or ran tools
    of its own): `usage` is what all of them cost, this is how full the window is."""

    @property
    def context(self) -> Usage:
        """The usage that tells how full the window is after this reply."""
        return self.last_usage or self.usage

    @property
    def text(self) -> str:
        """The words of the reply, without tool calls."""
        return "\n".join(b["text"] for b in self.content if b.get("type") == "text")

    def tool_calls(self) -> Iterator["ToolCall"]:
        """The tool calls in their order."""
        for block in self.content:
            if block.get("type") == "tool_use":
                yield ToolCall(block["id"], block["name"], block.get("input") or {})


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to run a tool; `arguments` are unchecked."""

    id: str
    name: str
    arguments: Any = field(default_factory=dict)


def text_block(text: str, *, cache: bool = False) -> Block:
    """A text block; `cache` ends a prefix that later requests share."""
    block: dict[str, Any] = {"type": "text", "text": text}
    return {**block, "cache_control": {"type": "ephemeral"}} if cache else block


def tool_result(call: ToolCall, content: str, *, is_error: bool = False) -> Block:
    """The answer to a tool call."""
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call.id, "content": content}
    return {**block, "is_error": True} if is_error else block
