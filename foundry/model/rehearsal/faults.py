"""What goes wrong on request. A fault is a value; how it reaches the socket is in delivery.py.

Use the functions (`faults.rate_limit(retry_after=2)`) in Python; in YAML a fault is a mapping
with the fields of `Fault`, such as `{kind: reset, after: 3}`.
"""

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ConfigDict, Field

from foundry.model.rehearsal.rules import ApiError
from foundry.schema.base import Value

Kind = Literal[
    "status",  # an error reply with `status`, `type`, `message`, `retry_after`, `should_retry`
    "cut",  # the connection closes in the middle of the reply
    "reset",  # ... by RST
    "stall",  # silence until the client leaves or the server stops
    "end",  # the stream ends in good order, but early
    "error_event",  # an `error` event with `type` and `message` ends the stream
    "garbage_event",  # an event whose data is not JSON
    "garbage_body",  # status 200 with a page of HTML
    "empty",  # a reply without content
    "truncate",  # the last block breaks off: stop_reason max_tokens
    "stop",  # the reply ends with `stop_reason`
]


class Fault(Value):
    """One fault. It strikes the first `times` requests for its turn (-1: every one)."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    kind: Kind
    times: int = 1
    after: int | None = Field(default=2, ge=0)
    """Stream events that are sent before it strikes; None: not even the headers are sent.

    A reply that is not streamed has no events: half of its body is sent instead."""
    status: int = Field(default=500, ge=400, le=599)
    type: str = ""
    """The error's type; by default the one that belongs to the status."""
    message: str = "The rehearsal fails here as its script asks."
    retry_after: str | None = None
    """The header's value as it is sent: sane, absurd or no number at all."""
    should_retry: bool | None = None
    stop_reason: str = "end_turn"


def status(
    code: int,
    *,
    type: str = "",
    message: str = "The rehearsal fails here as its script asks.",
    retry_after: float | str | None = None,
    should_retry: bool | None = None,
    times: int = 1,
) -> Fault:
    """An error reply: 401, 413, 429, 500, 529 ... with an optional Retry-After."""
    return Fault(
        kind="status",
        status=code,
        type=type,
        message=message,
        retry_after=None if retry_after is None else str(retry_after),
        should_retry=should_retry,
        times=times,
    )


def overflow(*, times: int = 1) -> Fault:
    """The 400 of a prompt that does not fit the window."""
    return status(400, message="prompt is too long: 200001 tokens > 200000 maximum", times=times)


def drop(*, times: int = 1) -> Fault:
    """The connection closes before a byte of the reply."""
    return Fault(kind="cut", after=None, times=times)


def cut(*, after: int | None = 2, times: int = 1) -> Fault:
    """The connection closes after some events."""
    return Fault(kind="cut", after=after, times=times)


def reset(*, after: int | None = 2, times: int = 1) -> Fault:
    """The connection is reset after some events."""
    return Fault(kind="reset", after=after, times=times)


def stall(*, after: int | None = 2, times: int = 1) -> Fault:
    """Silence after some events, until the client leaves or the server stops."""
    return Fault(kind="stall", after=after, times=times)


def early_end(*, after: int = 2, times: int = 1) -> Fault:
    """The stream ends in good order but without message_stop; 0: without message_start too."""
    return Fault(kind="end", after=after, times=times)


def error_event(type: str = "overloaded_error", *, after: int = 2, times: int = 1) -> Fault:
    """An `error` event in a stream that began with status 200."""
    return Fault(kind="error_event", type=type, after=after, times=times)


def garbage_event(*, after: int = 2, times: int = 1) -> Fault:
    """An event whose data is not JSON."""
    return Fault(kind="garbage_event", after=after, times=times)


def garbage_body(*, times: int = 1) -> Fault:
    """A page of HTML with status 200, as captive portals and proxies send it."""
    return Fault(kind="garbage_body", times=times)


def empty(*, times: int = 1) -> Fault:
    """A reply without any content."""
    return Fault(kind="empty", times=times)


def truncate(*, times: int = 1) -> Fault:
    """The last block breaks off in its middle, as at max_tokens."""
    return Fault(kind="truncate", times=times)


def stop(reason: str, *, times: int = 1) -> Fault:
    """The reply as scripted, but it ends with `reason`: refusal, pause_turn, an unknown one."""
    return Fault(kind="stop", stop_reason=reason, times=times)


def alter(fault: Fault, message: dict[str, Any]) -> dict[str, Any]:
    """The message as the fault leaves it; faults of the socket change nothing here."""
    match fault.kind:
        case "empty":
            return {**message, "content": [], "stop_reason": "end_turn"}
        case "stop":
            return {**message, "stop_reason": fault.stop_reason}
        case "truncate":
            blocks = message["content"]
            cut = [*blocks[:-1], *map(_half, blocks[-1:])]
            return {**message, "content": cut, "stop_reason": "max_tokens"}
        case _:
            return message


def error_of(fault: Fault) -> ApiError:
    """The error reply of a `status` fault."""
    headers = {}
    if fault.retry_after is not None:
        headers["retry-after"] = fault.retry_after
    if fault.should_retry is not None:
        headers["x-should-retry"] = str(fault.should_retry).lower()
    return ApiError(fault.status, fault.message, type=fault.type, headers=headers)


def _half(block: Mapping[str, Any]) -> dict[str, Any]:
    if block["type"] == "thinking":
        return {"type": "thinking", "thinking": block["thinking"][: len(block["thinking"]) // 2]}
    if block["type"] != "tool_use":
        return {**block, "text": block["text"][: len(block["text"]) // 2]}
    arguments = json.dumps(block["input"], separators=(",", ":"))
    return {**block, "input": {}, "partial_json": arguments[: len(arguments) // 2]}
