"""From a reply to the bytes that go over the socket, with the faults that strike there.

Just enough of HTTP/1.1, and the API's stream of events: long texts and arguments are cut into
several deltas, short ones into two, so that whoever reads the stream has to put them together.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedIOBase
from typing import Any, Literal

from foundry.model.rehearsal.faults import Fault
from foundry.model.rehearsal.rules import ERROR_TYPES, ApiError

JSON = "application/json"
EVENTS = "text/event-stream; charset=utf-8"
_PAGE = b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>\n"
_STATUS_OF = {type: status for status, type in ERROR_TYPES.items()}
DELTA_CHARACTERS = 1024

compact = json.JSONEncoder(separators=(",", ":")).encode
"""JSON as it goes over the """


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request; header names are in lower case, the path is without its query."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def keeps_alive(self) -> bool:
        """Whether the client will send another request on this connection."""
        return self.headers.get("connection", "").lower() != "close"


@dataclass(frozen=True, slots=True)
class Delivery:
    """What is sent, in one piece, and what becomes of the connection after it.

    `keep` it, `close` it, `reset` it (RST instead of FIN), or `stall`: hold it open in silence
    until the client leaves or the server stops.
    """

    payload: bytes
    ending: Literal["keep", "close", "reset", "stall"] = "keep"


def deliver_json(value: Any) -> Delivery:
    """A plain answer with status 200."""
    return Delivery(_whole(200, compact(value).encode(), JSON, {}))


def deliver_error(error: ApiError) -> Delivery:
    """An error as the API words it."""
    body = {"type": "error", "error": {"type": error.type, "message": error.message}}
    raw = compact(body).encode()
    return Delivery(_whole(error.status, raw, JSON, error.headers))


def deliver_message(message: Mapping[str, Any], *, streamed: bool, fault: Fault | None) -> Delivery:
    """A message, as a stream of events or as one JSON body, struck by `fault`."""
    headers = {"request-id": f"req_{message['id']}"}
    if streamed:
        pieces, content_type = _event_stream(message), EVENTS
    else:
        pieces, content_type = _halves(message), JSON
    if fault is None:
        return Delivery(_chunked(pieces, content_type, headers))
    match fault.kind:
        case "garbage_body":
            return Delivery(_whole(200, _PAGE, "text/html", headers))
        case "cut" | "reset" | "stall":
            return _broken(fault, pieces[: fault.after if streamed else 1], content_type, headers)
        case "end" | "error_event" | "garbage_event":
            if not streamed and fault.kind == "error_event":
                code = _STATUS_OF.get(fault.type, 500)
                return deliver_error(ApiError(code, fault.message, type=fault.type))
            sent = _spoiled(fault, pieces) if streamed else pieces[:1]
            return Delivery(_chunked(sent, content_type, headers))
        case _:
            return Delivery(_chunked(pieces, content_type, headers))


def _broken(
    fault: Fault, sent: Sequence[bytes], content_type: str, headers: Mapping[str, str]
) -> Delivery:
    """The connection fails before the reply is whole."""
    payload = _chunked(sent, content_type, headers, complete=False)
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
        sent.append(
            _event("error", error={"type": fault.type or "api_error", "message": fault.message})
        )
    elif fault.kind == "garbage_event":
        sent.append(b'event: content_block_delta\ndata: {"type": "content_blo\n\n')
    return sent


def _halves(message: Mapping[str, Any]) -> list[bytes]:
    content = [
        {key: value for key, value in block.items() if key != "partial_json"}
        for block in message["content"]
    ]
    body = compact({**message, "content": content}).encode()
    return [body[: len(body) // 2], body[len(body) // 2 :]]


def _event(name: str, **data: Any) -> bytes:
    """One event of the stream."""
    return f"event: {name}\ndata: {compact({'type': name, **data})}\n\n".encode()


def _event_stream(message: Mapping[str, Any]) -> list[bytes]:
    """The events of `message`, in order.

    A block with a `partial_json` sends that text for its arguments instead of its `input`.
    """
    usage = {**message["usage"], "output_tokens": 1}
    opening = {**message, "content": [], "stop_reason": None, "usage": usage}
    events = [_event("message_start", message=opening)]
    for index, block in enumerate(message["content"]):
        opened, deltas = _opened(block)
        events.append(_event("content_block_start", index=index, content_block=opened))
        events += [_event("content_block_delta", index=index, delta=delta) for delta in deltas]
        events.append(_event("content_block_stop", index=index))
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    written = {"output_tokens": message["usage"]["output_tokens"]}
    events.append(_event("message_delta", delta=ending, usage=written))
    events.append(_event("message_stop"))
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


def read_request(stream: BufferedIOBase) -> HttpRequest | None:
    """The next request, or None when the client has gone.

    Raises ValueError for what is not HTTP; a body needs a Content-Length.
    """
    line = stream.readline()
    if not line:
        return None
    method, target, _ = line.decode("latin-1").split()
    headers: dict[str, str] = {}
    while (line := stream.readline()) not in (b"\r\n", b"\n"):
        if not line:
            return None
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    body = stream.read(int(headers.get("content-length", "0")))
    return HttpRequest(method, target.partition("?")[0], headers, body)


def _whole(status: int, body: bytes, content_type: str, headers: Mapping[str, str]) -> bytes:
    """A reply that says its length first."""
    return (
        _head(
            status, {"content-type": content_type, "content-length": str(len(body))} | dict(headers)
        )
        + body
    )


def _chunked(
    pieces: Iterable[bytes],
    content_type: str,
    headers: Mapping[str, str],
    *,
    complete: bool = True,
) -> bytes:
    """A reply without a length, as streams are sent; an incomplete one lacks its end mark."""
    body = b"".join(pieces)
    head = _head(
        200, {"content-type": content_type, "transfer-encoding": "chunked"} | dict(headers)
    )
    chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
    return head + chunk + (b"0\r\n\r\n" if complete else b"")


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {'OK' if status == 200 else 'Error'}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
