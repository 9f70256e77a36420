"""How a server is reached: stdio, or HTTP from this machine alone.

HTTP is stateless: every request stands for itself, so a restarted server goes on with its clients
without a handshake. There is no authentication, hence the loopback, and the check of Host and
Origin, without which a web page could talk to us through a name that it points to 127.0.0.1.
"""

import errno
import signal
import socket
from collections.abc import Callable
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette

from foundry.errors import InputError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
PATH = "/mcp"
_NAMES = ("127.0.0.1", "localhost", "[::1]")

SECURITY = TransportSecuritySettings(
    enable_dns_rebinding_protection=True,
    allowed_hosts=[*_NAMES, *(f"{name}:*" for name in _NAMES)],
    allowed_origins=[
        f"{scheme}://{name}{port}"
        for scheme in ("http", "https")
        for name in _NAMES
        for port in ("", ":*")
    ],
)


def serve_stdio(server: Server[Any]) -> None:
    """Serve the client at the other end of stdin and stdout until it goes."""
    # The thread that waits for a line can't be interrupted, and there is nothing to put in order.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        anyio.run(_stdio, server)
    except* (BrokenPipeError, ConnectionResetError):
        pass  # the client went without waiting for our answer


async def _stdio(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


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
    with bound(host, port) as listening:
        app = http_app(server, stateless=stateless)
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        ready(address(listening))
        uvicorn.Server(config).run(sockets=[listening])


def http_app(server: Server[Any], *, stateless: bool = True) -> Starlette:
    """The web application that `serve_http` serves."""
    return server.streamable_http_app(
        streamable_http_path=PATH, stateless_http=stateless, transport_security=SECURITY
    )


def bound(host: str, port: int) -> socket.socket:
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
