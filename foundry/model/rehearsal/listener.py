"""The socket of a rehearsal and its threads: one accepts, one more for each connection."""

import contextlib
import socket
import socketserver
import struct
import sys
from collections.abc import Callable
from threading import Thread
from typing import Any

from foundry.model.rehearsal.delivery import (
    Delivery,
    HttpRequest,
    deliver_error,
    read_request,
)
from foundry.model.rehearsal.rules import ApiError

HOST = "127.0.0.1"


class Listener(socketserver.ThreadingTCPServer):
    """Answers HTTP requests with `respond`, which is called by many threads at once.

    Raises OSError when the port is taken; port 0 takes a free one.
    """

    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, port: int, respond: Callable[[HttpRequest], Delivery]) -> None:
        self.respond = respond
        self._stopping = False
        self._connections: list[tuple[Any, Thread]] = []
        self._thread = Thread(target=self._accept, name="rehearsal", daemon=True)
        super().__init__((HOST, port), _Connection)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.server_address[1])

    def start(self) -> None:
        """Accept connections from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Close the socket, break the connections, wait for the threads."""
        self._stopping = True
        # Accepting has no timeout: one last connection, our own, wakes it.
        socket.create_connection((HOST, self.port)).close()
        self._thread.join()
        self.server_close()
        for connection, thread in self._connections:
            with contextlib.suppress(OSError):  # the client was faster
                connection.shutdown(socket.SHUT_RDWR)
            thread.join()

    def _accept(self) -> None:
        while not self._stopping:
            self.handle_request()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own."""
        self._connections = [(c, thread) for c, thread in self._connections if thread.is_alive()]
        arguments = (request, client_address)
        thread = Thread(target=self.process_request_thread, args=arguments, daemon=True)
        self._connections.append((request, thread))
        thread.start()

    def shutdown_request(self, request: Any) -> None:
        """Only close: the base class sends a FIN first, and a reset shall begin with its RST."""
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left is nothing; what a script raised is told to the client."""
        error = sys.exception()
        if isinstance(error, ConnectionError):
            return
        message = f"the rehearsal itself failed: {type(error).__name__}: {error}"
        with contextlib.suppress(OSError):
            request.sendall(deliver_error(ApiError(400, message)).payload)


class _Connection(socketserver.StreamRequestHandler):
    """One connection, kept alive from request to request."""

    disable_nagle_algorithm = True
    server: Listener

    def handle(self) -> None:
        """Answer until the client leaves or a delivery ends the connection."""
        ending = "keep"
        while ending == "keep":
            request = read_request(self.rfile)
            if request is None:
                return
            delivery = self.server.respond(request)
            self.connection.sendall(delivery.payload)
            ending = delivery.ending
            if ending == "keep" and not request.keeps_alive:
                ending = "close"
        if ending == "reset":
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        elif ending == "stall":
            self.rfile.read(1)  # returns when the client leaves, or by stop()
