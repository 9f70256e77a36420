"""How a server is reached: stdio, or HTTP from this machine alone.

The SDK passes over a line of stdin that it can't read, and its sender waits for ever; here it gets
an error. Waiting for a line can be given up, so that the server ends as soon as nobody takes its
replies.

HTTP is stateless: every request stands for itself, so a restarted server goes on with its clients
without a handshake. There is no authentication, hence the loopback, and the check of Host and
Origin, without which a web page could talk to us through a name that it points to 127.0.0.1.
"""

import errno
import fcntl
import math
import os
import re
import signal
import socket
import stat
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from foundry.errors import InputError
from foundry.mcp.messages import Refusal, described

LOOPBACK = ("127.0.0.1", "localhost", "::1")
PATH = "/mcp"
_HERE = r"(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?"
_HOST = re.compile(_HERE, re.IGNORECASE)
_ORIGIN = re.compile(f"https?://{_HERE}", re.IGNORECASE)

CHUNK = 1 << 16

_TOKEN = re.compile(
    r'"(?P<name>[^"\\]*(?:\\.[^"\\]*)*)(?:"(?P<key>\s*:)?|\\?\Z)|[{}\[\]]', re.DOTALL
)
_ID = re.compile(r'\s*(?:"(?P<text>[^"\\]*)"|(?P<number>-?\d{1,15}))\s*[,}]')


def serve_stdio(server: Server[Any]) -> None:
    """Serve the client at the other end of stdin and stdout until it goes."""
    # The thread that waits for a line can't be interrupted, and there is nothing to put in order.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        anyio.run(_stdio, server)
    except* (BrokenPipeError, ConnectionResetError):
        pass  # the client went without waiting for our answer


async def _stdio(server: Server[Any]) -> None:
    refuse, refusals = anyio.create_memory_object_stream[SessionMessage](math.inf)
    lines: Any = valid_messages(claim_stdin(), refuse.send_nowait, refuse.close)
    async with (
        stdio_server(stdin=lines) as (incoming, outgoing),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(_forward, refusals, outgoing.clone())
        await server.run(incoming, outgoing, server.create_initialization_options())


async def _forward(source: Any, sink: Any) -> None:
    async with source, sink:
        async for message in source:
            await sink.send(message)


def claim_stdin() -> int:
    """stdin under another number: what a tool starts finds nothing there to read."""
    stdin = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return stdin


async def valid_messages(
    stdin: int, refuse: Callable[[SessionMessage], None], done: Callable[[], None]
) -> AsyncIterator[str]:
    """The lines that are messages; the others are answered by `refuse`. `done`: no more come."""
    async for line in _lines(stdin):
        try:
            types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as error:
            if line.strip():
                refuse(SessionMessage(invalid_message(line, error)))
        else:
            yield line
    done()


def invalid_message(line: str, error: ValidationError) -> types.JSONRPCError:
    """What is said to a line that is no message."""
    found = error.errors(include_url=False, include_context=False, include_input=False)[0]
    unreadable = found["type"] == "json_invalid"
    refusal = Refusal(
        "invalid-message",
        f"this line is no JSON-RPC message: {found['msg']}",
        hint="Send one message a line, of whole Unicode characters and at most 150 levels deep",
    )
    data = types.ErrorData(
        code=types.PARSE_ERROR if unreadable else types.INVALID_REQUEST,
        message=refusal.message,
        data={"error": described(refusal)},
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


async def _lines(stdin: int) -> AsyncIterator[str]:
    kind = os.fstat(stdin).st_mode
    waits = stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)  # a file or a terminal can't be waited for
    rest = bytearray()
    while data := await _read(stdin, waits=waits):
        rest += data
        if b"\n" in data:
            *whole, rest = rest.split(b"\n")
            for line in whole:
                yield line.decode("utf-8", "replace")
    yield rest.decode("utf-8", "replace")


async def _read(stdin: int, *, waits: bool) -> bytes:
    if not waits:
        return await anyio.to_thread.run_sync(os.read, stdin, CHUNK)
    await anyio.wait_readable(stdin)
    return os.read(stdin, CHUNK)


def serve_http(
    server: Server[Any],
    host: str,
    port: int,
    ready: Callable[[str], None],
    *,
    stateless: bool = True,
) -> None:
    """Serve until a signal ends it; `ready` hears the address once it answers there.

    Port 0 takes a free one. Raises InputError for an address that is not ours to serve on.
    """
    with listen(host, port) as listening:
        app = http_app(server, stateless=stateless)
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        ready(address(listening))
        uvicorn.Server(config).run(sockets=[listening])


def http_app(server: Server[Any], *, stateless: bool = True) -> Starlette:
    """The web application that `serve_http` serves."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=stateless,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app.add_middleware(OnlyFromHere)  # the SDK's own check is of prefixes: `localhost:evil.example`
    return app


class OnlyFromHere:
    """Requests that were sent to this machine by its name, and not by a page from elsewhere."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 421 or 403."""
        app = self._app
        if scope["type"] != "lifespan":
            headers = Headers(scope=scope)
            hosts, origins = headers.getlist("host"), headers.getlist("origin")
            if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
                app = Response("The Host is not this machine", 421)
            elif not all(map(_ORIGIN.fullmatch, origins)):
                app = Response("The Origin is not this machine", 403)
        await app(scope, receive, send)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket on the loopback; raises InputError for any other place."""
    if host not in LOOPBACK:
        raise InputError(
            f"{host!r} is not the loopback: nobody would be asked for a password there",
            hint=f"Use one of {', '.join(LOOPBACK)}; from elsewhere, come through ssh -L",
        )
    family = socket.AF_INET6 if host == "::1" else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        why = "it is in use" if error.errno == errno.EADDRINUSE else error.strerror
        raise InputError(
            f"cannot listen on {host} port {port}: {why}", hint="Choose another with --port"
        ) from error


def address(listening: socket.socket) -> str:
    """The URL of what is served on this socket."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"
