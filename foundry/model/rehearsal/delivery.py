"""From a reply to the bytes that go over the socket, with the faults that strike there."""

from collections.abc import Mapping, Sequence
from typing import Any

from foundry.model.rehearsal import sse, wire
from foundry.model.rehearsal.faults import Fault
from foundry.model.rehearsal.rules import ERROR_TYPES, ApiError
from foundry.model.rehearsal.wire import Delivery

_PAGE = b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>\n"
_STATUS_OF = {type: status for status, type in ERROR_TYPES.items()}


def deliver_json(value: Any) -> Delivery:
    """A plain answer with status 200."""
    return Delivery(wire.whole(200, sse.compact(value).encode(), wire.JSON, {}))


def deliver_error(error: ApiError) -> Delivery:
    """An error as the API words it."""
    body = {"type": "error", "error": {"type": error.type, "message": error.message}}
    raw = sse.compact(body).encode()
    return Delivery(wire.whole(error.status, raw, wire.JSON, error.headers))


def deliver_message(message: Mapping[str, Any], *, streamed: bool, fault: Fault | None) -> Delivery:
    """A message, as a stream of events or as one JSON body, struck by `fault`."""
    headers = {"request-id": f"req_{message['id']}"}
    if streamed:
        pieces, content_type = sse.stream(message), wire.EVENTS
    else:
        pieces, content_type = _halves(message), wire.JSON
    if fault is None:
        return Delivery(wire.chunked(pieces, content_type, headers))
    match fault.kind:
        case "garbage_body":
            return Delivery(wire.whole(200, _PAGE, "text/html", headers))
        case "cut" | "reset" | "stall":
            return _broken(fault, pieces[: fault.after if streamed else 1], content_type, headers)
        case "end" | "error_event" | "garbage_event":
            if not streamed and fault.kind == "error_event":
                code = _STATUS_OF.get(fault.type, 500)
                return deliver_error(ApiError(code, fault.message, type=fault.type))
            sent = _spoiled(fault, pieces) if streamed else pieces[:1]
            return Delivery(wire.chunked(sent, content_type, headers))
        case _:
            return Delivery(wire.chunked(pieces, content_type, headers))


def _broken(
    fault: Fault, sent: Sequence[bytes], content_type: str, headers: Mapping[str, str]
) -> Delivery:
    """The connection fails before the reply is whole."""
    payload = wire.chunked(sent, content_type, headers, complete=False)
    before = b"" if fault.after is None else payload
    match fault.kind:
        case "reset":
            return Delivery(before, "reset")
        case "stall":
            return Delivery(before, "stall")
        case _:
            return Delivery(before, "close")


def _spoiled(fault: Fault, events: Sequence[bytes]) -> list[bytes]:
    """The stream is whole as HTTP, and wrong as a message."""
    sent = list(events[: fault.after])
    if fault.kind == "error_event":
        sent.append(sse.error(fault.type or "api_error", fault.message))
    elif fault.kind == "garbage_event":
        sent.append(b'event: content_block_delta\ndata: {"type": "content_blo\n\n')
    return sent


def _halves(message: Mapping[str, Any]) -> list[bytes]:
    content = [
        {key: value for key, value in block.items() if key != "partial_json"}
        for block in message["content"]
    ]
    body = sse.compact({**message, "content": content}).encode()
    return [body[: len(body) // 2], body[len(body) // 2 :]]
