"""The adapter through the real SDK over real sockets."""

import json
import socket
import threading
import time
from email.utils import formatdate

import pytest

from foundry.errors import ContextOverflow, ModelRejected, ModelUnavailable
from foundry.model.anthropic import AnthropicModel
from foundry.model.rehearsal import faults
from foundry.model.rehearsal.script import Turn, call, say
from foundry.model.rehearsal.server import RehearsalServer
from foundry.model.retry import RetryPolicy
from foundry.schema.messages import ModelRequest, Usage, text_block, tool_result

ANSWER = (say("I write it."), call("write_file", path="a.py", content="x = 1\n"))
ENVIRONMENT = ["API_KEY", "AUTH_TOKEN", "BASE_URL", "PROFILE", "CUSTOM_HEADERS", "CONFIG_DIR"]


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    for name in ENVIRONMENT:
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


class Asked:
    """A model in front of a server; waits and notices are noted, not waited."""

    def __init__(self, url, **options):
        self.waits, self.notices, self.heard = [], [], []
        options = {
            "retry": RetryPolicy(jitter=0),
            "read_timeout": 30,
            "on_retry": self.notices.append,
        } | options
        self.model = AnthropicModel(
            options.pop("name", "claude-sonnet-5-5"),
            base_url=url,
            wait=self.waits.append,
            **options,
        )

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.model.close()

    def ask(self, words="go on", on_text=None):
        return self.model.complete(request(words), on_text or self.heard.append)


def request(words="go on", **fields):
    message = {"role": "user", "content": [text_block(words)]}
    return ModelRequest(
        **{"system": (), "tools": (), "messages": (message,), "max_tokens": 900} | fields
    )


def serve(fault=None, *content, **turn):
    return RehearsalServer(lambda _: Turn(content=content or ANSWER, fault=fault, **turn))


def test_a_reply_with_its_usage():
    usage = Usage(input_tokens=3, output_tokens=5, cache_read_tokens=7, cache_write_tokens=11)
    with serve(usage=usage, id="one") as server, Asked(server.url) as asked:
        reply = asked.ask()
    assert reply.text == "".join(asked.heard) == "I write it."
    (wish,) = reply.tool_calls()
    assert (wish.id, wish.name) == ("toolu_one_1", "write_file")
    assert wish.arguments == {"path": "a.py", "content": "x = 1\n"}
    assert (reply.stop_reason, reply.id) == ("tool_use", "msg_one")
    assert reply.model == asked.model.name == "claude-sonnet-5-5"
    assert reply.usage == usage
    assert asked.model.cost(usage) == pytest.approx((3 * 2 + 5 * 10 + 7 * 0.1 + 11 * 2.5) / 1e6)


def test_nobody_needs_to_listen():
    with serve() as server, Asked(server.url) as asked:
        assert asked.model.complete(request()).text == "I write it."


def test_the_request_is_sent_as_it_was_given():
    tools = ({"name": "write_file", "input_schema": {"type": "object"}},)
    system = (text_block("You build.", cache=True),)
    with serve() as server, Asked(server.url) as asked:
        first = asked.ask()
        (wish,) = first.tool_calls()
        messages = (
            *request().messages,
            {"role": "assistant", "content": list(first.content)},
            {"role": "user", "content": [tool_result(wish, "done")]},
        )
        asked.model.complete(request(system=system, tools=tools, messages=messages))
        body = server.requests[1].body
    assert body == {
        "model": "claude-sonnet-5-5",
        "max_tokens": 900,
        "stream": True,
        "system": list(system),
        "tools": list(tools),
        "messages": list(messages),
    }


def test_what_cannot_be_encoded_is_replaced():
    with serve() as server, Asked(server.url) as asked:
        asked.ask("a tool brought \udc80 and ä")
        (sent,) = server.requests[0].body["messages"]
    assert sent["content"][0]["text"] == "a tool brought \ufffd and ä"


