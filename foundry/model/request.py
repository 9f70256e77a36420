"""A request as the Messages API takes it: plain JSON, with the headers that go along.

Every generation of models is told in other words to think before it answers, or not to: by the
model's name, from the API's documentation of late 2026. Where the name says nothing, nothing is
asked for; where the API refuses what the name promised, the model does without (anthropic.py).
The server edits the context only where a step's budget says `compaction: server`.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, Literal

from foundry.schema.messages import Block, Message, ModelRequest, Thinking

Body = dict[str, Any]

BUDGET, LEAST_BUDGET = 8_000, 1_024
"""Tokens of thinking where the caller has to give a budget, and the API's least."""

_NAME = re.compile(
    r"claude-(?:(?P<family>[a-z]+)-)?(?P<major>\d{1,2})(?:[-.](?P<minor>\d{1,2}))?(?!\d)"
)

ADAPTIVE, BUDGETED = (4, 6), (3, 7)
"""From these versions on a model thinks as much as it wants; as much as it is told."""

BY_DEFAULT, UNENDING = (5, 0), (5, 5)
"""From these versions on it thinks unless it is told not to; and some do even then."""

BETAS = ("context-management-2025-06-27", "compact-2026-01-12")

KEPT_RESULTS = 6
LEAST_COMPACTION = 50_000
"""Tokens below which the API does not compact."""


def body_of(name: str, request: ModelRequest, *, thinks: bool = True) -> Body:
    """What to post to ask the model `name`; without `thinks` it is not asked to think, for a server
    that refuses that."""
    body: Body = {
        "model": name,
        "max_tokens": request.max_tokens,
        "messages": [sendable(message) for message in request.messages],
        "stream": True,
    }
    if request.system:
        body["system"] = request.system
    if request.tools:
        body["tools"] = request.tools
    thinking = request.thinking if thinks else ""
    if think := thinking_of(name, thinking, request.max_tokens, request.messages):
        body["thinking"] = think
    if request.context_management:
        body["context_management"] = request.context_management
    return body


def headers_of(body: Body) -> dict[str, str]:
    """The headers that a body needs: the betas, where it edits the context."""
    return {"anthropic-beta": ",".join(BETAS)} if "context_management" in body else {}


def sendable(message: Message) -> Message:
    """The message as the API takes it: the arguments of a tool call must be an object."""
    if message["role"] != "assistant":
        return message
    return {"role": "assistant", "content": [_with_object(b) for b in message["content"]]}


def _with_object(block: Block) -> Block:
    if block.get("type") != "tool_use" or isinstance(block.get("input"), dict):
        return block
    given = block.get("input")
    raw = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return {**block, "input": {"INVALID_JSON": raw}}


def thinking_of(
    name: str, thinking: Thinking, max_tokens: int, messages: Sequence[Message] = ()
) -> dict[str, Any] | None:
    """The `thinking` of a request, or None where it is better not to have any."""
    match thinking:
        case "on":
            return _on(name, max_tokens, messages)
        case "off":
            return _off(name)
        case _:
            return None


def always_thinks(name: str) -> bool:
    """Whether the model thinks before every answer, whatever it is told."""
    family, version = claude(name)
    if family in ("fable", "mythos"):
        return True
    return family == "opus" and version >= UNENDING


def refuses_thinking(words: str) -> bool:
    """Whether a server refuses to let the model think, and not thoughts that were sent back."""
    said = words.lower()
    return "thinking" in said and "signature" not in said


def _on(name: str, max_tokens: int, messages: Sequence[Message]) -> dict[str, Any] | None:
    family, version = claude(name)
    if version >= ADAPTIVE or family == "mythos":
        return {"type": "adaptive", "display": "summarized"}
    budget = min(BUDGET, max_tokens // 2)
    if version < BUDGETED or budget < LEAST_BUDGET or _goes_on_unthought(messages):
        return None
    return {"type": "enabled", "budget_tokens": budget}


def _off(name: str) -> dict[str, Any] | None:
    """What turns thinking off; nothing where it is off anyway or can't be."""
    family, version = claude(name)
    if version < BY_DEFAULT or always_thinks(name):
        return None
    kind: Literal["between_tools", "disabled"] = (
        "between_tools" if family == "sonnet" and version >= UNENDING else "disabled"
    )
    return {"type": kind}


def _goes_on_unthought(messages: Sequence[Message]) -> bool:
    """Whether the results of a reply without thoughts are sent: there a model with a budget may
    not begin to think."""
    *_, reply, last = (None, None, *messages)
    if reply is None or last is None:
        return False
    answers = any(block.get("type") == "tool_result" for block in last["content"])
    first = reply["content"][0].get("type") if reply["content"] else ""
    return answers and first not in ("thinking", "redacted_thinking")


def claude(name: str) -> tuple[str, tuple[int, int]]:
    """Family and version of a Claude; version (0, 0) of anything else."""
    low = name.lower()
    found = _NAME.search(low)
    if found is None:
        return ("mythos" if "claude-mythos" in low else ""), (0, 0)
    return found["family"] or "", (int(found["major"]), int(found["minor"] or 0))


def context_management(threshold: int) -> dict[str, Any]:
    """Clear old tool results from `threshold` tokens on, and sum up what is still too much."""
    return {
        "edits": [
            {
                "type": "clear_tool_uses_20250919",
                "trigger": {"type": "input_tokens", "value": threshold},
                "keep": {"type": "tool_uses", "value": KEPT_RESULTS},
            },
            {
                "type": "compact_20260112",
                "trigger": {
                    "type": "input_tokens",
                    "value": max(LEAST_COMPACTION, threshold * 5 // 4),
                },
            },
        ]
    }
