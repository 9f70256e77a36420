"""A saved conversation as text: who said what, which tool was called and what it answered."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from foundry.report import units
from foundry.report.terminal_safe import safe, safe_block
from foundry.schema.messages import Block, Message

SHOWN_LINES = 12
"""Lines of a block, unless all of it is asked for."""

SHOWN_WIDTH = 300


def conversation_lines(messages: Sequence[Message], *, whole: bool = False) -> Iterator[str]:
    """The lines; long blocks are cut unless `whole`."""
    for number, message in enumerate(messages, 1):
        if number > 1:
            yield ""
        yield f"── {number} {message['role']}"
        content: Any = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            yield from _block(block, whole)


def _block(block: Block, whole: bool) -> Iterator[str]:
    match block.get("type"):
        case "text":
            yield from _shown(block["text"], whole)
        case "thinking":
            yield "thinking:"
            yield from _shown(block.get("thinking", ""), whole, "  ")
        case "tool_use":
            yield f"▶ {safe(str(block.get('name')))}"
            yield from _shown(_arguments(block.get("input")), whole, "  ")
        case "tool_result":
            yield "failed:" if block.get("is_error") else "answered:"
            yield from _shown(_content(block.get("content")), whole, "  ")
        case kind:
            yield f"({safe(str(kind))})"


def _shown(text: str, whole: bool, indent: str = "") -> Iterator[str]:
    lines = safe_block(text).rstrip("\n").split("\n")
    shown = lines if whole else lines[:SHOWN_LINES]
    for line in shown:
        cut = line if whole or len(line) <= SHOWN_WIDTH else f"{line[:SHOWN_WIDTH]}…"
        yield f"{indent}{cut}"
    if len(lines) > len(shown):
        yield f"{indent}… {units.counted(len(lines) - len(shown), 'more line')}"


def _arguments(value: Any) -> str:
    """Arguments as they read best: one a line, text as it is."""
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "\n".join(
        f"{name}: {each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)}"
        for name, each in value.items()
    )


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(
        str(block["text"]) if block.get("type") == "text" else f"({block.get('type')})"
        for block in content or ()
    )