PASSING = {
    "408": faults.status(408),
    "409": faults.status(409),
    "429": faults.status(429),
    "500": faults.status(500),
    "502": faults.status(502),
    "503": faults.status(503),
    "504": faults.status(504),
    "529": faults.status(529),
    "dropped": faults.drop(),
    "reset before headers": faults.reset(after=None),
    "cut after headers": faults.cut(after=0),
    "cut": faults.cut(after=4),
    "reset": faults.reset(after=4),
    "nothing at all": faults.early_end(after=0),
    "begun only": faults.early_end(after=1),
    "end in a text": faults.early_end(after=3),
    "end in a tool call": faults.early_end(after=7),
    "overloaded in a stream": faults.error_event("overloaded_error"),
    "api_error in a stream": faults.error_event("api_error", after=4),
    "rate limit in a stream": faults.error_event("rate_limit_error"),
    "timeout in a stream": faults.error_event("timeout_error"),
    "error before the start": faults.error_event("overloaded_error", after=0),
    "garbage in a stream": faults.garbage_event(after=4),
    "garbage at the start": faults.garbage_event(after=0),
    "a web page": faults.garbage_body(),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_fault_that_passes(fault):
    with serve(fault) as server, Asked(server.url) as asked:
        assert asked.ask().content[1]["input"] == {"path": "a.py", "content": "x = 1\n"}
        assert len(server.requests) == 2
    assert asked.waits == [1]
    assert [(n.attempt, n.attempts, n.wait) for n in asked.notices] == [(1, 6, 1)]
    assert asked.notices[0].reason


@pytest.mark.parametrize("after", [None, 0, 4], ids=["unanswered", "before", "within"])
def test_a_stall_is_given_up_and_tried_again(after):
    fault = faults.stall(after=after)
    with serve(fault) as server, Asked(server.url, read_timeout=0.3) as asked:
        assert asked.ask().stop_reason == "tool_use"
    assert asked.waits == [1]
    assert "0.3 s" in asked.notices[0].reason


def test_text_starts_over_after_a_notice():
    heard = []
    with serve(faults.cut(after=5)) as server, Asked(server.url, on_retry=heard.append) as asked:
        asked.ask(on_text=heard.append)
    at = next(i for i, item in enumerate(heard) if not isinstance(item, str))
    assert at > 0
    assert "I write it.".startswith("".join(heard[:at]))
    assert "".join(heard[at + 1 :]) == "I write it."


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (faults.status(529, message="Overloaded", times=-1), "answered 529: Overloaded"),
        (faults.drop(times=-1), "can't reach"),
        (faults.cut(times=-1), "the connection broke"),
        (faults.early_end(times=-1), "cut off"),
        (faults.garbage_body(times=-1), "text/html"),
        (faults.error_event(times=-1), "answered 529"),
    ],
)
def test_a_fault_that_stays_pauses_the_run(fault, words):
    with serve(fault) as server, Asked(server.url) as asked:
        with pytest.raises(ModelUnavailable, match=words) as caught:
            asked.ask()
        assert len(server.requests) == 6
    assert asked.waits == [1, 2, 4, 8, 16]
    assert "tried 6 times" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("sent", "wait"), [("2", 2), ("0.5", 0.5), ("60", 60), ("-5", 1), ("soon", 1), ("nan", 1)]
)
def test_retry_after(sent, wait):
    with serve(faults.status(429, retry_after=sent)) as server, Asked(server.url) as asked:
        assert asked.ask().stop_reason == "tool_use"
    assert asked.waits == [wait]


def test_retry_after_as_a_date():
    date = formatdate(time.time() + 40, usegmt=True)
    with serve(faults.status(503, retry_after=date)) as server, Asked(server.url) as asked:
        asked.ask()
    (wait,) = asked.waits
    assert 1 < wait <= 40


@pytest.mark.parametrize(
    "sent", ["7200", formatdate(time.time() + 7200, usegmt=True)], ids=["seconds", "date"]
)
def test_a_long_wait_is_the_run_s_business(sent):
    fault = faults.status(429, retry_after=sent, times=-1)
    with serve(fault) as server, Asked(server.url) as asked:
        with pytest.raises(ModelUnavailable) as caught:
            asked.ask()
        assert len(server.requests) == 1
    assert asked.waits == []
    assert caught.value.retry_after == pytest.approx(7200, abs=600)


