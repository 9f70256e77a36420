"""A whole message as the API's stream of events.

Long texts and arguments are cut into several deltas, short ones into two, so that whoever reads
the stream has to put them together again.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

DELTA_CHARACTERS = 1024

compact = json.JSONEncoder(separators=(",", ":")).encode
"""JSON as it goes over the wire."""


def event(name: str, **data: Any) -> bytes:
    """One event of the stream."""
    return f"event: {name}\ndata: {compact({'type': name, **data})}\n\n".encode()


def error(type: str, message: str) -> bytes:
    """The event that tells of an error after the status 200 has been sent."""
    return event("error", error={"type": type, "message": message})


def stream(message: Mapping[str, Any]) -> list[bytes]:
    """The events of `message`, in order.

    A block with a `partial_json` sends that text for its arguments instead of its `input`.
    """
    usage = {**message["usage"], "output_tokens": 1}
    opening = {**message, "content": [], "stop_reason": None, "usage": usage}
    events = [event("message_start", message=opening)]
    for index, block in enumerate(message["content"]):
        opened, deltas = _opened(block)
        events.append(event("content_block_start", index=index, content_block=opened))
        events += [event("content_block_delta", index=index, delta=delta) for delta in deltas]
        events.append(event("content_block_stop", index=index))
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    written = {"output_tokens": message["usage"]["output_tokens"]}
    events.append(event("message_delta", delta=ending, usage=written))
    events.append(event("message_stop"))
    return events


def _opened(block: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[dict[str, Any]]]:
    """The block as it starts, empty, and the deltas that fill it."""
    match block["type"]:
        case "text":
            pieces = _cut(block["text"])
            return {**block, "text": ""}, [{"type": "text_delta", "text": p} for p in pieces]
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": p} for p in _cut(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block.get("signature", "")})
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas
        case "tool_use":
            arguments = block.get("partial_json") or compact(block["input"])
            opened = {"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": p} for p in _cut(arguments)]
            return opened, deltas
        case _:
            return block, []


def _cut(text: str) -> Iterator[str]:
    size = min(DELTA_CHARACTERS, max(1, (len(text) + 1) // 2))
    return (text[start : start + size] for start in range(0, len(text), size))
