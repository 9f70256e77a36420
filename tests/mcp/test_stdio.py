"""stdin of `foundry mcp`: every request gets an answer, and it ends when nobody takes them."""

import json
import subprocess
from collections.abc import Callable, Iterator
from threading import Timer
from typing import Any

import pytest

from foundry.mcp.transport import request_id
from tests.support.mcp_clients import COMMAND, TOUR, put

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


@pytest.fixture
def process() -> Iterator["subprocess.Popen[str]"]:
    put(TOUR)
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        unanswered = Timer(60, process.kill)  # rather an end of file than a wait for ever
        unanswered.start()
        try:
            yield process
        finally:
            unanswered.cancel()
            process.kill()


@pytest.fixture
def ask(process: "subprocess.Popen[str]") -> Ask:
    """Send a line, and wait for the next reply."""

    def ask(line: str) -> dict[str, Any]:
        assert process.stdin
        assert process.stdout
        process.stdin.write(line + "\n")
        process.stdin.flush()
        reply: dict[str, Any] = json.loads(process.stdout.readline())
        return reply

    ask(hello())
    return ask


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


def test_the_last_line_needs_no_end_and_is_answered(process: "subprocess.Popen[str]") -> None:
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


def test_it_ends_when_its_replies_are_not_taken_any_more(
    process: "subprocess.Popen[str]", ask: Ask
) -> None:
    """Though its client still could write."""
    assert process.stdin
    assert process.stdout
    assert process.stderr
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