def test_a_server_that_forbids_retries_is_obeyed():
    fault = faults.status(503, should_retry=False, times=-1)
    with serve(fault) as server, Asked(server.url) as asked:
        with pytest.raises(ModelUnavailable, match="answered 503"):
            asked.ask()
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        (faults.status(400, message="tools.0: bad"), ModelRejected, "tools.0: bad"),
        (faults.status(401), ModelRejected, "Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN"),
        (faults.status(402), ModelRejected, "Add credit"),
        (faults.status(403), ModelRejected, "Set ANTHROPIC_API_KEY"),
        (faults.status(404), ModelRejected, "'claude-sonnet-5-5'? Choose one with --model"),
        (faults.status(422, message="odd"), ModelRejected, "odd"),
        (faults.error_event("invalid_request_error"), ModelRejected, "answered 400"),
        (faults.error_event("authentication_error"), ModelRejected, "Set ANTHROPIC_API_KEY"),
        (faults.overflow(), ContextOverflow, "200001 tokens"),
        (faults.status(413), ContextOverflow, "no longer fits claude-sonnet-5-5"),
        (faults.error_event("request_too_large"), ContextOverflow, "no longer fits"),
    ],
)
def test_a_refusal_is_final(fault, error, words):
    with serve(fault) as server, Asked(server.url) as asked:
        with pytest.raises(error) as caught:
            asked.ask()
        assert len(server.requests) == 1
    assert words in str(caught.value)
    assert asked.waits == asked.notices == []


def test_a_refusal_never_shows_the_key():
    fault = faults.status(401, message="invalid key: abc-my-key")
    with (
        serve(fault) as server,
        Asked(server.url, api_key="abc-my-key") as asked,
        pytest.raises(ModelRejected, match=r"invalid key: \[key\]"),
    ):
        asked.ask()


def test_a_prompt_over_the_servers_own_window():
    server = RehearsalServer(lambda _: Turn(content=ANSWER), window=100)
    with server, Asked(server.url) as asked, pytest.raises(ContextOverflow):
        asked.ask("word " * 500)


def test_an_empty_reply_is_a_reply():
    with serve(faults.empty()) as server, Asked(server.url) as asked:
        reply = asked.ask()
    assert (reply.content, reply.stop_reason) == ((), "end_turn")


@pytest.mark.parametrize("reason", ["refusal", "pause_turn", "a_reason_of_tomorrow"])
def test_any_stop_reason_comes_through(reason):
    with serve(faults.stop(reason)) as server, Asked(server.url) as asked:
        assert asked.ask().stop_reason == reason


def test_a_tool_call_that_broke_off_does_not_look_whole():
    with serve(faults.truncate()) as server, Asked(server.url) as asked:
        reply = asked.ask()
        (wish,) = reply.tool_calls()
        assert isinstance(wish.arguments, str)
        answer = {"role": "user", "content": [tool_result(wish, "cut off", is_error=True)]}
        said = {"role": "assistant", "content": list(reply.content)}
        asked.model.complete(request(messages=(*request().messages, said, answer)))
        sent = server.requests[1].body["messages"][1]["content"][1]
    assert reply.stop_reason == "max_tokens"
    assert sent["input"] == {"INVALID_JSON": wish.arguments}


def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        url = f"http://127.0.0.1:{reserved.getsockname()[1]}"
    with Asked(url) as asked, pytest.raises(ModelUnavailable) as caught:
        asked.ask()
    assert f"can't reach {url}" in caught.value.message
    assert "--base-url" in caught.value.hint
    assert asked.waits == [1, 2, 4, 8, 16]


@pytest.mark.parametrize("url", ["not a url", "ftp://127.0.0.1/", "http://[::1", "http://a:b/"])
def test_an_unusable_base_url(url):
    with Asked(url, api_key="k") as asked, pytest.raises(ModelRejected):
        asked.ask()
    assert asked.waits == []


def test_a_base_url_with_v1_is_explained():
    with (
        serve() as server,
        Asked(server.url + "/v1") as asked,
        pytest.raises(ModelRejected, match="without /v1"),
    ):
        asked.ask()


def test_a_far_server_without_a_key():
    with Asked("https://far.invalid") as asked, pytest.raises(ModelRejected) as caught:
        asked.ask()
    assert "no key for https://far.invalid" in caught.value.message
    assert "foundry demo" in caught.value.hint


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-ä", "sk a"])
def test_a_key_that_cannot_be_sent(key):
    with (
        serve() as server,
        Asked(server.url, api_key=key) as asked,
        pytest.raises(ModelRejected, match="line break") as caught,
    ):
        asked.ask()
    assert key not in str(caught.value)


