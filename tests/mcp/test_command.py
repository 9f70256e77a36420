"""`foundry mcp` as a process: what it prints, where it listens, how it ends."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from foundry.errors import InputError
from foundry.mcp.transport import bound
from tests.support.mcp_clients import COMMAND, TOUR, put, served

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def call(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def lines(*messages: Any) -> str:
    return "".join(f"{m if isinstance(m, str) else json.dumps(m)}\n" for m in messages)


def run(*options: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *options], input=given, capture_output=True, text=True, check=False
    )


@contextmanager
def started() -> Iterator["subprocess.Popen[str]"]:
    """`foundry mcp` over stdio."""
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


# -- stdio ---------------------------------------------------------------------------------------


def test_stdout_has_the_protocol_and_nothing_else() -> None:
    put(TOUR)
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    replies = []
    with started() as process:
        assert process.stdin
        assert process.stdout
        for message, answered in (
            (HELLO, True),
            (initialized, False),
            (call(2, "workflow_next", {"workflowId": "tour"}), True),
            (call(3, "workflow_next", {"workflowId": "no such"}), True),
            (call(4, "build_status", {"folder": "/"}), True),
        ):
            process.stdin.write(lines(message))
            process.stdin.flush()
            if answered:
                replies.append(json.loads(process.stdout.readline()))
        rest, errors = process.communicate()
    assert rest == ""
    assert "Traceback" not in errors
    assert process.returncode == 0
    assert [reply["id"] for reply in replies] == [1, 2, 3, 4]
    assert replies[0]["result"]["serverInfo"]["name"] == "foundry"
    assert replies[1]["result"]["structuredContent"]["step"]["id"] == "begin"
    assert [reply["result"]["isError"] for reply in replies[1:]] == [False, True, True]


def test_it_ends_quietly_when_nobody_ever_speaks() -> None:
    done = run()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_it_ends_quietly_when_nobody_listens_any_more() -> None:
    with started() as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write(lines(HELLO))
        process.stdin.close()
        errors = process.stderr.read()
        assert process.wait() == 0, errors
    assert errors == ""


@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once_and_quietly(way: signal.Signals) -> None:
    """Also while its reading thread waits for a line that never comes."""
    with started() as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(lines(HELLO))
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(way)
        assert process.wait() == -way
        assert process.stderr.read() == ""


# -- http ----------------------------------------------------------------------------------------


def ask(url: str, **headers: str) -> int:
    """The status of an `initialize` with these headers."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
    base = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Host": f"127.0.0.1:{place.port}",
    }
    try:
        connection.request("POST", place.path, json.dumps(HELLO), {**base, **headers})
        return connection.getresponse().status
    finally:
        connection.close()


def test_host_and_origin_are_checked() -> None:
    with served() as (url, _):
        assert urlsplit(url).hostname == "127.0.0.1"
        port = urlsplit(url).port
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}", "localhost",
                     "LOCALHOST"):  # fmt: skip
            assert ask(url, Host=host) == 200
        for origin in (f"http://127.0.0.1:{port}", "http://localhost:6274", "http://localhost"):
            assert ask(url, Origin=origin) == 200
        for host in (f"evil.example:{port}", "evil.example", f"localhost.evil.example:{port}",
                     f"127.0.0.1.evil.example:{port}", "0.0.0.0", f"10.0.0.1:{port}",
                     "localhost:evil.example", f"127.0.0.1:{port}@evil.example", "localhost:",
                     f"[::1]:{port}:1", ""):  # fmt: skip
            assert ask(url, Host=host) == 421
        for origin in ("http://evil.example", "null", "https://localhost.evil.example",
                       f"http://evil.example:{port}", "file://", "http://10.0.0.1",
                       "http://localhost:3000.evil.example", "http://localhost:", "",
                       "http://localhost:3000/evil", "http://127.0.0.1@evil.example"):  # fmt: skip
            assert ask(url, Origin=origin) == 403
            modern = {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "initialize"}
            assert ask(url, Origin=origin, **modern) == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_no_other_place_than_the_loopback_is_taken(host: str) -> None:
    with pytest.raises(InputError, match="loopback"):
        bound(host, 0)


def test_another_place_is_refused_in_one_line() -> None:
    done = run("--transport", "http", "--host", "0.0.0.0", "--port", "0")
    assert done.returncode == 1
    assert "loopback" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_port_in_use_is_said_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("--transport", "http", "--port", str(port))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "--port" in done.stderr


def test_http_prints_its_address_on_stderr_and_ends_with_a_signal() -> None:
    with served() as (url, process):
        assert ask(url) == 200
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stdout
        assert process.stdout.read() == ""
        assert process.stderr
        assert "Traceback" not in process.stderr.read()


# -- without the extra ---------------------------------------------------------------------------


def test_without_the_extra_a_line_says_how_to_install_it(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['mcp'] = None; sys.argv = ['foundry', 'mcp']; "
        "from foundry.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=dict(os.environ),
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "pip install 'context-foundry[mcp]'" in done.stderr
