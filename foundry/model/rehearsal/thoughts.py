"""Thinking as the API has it: what a request may ask, and that a thought goes back unchanged.

A thought is signed with everything that stood before it. One that comes back to other words is
refused, as newer models do; whoever changes a conversation has to take all thoughts out of it.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from foundry.model.rehearsal.rules import ApiError, blocks_of

MARK = "rehearsed-"
TYPES = ("adaptive", "enabled", "disabled", "between_tools")
LEAST_BUDGET = 1_024

_canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def check_thinking(body: Mapping[str, Any]) -> None:
    """Raise ApiError (400) for a `thinking` that the API would refuse."""
    thinking = body.get("thinking")
    if thinking is None:
        return
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    if kind not in TYPES:
        raise ApiError(400, f"thinking.type: Input should be one of {', '.join(TYPES)}")
    budget = thinking.get("budget_tokens")
    if kind == "enabled" and not (isinstance(budget, int) and budget >= LEAST_BUDGET):
        raise ApiError(400, f"thinking.budget_tokens: Input should be at least {LEAST_BUDGET}")
    if kind == "enabled" and budget >= body.get("max_tokens", 0):
        raise ApiError(400, "`max_tokens` must be greater than `thinking.budget_tokens`")
    if kind in ("enabled", "adaptive") and _forces(body):
        raise ApiError(400, "Thinking may not be enabled when tool_choice forces tool use.")


def check_thoughts(body: Mapping[str, Any]) -> None:
    """Raise ApiError (400) for a thought of ours that stands after other words than it did."""
    if not any(_is_ours(block) for message in body["messages"]
               for block in blocks_of(message["content"])):  # fmt: skip
        return
    prefix = _start(body)
    for number, message in enumerate(body["messages"]):
        blocks = blocks_of(message["content"])
        for place, block in enumerate(blocks):
            if _is_ours(block) and block["signature"] != MARK + prefix.hexdigest():
                raise ApiError(
                    400,
                    f"messages.{number}.content.{place}: Invalid `signature` in `thinking` block. "
                    "The block is bound to a different conversation.",
                )
        _add(prefix, message["role"], blocks)


def with_thoughts(
    content: Sequence[Mapping[str, Any]], body: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """A scripted reply's blocks: its thoughts signed, or none where the request wants none."""
    kind = (body.get("thinking") or {}).get("type")
    if kind in ("disabled", "between_tools"):
        return [dict(block) for block in content if block["type"] != "thinking"]
    return [
        {"signature": _signature(body), **block} if block["type"] == "thinking" else dict(block)
        for block in content
    ]


def _signature(body: Mapping[str, Any]) -> str:
    prefix = _start(body)
    for message in body["messages"]:
        _add(prefix, message["role"], blocks_of(message["content"]))
    return MARK + prefix.hexdigest()


def _start(body: Mapping[str, Any]) -> blake2b:
    prefix = blake2b(digest_size=12)
    _add(prefix, "tools", body.get("tools") or ())
    _add(prefix, "system", blocks_of(body.get("system") or []))
    return prefix


def _add(prefix: blake2b, owner: str, blocks: Sequence[Mapping[str, Any]]) -> None:
    for block in blocks:
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        prefix.update(f"{owner}{_canonical(bare)}".encode())


def _is_ours(block: Mapping[str, Any]) -> bool:
    return str(block.get("signature", "")).startswith(MARK)


def _forces(body: Mapping[str, Any]) -> bool:
    choice = body.get("tool_choice")
    return isinstance(choice, dict) and choice.get("type") in ("any", "tool")
