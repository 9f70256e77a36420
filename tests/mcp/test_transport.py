"""`foundry mcp` as a process: what it prints, what it answers, where it listens, how it ends."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any
from urllib.parse import urlsplit

import pytest

from foundry.errors import InputError
from foundry.mcp.transport import listen, request_id
from tests.support.builds import environment_of
from tests.support.mcp_clients import COMMAND, TOUR, put, served

Ask = Callable[[str], dict[str, Any]]


def request(number: Any, arguments: str, name: str = "workflow_next") -> str:
    params = f'{{"name":"{name}","arguments":{arguments}}}'
    return f'{{"jsonrpc":"2.0","id":{json.dumps(number)},"method":"tools/call","params":{params}}}'


def beginning(value: str) -> str:
    return f'{{"workflowId":"tour","context":{{"id":"not this","value":{value}}}}}'


def nested(levels: int) -> str:
    return '{"id":' * levels + "1" + "}" * levels


def hello(name: str = "test") -> str:
    about = {"protocolVersion": "2025-11-25", "capabilities": {},
             "clientInfo": {"name": name, "version": "1"}}  # fmt: skip
    return json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about})


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
def started(env: Mapping[str, str] | None = None) -> Iterator["subprocess.Popen[str]"]:
    """`foundry mcp` over stdio."""
    with subprocess.Popen(
        COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator["subprocess.Popen[str]"]:
    """A server that answers everything it is asked, and so is there for all tests."""
    env = environment_of(tmp_path_factory.mktemp("transport"))
    put(TOUR, env["FOUNDRY_HOME"])
    with started(env) as process:
        asked(process, hello())
        yield process


@pytest.fixture
def ask(process: "subprocess.Popen[str]") -> Ask:
    """Send a line, and wait for the next reply."""
    return partial(asked, process)


def asked(process: "subprocess.Popen[str]", line: str) -> dict[str, Any]:
    assert process.stdin
    assert process.stdout
    unanswered = Timer(60, process.kill)  # rather an end of file than a wait for ever
    unanswered.start()
    process.stdin.write(line + "\n")
    process.stdin.flush()
    reply: dict[str, Any] = json.loads(process.stdout.readline())
    unanswered.cancel()
    return reply


# -- stdio ---------------------------------------------------------------------------------------


def test_stdout_has_the_protocol_and_nothing_else() -> None:
    put(TOUR)
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    replies = []
    with started() as process:
        assert process.stdin
        assert process.stdout
        for message, answered in (
            (hello(), True),
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
    assert [reply["id"] for reply in replies] == [0, 2, 3, 4]
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
        process.stdin.write(hello() + "\n")
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
        process.stdin.write(hello() + "\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(way)
        assert process.wait() == -way
        assert process.stderr.read() == ""


@pytest.mark.parametrize("value", [r'"\ud800"', *map(nested, (250, 400, 900, 5_000, 100_000))])
@pytest.mark.parametrize("number", [7, "seven"])
def test_a_request_that_can_not_be_read_gets_an_error_with_its_id(
    ask: Ask, value: str, number: Any
) -> None:
    reply = ask(request(number, beginning(value)))
    assert reply["id"] == number
    assert reply["error"]["code"] == -32700
    assert reply["error"]["data"]["error"]["code"] == "invalid-message"
    assert reply["error"]["data"]["error"]["hint"]
    after = ask(request(8, beginning("1")))
    assert (after["id"], after["result"]["isError"]) == (8, False)


def test_every_depth_is_answered(ask: Ask) -> None:
    """Some are walked and some refused; none is lost between two parts with limits of their own."""
    told = []
    for levels in range(140, 200, 3):
        context = f'{{"things":[{nested(levels)}]}}'
        reply = ask(request(levels, f'{{"workflowId":"tour","context":{context}}}'))
        assert reply["id"] == levels
        if "error" not in reply and not reply["result"]["isError"]:
            token = reply["result"]["structuredContent"]["token"]
            reply = ask(request(levels, json.dumps({"token": token})))
            assert reply["id"] == levels
        told.append("error" not in reply and not reply["result"]["isError"])
    assert told == sorted(told, reverse=True)  # one depth parts them
    assert (told[0], told[-1]) == (True, False)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("no JSON", -32700),
        ("[]", -32600),
        ("{}", -32600),
        ('{"id":1,"params":{}}', -32600),
    ],
)
def test_what_is_no_request_is_told_without_an_id(ask: Ask, line: str, code: int) -> None:
    reply = ask(line)
    assert (reply["id"], reply["error"]["code"]) == (None, code)


def test_a_request_of_the_wrong_form_is_told_with_its_id(ask: Ask) -> None:
    for line, code in (('"method":3}', -32600), ('"method":"x"', -32700)):
        reply = ask(f'{{"jsonrpc":"2.0","id":5,{line}')
        assert (reply["id"], reply["error"]["code"]) == (5, code)


def test_blank_lines_and_bytes_that_are_no_utf8(process: "subprocess.Popen[str]", ask: Ask) -> None:
    assert process.stdin
    process.stdin.write("\n \r\n")
    process.stdin.flush()
    process.stdin.buffer.write(request(3, '{"workflowId":"X"}').encode().replace(b"X", b"\xff"))
    process.stdin.buffer.flush()
    reply = ask("")
    assert reply["id"] == 3
    assert reply["result"]["structuredContent"]["error"]["code"] == "unknown-workflow"


def test_the_last_line_needs_no_end_and_is_answered() -> None:
    put(TOUR)
    with started() as process:
        out, errors = process.communicate(f"{hello()}\n{request(4, beginning(nested(300)))}")
    assert sorted(json.loads(line)["id"] for line in out.splitlines()) == [0, 4]
    assert (process.returncode, errors) == (0, "")


def test_requests_may_come_from_a_file(tmp_path: Any) -> None:
    put(TOUR)
    (tmp_path / "requests").write_text(f"{hello()}\nno JSON\n")
    with (tmp_path / "requests").open() as given:
        done = subprocess.run(COMMAND, stdin=given, capture_output=True, text=True, check=True)
    replies = [json.loads(line)["id"] for line in done.stdout.splitlines()]
    assert sorted(replies, key=str) == [0, None]


def test_it_ends_when_its_replies_are_not_taken_any_more() -> None:
    """Though its client still could write."""
    with started() as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        asked(process, hello())
        process.stdout.close()
        process.stdin.write(request(1, beginning("1")) + "\n")
        process.stdin.flush()
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == ""


def test_a_line_of_many_pieces_is_one_message(ask: Ask) -> None:
    reply = ask(request(9, json.dumps({"workflowId": "x" * 1_000_000})))
    assert reply["id"] == 9
    assert reply["result"]["structuredContent"]["error"]["code"] == "unknown-workflow"


def test_the_id_is_that_of_the_request_itself() -> None:
    assert request_id('{"params":{"id":1,"s":"{\\"id\\":2}"},"id" : "a","method":"x"') == "a"
    assert request_id('{"method":"id","id":-3}') == -3
    assert request_id('{"method":"x","params":{"id":1}}') is None
    assert request_id('{"id":1,"result":{}}') is None  # an answer to us wants none
    assert request_id('{"id":1.5,"method":"x"}') is None
    assert request_id('{"method":"x","id":4,"s":"' + '\\"' * 200_000) == 4  # in linear time


# -- http ----------------------------------------------------------------------------------------


def status(url: str, **headers: str) -> int:
    """The status of an `initialize` with these headers."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
    base = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Host": f"127.0.0.1:{place.port}",
    }
    try:
        connection.request("POST", place.path, hello(), {**base, **headers})
        return connection.getresponse().status
    finally:
        connection.close()