class Wire:
    """A server that sends the same bytes to every request and notes what it sees.

    It answers what no rehearsal says, and sees what no script can: keys and connections.
    """

    def __init__(self, reply):
        self.reply = reply
        self.requests, self.connections = [], 0
        self.left = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc):
        if self._thread.is_alive():
            socket.create_connection(self._socket.getsockname()).close()
        self._thread.join()
        self._socket.close()

    def _serve(self):
        """One connection after the other, until one says nothing."""
        while True:
            connection, _ = self._socket.accept()
            with connection, connection.makefile("rb") as stream:
                if not self._answer(connection, stream):
                    return
                self.connections += 1
                while self._answer(connection, stream):
                    pass
                self.left.set()

    def _answer(self, connection, stream):
        head = {}
        for line in iter(stream.readline, b"\r\n"):
            if not line:
                return False
            name, _, value = line.decode().partition(":")
            head[name.strip().lower()] = value.strip()
        stream.read(int(head.get("content-length", 0)))
        self.requests.append(head)
        connection.sendall(self.reply)
        return True


def events(*items):
    return b"".join(
        f"event: {item['type']}\ndata: {json.dumps(item)}\n\n".encode() for item in items
    )


START = {"type": "message_start", "message": {"id": "m", "model": "x", "usage": {}}}
OPEN = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
HELLO = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}
END = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}}
OK = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
WHOLE = events(START, OPEN, HELLO, {"type": "ping"}, END, {"type": "message_stop"})
REPLY = OK + b"content-length: %d\r\n\r\n" % len(WHOLE) + WHOLE
ENDLESS = OK + b"transfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (len(WHOLE[:-60]), WHOLE[:-60])


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, ConnectionError])
def test_what_a_listener_raises_passes_through_and_closes_the_stream(error):
    def stop(text):
        raise error

    with Wire(ENDLESS) as wire, Asked(wire.url) as asked:
        with pytest.raises(error):
            asked.ask(on_text=stop)
        assert wire.left.wait(30)  # before the client itself is closed
        assert len(wire.requests) == 1
    assert asked.notices == []


def test_one_connection_serves_many_requests():
    with Wire(REPLY) as wire, Asked(wire.url) as asked:
        for _ in range(3):
            assert asked.ask().text == "Hi"
        asked.model.close()
    assert (wire.connections, len(wire.requests)) == (1, 3)


def test_a_closed_model_can_be_used_again():
    with serve() as server, Asked(server.url) as asked:
        for _ in range(2):
            assert asked.ask().text == "I write it."
            asked.model.close()
            asked.model.close()


