"""stdin as the SDK's reader wants it: whole lines, and an answer to those that are no message.

The SDK passes over a line that it can't read, and its sender waits for ever; here it gets an error.
Waiting for a line can be given up, so that the server ends as soon as nobody takes its replies.
"""

import fcntl
import os
import re
import stat
from collections.abc import AsyncIterator, Callable

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from foundry.mcp.refusal import Refusal, described

CHUNK = 1 << 16

_TOKEN = re.compile(
    r'"(?P<name>[^"\\]*(?:\\.[^"\\]*)*)(?:"(?P<key>\s*:)?|\\?\Z)|[{}\[\]]', re.DOTALL
)
_ID = re.compile(r'\s*(?:"(?P<text>[^"\\]*)"|(?P<number>-?\d{1,15}))\s*[,}]')


def claimed() -> int:
    """stdin under another number: what a tool starts finds nothing there to read."""
    wire = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return wire


async def messages(
    wire: int, refuse: Callable[[SessionMessage], None], done: Callable[[], None]
) -> AsyncIterator[str]:
    """The lines that are messages; the others are answered by `refuse`. `done`: no more come."""
    async for line in _lines(wire):
        try:
            types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as error:
            if line.strip():
                refuse(SessionMessage(refusal(line, error)))
        else:
            yield line
    done()


def refusal(line: str, error: ValidationError) -> types.JSONRPCError:
    """What is said to a line that is no message."""
    found = error.errors(include_url=False, include_context=False, include_input=False)[0]
    unreadable = found["type"] == "json_invalid"
    told = Refusal(
        "invalid-message",
        f"this line is no JSON-RPC message: {found['msg']}",
        hint="Send one message a line, of whole Unicode characters and at most 150 levels deep",
    )
    data = types.ErrorData(
        code=types.PARSE_ERROR if unreadable else types.INVALID_REQUEST,
        message=told.message,
        data={"error": described(told)},
    )
    return types.JSONRPCError(jsonrpc="2.0", id=request_id(line), error=data)


def request_id(line: str) -> str | int | None:
    """The id of a request that can't be read as a whole, however deep or damaged it is."""
    members, depth = {}, 0
    for token in _TOKEN.finditer(line):
        if token["key"] and depth == 1:
            members[token["name"]] = token.end()
        else:
            depth += (token[0] in "{[") - (token[0] in "}]")
    found = _ID.match(line, members["id"]) if members.keys() >= {"id", "method"} else None
    if found is None:
        return None
    return int(found["number"]) if found["number"] else found["text"]


async def _lines(wire: int) -> AsyncIterator[str]:
    kind = os.fstat(wire).st_mode
    waits = stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)  # a file or a terminal can't be waited for
    rest = bytearray()
    while data := await _read(wire, waits=waits):
        rest += data
        if b"\n" in data:
            *whole, rest = rest.split(b"\n")
            for line in whole:
                yield line.decode("utf-8", "replace")
    yield rest.decode("utf-8", "replace")


async def _read(wire: int, *, waits: bool) -> bytes:
    if not waits:
        return await anyio.to_thread.run_sync(os.read, wire, CHUNK)
    await anyio.wait_readable(wire)
    return os.read(wire, CHUNK)