def test_host_and_origin_are_checked() -> None:
    with served() as (url, _):
        assert urlsplit(url).hostname == "127.0.0.1"
        port = urlsplit(url).port
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}", "localhost",
                     "LOCALHOST"):  # fmt: skip
            assert status(url, Host=host) == 200
        for origin in (f"http://127.0.0.1:{port}", "http://localhost:6274", "http://localhost"):
            assert status(url, Origin=origin) == 200
        for host in (f"evil.example:{port}", "evil.example", f"localhost.evil.example:{port}",
                     f"127.0.0.1.evil.example:{port}", "0.0.0.0", f"10.0.0.1:{port}",
                     "localhost:evil.example", f"127.0.0.1:{port}@evil.example", "localhost:",
                     f"[::1]:{port}:1", ""):  # fmt: skip
            assert status(url, Host=host) == 421
        for origin in ("http://evil.example", "null", "https://localhost.evil.example",
                       f"http://evil.example:{port}", "file://", "http://10.0.0.1",
                       "http://localhost:3000.evil.example", "http://localhost:", "",
                       "http://localhost:3000/evil", "http://127.0.0.1@evil.example"):  # fmt: skip
            assert status(url, Origin=origin) == 403
            modern = {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "initialize"}
            assert status(url, Origin=origin, **modern) == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_no_other_place_than_the_loopback_is_taken(host: str) -> None:
    with pytest.raises(InputError, match="loopback"):
        listen(host, 0)


def test_a_port_in_use_is_said_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("--transport", "http", "--port", str(port))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "--port" in done.stderr


def test_http_prints_its_address_on_stderr_and_ends_with_a_signal() -> None:
    with served() as (url, process):
        assert status(url) == 200
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
    assert re.search(r"pip install (-e )?'\S*\[mcp\]'", done.stderr)
