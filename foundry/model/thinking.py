"""How a model is told to think before it answers, or not to: every generation takes other words.

By the model's name, from the API's documentation of late 2026. Where the name says nothing, nothing
is asked for; where the API refuses what the name promised, the model does without (anthropic.py).
"""

import re
from collections.abc import Sequence
from typing import Any, Literal

from foundry.schema.messages import Message, ThinkingWish

Config = dict[str, Any]

BUDGET, LEAST_BUDGET = 8_000, 1_024
"""Tokens of thinking where the caller has to give a budget, and the API's least."""

_NAME = re.compile(
    r"claude-(?:(?P<family>[a-z]+)-)?(?P<major>\d{1,2})(?:[-.](?P<minor>\d{1,2}))?(?!\d)"
)

ADAPTIVE, BUDGETED = (4, 6), (3, 7)
"""From these versions on a model thinks as much as it wants; as much as it is told."""

BY_DEFAULT, UNENDING = (5, 0), (5, 5)
"""From these versions on it thinks unless it is told not to; and some do even then."""


def config(
    name: str, wish: ThinkingWish, max_tokens: int, messages: Sequence[Message] = ()
) -> Config | None:
    """The `thinking` of a request, or None where it is better not to have any."""
    match wish:
        case "on":
            return _on(name, max_tokens, messages)
        case "off":
            return _off(name)
        case _:
            return None


def always(name: str) -> bool:
    """Whether the model thinks before every answer, whatever it is told."""
    family, version = _read(name)
    if family in ("fable", "mythos"):
        return True
    return family == "opus" and version >= UNENDING


def refused(words: str) -> bool:
    """Whether a server's refusal is about the wish to think, and not about thoughts sent back."""
    said = words.lower()
    return "thinking" in said and "signature" not in said


def _on(name: str, max_tokens: int, messages: Sequence[Message]) -> Config | None:
    family, version = _read(name)
    if version >= ADAPTIVE or family == "mythos":
        return {"type": "adaptive", "display": "summarized"}
    budget = min(BUDGET, max_tokens // 2)
    if version < BUDGETED or budget < LEAST_BUDGET or _goes_on_unthought(messages):
        return None
    return {"type": "enabled", "budget_tokens": budget}


def _off(name: str) -> Config | None:
    """What turns thinking off; nothing where it is off anyway or can't be."""
    family, version = _read(name)
    if version < BY_DEFAULT or always(name):
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


def _read(name: str) -> tuple[str, tuple[int, int]]:
    """Family and version of a Claude; version (0, 0) of anything else."""
    low = name.lower()
    found = _NAME.search(low)
    if found is None:
        return ("mythos" if "claude-mythos" in low else ""), (0, 0)
    return found["family"] or "", (int(found["major"]), int(found["minor"] or 0))