def test_threads_share_a_model():
    with serve() as server, Asked(server.url) as asked:
        replies = []
        threads = [
            threading.Thread(target=lambda: replies.append(asked.model.complete(request())))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [reply.text for reply in replies] == ["I write it."] * 8


@pytest.mark.parametrize(
    ("given", "environment", "sent"),
    [
        ("mine", {"API_KEY": "env"}, "Bearer mine"),
        (None, {"API_KEY": "env"}, "Bearer env"),
        (None, {"AUTH_TOKEN": "token"}, "Bearer token"),
        (None, {}, "Bearer no-key"),
        ("", {}, "Bearer no-key"),
    ],
)
def test_where_the_key_comes_from(monkeypatch, given, environment, sent):
    for name, value in environment.items():
        monkeypatch.setenv(f"ANTHROPIC_{name}", value)
    with Wire(REPLY) as wire, Asked(wire.url, api_key=given) as asked:
        asked.ask()
        asked.model.close()
    assert wire.requests[0]["authorization"] == sent


def test_the_base_url_comes_from_the_environment_too(monkeypatch):
    with Wire(REPLY) as wire:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
        with Asked(None) as asked:
            assert asked.ask().text == "Hi"


def test_a_proxy_never_stands_before_loopback(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with serve() as server, Asked(server.url) as asked:
        assert asked.ask().text == "I write it."


def raw(status, body, kind="text/html"):
    head = f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (raw(502, b"<title>502 Bad Gateway</title>"), ModelUnavailable, "'502 Bad Gateway'"),
        (raw(500, b'{"error": "plain words"}'), ModelUnavailable, "plain words"),
        (raw(400, b"[1, 2]"), ModelRejected, "answered 400: [1, 2]"),
        (raw(400, b'{"error": {"type": 5, "message": null}}'), ModelRejected, "400"),
        (raw(401, b""), ModelRejected, "ANTHROPIC_API_KEY"),
        (raw(200, b"{}", "application/json"), ModelUnavailable, "application/json"),
        (raw(200, b"", ""), ModelUnavailable, "but nothing"),
        (raw(204, b"", ""), ModelUnavailable, "nothing"),
        (raw(200, b"event: message_start\ndata: 5\n\n"), ModelUnavailable, "garbled"),
        (raw(200, b"event: message_start\ndata: \xff\n\n"), ModelUnavailable, "garbled"),
        (raw(200, events(START, HELLO, END)), ModelUnavailable, "garbled"),
        (raw(200, b"event: error\ndata: words\n\n"), ModelUnavailable, "words"),
        (b"SSH-2.0-OpenSSH_9.9\r\n\r\n", ModelUnavailable, "can't reach"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nabcd",
            ModelUnavailable,
            "connection broke",
        ),
        (
            b"HTTP/1.1 307 X\r\nlocation: /v1/messages\r\ncontent-length: 0\r\n\r\n",
            ModelUnavailable,
            "redirect",
        ),
    ],
)
def test_strange_servers(reply, error, words):
    with Wire(reply) as wire, Asked(wire.url, retry=RetryPolicy(attempts=2)) as asked:
        with pytest.raises(error) as caught:
            asked.ask()
        asked.model.close()
    assert words in str(caught.value)


CUTS = {
    "the connection": faults.cut(after=4, times=2),
    "the stream": faults.early_end(times=2),
}


@pytest.mark.parametrize("fault", CUTS.values(), ids=CUTS)
def test_what_was_cut_is_billed_with_the_reply(fault):
    usage = Usage(input_tokens=3, output_tokens=5, cache_read_tokens=7, cache_write_tokens=11)
    with serve(fault, usage=usage) as server, Asked(server.url) as asked:
        reply = asked.ask()
    assert reply.usage.input_tokens == 3 * usage.input_tokens
    assert reply.usage.cache_read_tokens == 3 * usage.cache_read_tokens
    assert reply.usage.cache_write_tokens == 3 * usage.cache_write_tokens
    assert reply.context == usage  # how full the window is, the last attempt alone tells


def test_what_was_cut_is_billed_with_the_error():
    usage = Usage(input_tokens=3, cache_read_tokens=7)
    fault = faults.cut(after=4, times=-1)
    retry = RetryPolicy(attempts=2, jitter=0)
    with (
        serve(fault, usage=usage) as server,
        Asked(server.url, retry=retry) as asked,
        pytest.raises(ModelUnavailable) as caught,
    ):
        asked.ask()
    billed = Usage(**caught.value.billed)
    assert (billed.input_tokens, billed.cache_read_tokens) == (6, 14)


def test_what_was_never_answered_is_not_billed():
    with serve(faults.status(529)) as server, Asked(server.url) as asked:
        reply = asked.ask()
    assert (reply.usage, reply.last_usage) == (server.billed, None)


def test_a_deprecated_model_is_used_without_a_word():
    with serve() as server, Asked(server.url, name="claude-sonnet-4-5") as asked:
        assert asked.ask().text == "I write it."  # a warning would be an error here


def test_sizes():
    plain = AnthropicModel("claude-opus-5-5")
    assert (plain.window, plain.max_output) == (1_000_000, 32_000)
    unknown = AnthropicModel("qwen3-coder", base_url="http://127.0.0.1:1")
    assert (unknown.window, unknown.max_output) == (200_000, 8_192)
    assert unknown.cost(Usage(input_tokens=1)) is None
    given = AnthropicModel("claude-opus-5-5", window=32_000, max_output=1_000)
    assert (given.window, given.max_output) == (32_000, 1_000)


def test_warming_up_changes_nothing():
    with serve() as server, Asked(server.url) as asked:
        asked.model.warm()
        assert asked.ask().text == "I write it."
