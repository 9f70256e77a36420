"""The rehearsal model, asked by the real SDK over a real socket: replies and the server's life."""

import socket
import threading
from collections.abc import Callable
from typing import Any

import anthropic
import pytest
from rehearsal_stage import (
    ASK,
    CALL,
    REPLY,
    WORDS,
    Stage,
    request,
    streamed,
)

from foundry.model.rehearsal.script import Turn, say, turn
from foundry.model.rehearsal.server import RehearsalServer
from foundry.schema.messages import Usage


@ASK
def test_a_turn_arrives_as_it_was_scripted(stage: Stage, ask: Callable[..., Any]) -> None:
    message = ask(stage.play(lambda _: REPLY))
    text, tool = message.content
    assert (text.type, text.text) == ("text", WORDS)
    assert (tool.type, tool.name, tool.input) == ("tool_use", "write_file", CALL["input"])
    assert message.stop_reason == "tool_use"
    assert message.model == "claude-opus-5-5"
    assert tool.id.startswith("toolu_")


def test_text_is_heard_in_pieces(stage: Stage) -> None:
    client = stage.play(lambda _: turn(say("ab" * 2000)))
    with client.messages.stream(**request()) as stream:
        pieces = list(stream.text_stream)
    assert len(pieces) > 1
    assert "".join(pieces) == "ab" * 2000


def test_thinking_and_unknown_blocks_pass_through(stage: Stage) -> None:
    thought = {"type": "thinking", "thinking": "Hm, hm.", "signature": "s1gn"}
    message = streamed(stage.play(lambda _: turn(thought, say("Done."))))
    assert message.content[0].model_dump() == thought
    assert message.stop_reason == "end_turn"


def test_ids_are_the_same_from_a_new_server(stage: Stage) -> None:
    first, second = (streamed(stage.play(lambda _: REPLY)) for _ in range(2))
    assert first.id == second.id
    assert first.content[1].id == second.content[1].id
    other = streamed(stage.play(lambda _: REPLY), **request("something else"))
    assert other.content[1].id != first.content[1].id


def test_scripted_usage_and_stop_reason_replace_the_derived_ones(stage: Stage) -> None:
    scripted = Turn((say("x"),), stop_reason="pause_turn", usage=Usage(input_tokens=150_000))
    message = streamed(stage.play(lambda _: scripted))
    assert message.stop_reason == "pause_turn"
    assert message.usage.input_tokens == 150_000


def test_the_model_can_be_looked_up(stage: Stage) -> None:
    model = stage.play(lambda _: REPLY, window=123_000).models.retrieve("claude-x")
    assert (model.id, model.max_input_tokens) == ("claude-x", 123_000)


def test_unknown_paths_are_not_found(stage: Stage) -> None:
    with pytest.raises(anthropic.NotFoundError):
        stage.play(lambda _: REPLY).models.list()


def test_a_stopped_server_refuses_and_comes_back_on_its_port(stage: Stage) -> None:
    server = stage.serve(lambda _: REPLY)
    client = stage.client(server)
    streamed(client)
    url = server.url
    server.stop()
    with pytest.raises(anthropic.APIConnectionError):
        streamed(client)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port))
    server.start()
    assert server.url == url
    assert streamed(client).stop_reason == "tool_use"


def test_nothing_is_left_behind() -> None:
    before = set(threading.enumerate())
    with (
        RehearsalServer(lambda _: REPLY) as server,
        anthropic.Anthropic(api_key="any", base_url=server.url) as client,
    ):
        streamed(client)
        assert set(threading.enumerate()) - before
    assert set(threading.enumerate()) == before


def test_requests_are_recorded_without_credentials(stage: Stage) -> None:
    server = stage.serve(lambda _: REPLY)
    streamed(stage.client(server, api_key="top-secret"), **request("what is it?"))
    (recorded,) = server.requests
    assert recorded.path == "/v1/messages"
    assert recorded.body["messages"] == [{"role": "user", "content": "what is it?"}]
    assert "anthropic-version" in recorded.headers
    assert "top-secret" not in repr(recorded)


@pytest.mark.parametrize(("keep", "kept"), [(0, []), (2, ["two", "three"])])
def test_records_are_bounded(stage: Stage, keep: int, kept: list[str]) -> None:
    server = stage.serve(lambda _: REPLY, keep=keep)
    client = stage.client(server)
    for text in ("one", "two", "three"):
        streamed(client, **request(text))
    assert [r.body["messages"][0]["content"] for r in server.requests] == kept
    assert server.wait_for(3)
    assert not server.wait_for(4, timeout=0)


def test_many_clients_at_once(stage: Stage) -> None:
    server = stage.serve(lambda body: turn(say(body["messages"][0]["content"])))
    client = stage.client(server)
    heard: dict[int, str] = {}

    def ask(number: int) -> None:
        heard[number] = streamed(client, **request(f"caller {number}")).content[0].text

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == {number: f"caller {number}" for number in range(20)}
    assert server.billed.output_tokens == sum(
        streamed(client, **request(text)).usage.output_tokens for text in heard.values()
    )


def test_a_client_that_asks_for_it_is_hung_up_on(stage: Stage) -> None:
    server = stage.serve(lambda _: REPLY)
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(
            b"GET /v1/models/x HTTP/1.1\r\nX-Api-Key: k\r\nConnection: close\r\n\r\n"
        )
        reply = b"".join(iter(lambda: connection.recv(65536), b""))
    assert reply.startswith(b"HTTP/1.1 200 OK\r\n")
