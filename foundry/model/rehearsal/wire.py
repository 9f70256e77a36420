"""Just enough of HTTP/1.1: a request read from a stream, a reply as bytes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import BufferedIOBase
from typing import Literal

JSON = "application/json"
EVENTS = "text/event-stream; charset=utf-8"


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


def whole(status: int, body: bytes, content_type: str, headers: Mapping[str, str]) -> bytes:
    """A reply that says its length first."""
    return (
        _head(
            status, {"content-type": content_type, "content-length": str(len(body))} | dict(headers)
        )
        + body
    )


def chunked(
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
