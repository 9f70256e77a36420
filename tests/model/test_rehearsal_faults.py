"""Every fault of the rehearsal, as the real SDK shows it."""

import json
from collections.abc import Callable
from typing import Any

import anthropic
import httpx2
import pytest
from rehearsal_stage import (
    ASK,
    CALL,
    REPLY,
    WORDS,
    Stage,
    created,
    request,
    streamed,
    struck,
)

from foundry.model.rehearsal import faults
from foundry.model.rehearsal.faults import Fault


@ASK
@pytest.mark.parametrize(
    ("code", "error", "type"),
    [
        (400, anthropic.BadRequestError, "invalid_request_error"),
        (401, anthropic.AuthenticationError, "authentication_error"),
        (404, anthropic.NotFoundError, "not_found_error"),
        (413, anthropic.RequestTooLargeError, "request_too_large"),
        (429, anthropic.RateLimitError, "rate_limit_error"),
        (500, anthropic.InternalServerError, "api_error"),
        (529, anthropic.OverloadedError, "overloaded_error"),
    ],
)
def test_a_status_comes_as_its_error_and_passes(
    stage: Stage,
    ask: Callable[..., Any],
    code: int,
    error: type[anthropic.APIStatusError],
    type: str,
) -> None:
    client = stage.play(struck(faults.status(code, times=2)))
    for _ in range(2):
        with pytest.raises(error) as caught:
            ask(client)
        assert (caught.value.status_code, caught.value.type) == (code, type)
    assert ask(client).stop_reason == "tool_use"


@pytest.mark.parametrize("value", ["2", "7200", "soon", "-1", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_retry_after_is_sent_as_it_is(stage: Stage, value: str) -> None:
    with pytest.raises(anthropic.RateLimitError) as caught:
        streamed(stage.play(struck(faults.status(429, retry_after=value))))
    assert caught.value.response.headers["retry-after"] == value


def test_should_retry_steers_the_sdk(stage: Stage) -> None:
    server = stage.serve(struck(faults.status(500, should_retry=False)))
    with pytest.raises(anthropic.InternalServerError):
        streamed(stage.client(server, max_retries=2))
    assert len(server.requests) == 1


def test_the_sdk_retries_a_passing_fault(stage: Stage) -> None:
    server = stage.serve(struck(faults.status(529, retry_after=0.01)))
    assert streamed(stage.client(server, max_retries=2)).stop_reason == "tool_use"
    assert len(server.requests) == 2


def test_overflow_says_what_the_api_says(stage: Stage) -> None:
    with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
        streamed(stage.play(struck(faults.overflow())))


def test_a_prompt_beyond_the_window_is_refused(stage: Stage) -> None:
    client = stage.play(lambda _: REPLY, window=1000)
    assert streamed(client).stop_reason == "tool_use"
    with pytest.raises(anthropic.BadRequestError, match=r"prompt is too long: \d+ tokens > 1000"):
        streamed(client, **request("word " * 1000))


@ASK
@pytest.mark.parametrize("fault", [faults.drop(), faults.reset(after=None)])
def test_a_connection_lost_before_the_headers(
    stage: Stage, ask: Callable[..., Any], fault: Fault
) -> None:
    client = stage.play(struck(fault))
    with pytest.raises(anthropic.APIConnectionError):
        ask(client)
    assert ask(client).stop_reason == "tool_use"


def test_a_connection_closed_in_mid_stream(stage: Stage) -> None:
    client = stage.play(struck(faults.cut(after=4)))
    heard = ""
    with (
        pytest.raises(httpx2.RemoteProtocolError),
        client.messages.stream(**request()) as stream,
    ):
        for text in stream.text_stream:
            heard += text
    assert heard == WORDS
    assert streamed(client).stop_reason == "tool_use"


def test_a_connection_reset_in_mid_stream(stage: Stage) -> None:
    """Some systems drop what was received before the RST: then it was lost before the headers."""
    client = stage.play(struck(faults.reset(after=4)))
    with pytest.raises((httpx2.ReadError, anthropic.APIConnectionError)):
        streamed(client)
    assert streamed(client).stop_reason == "tool_use"


def test_a_body_cut_in_half_when_not_streaming(stage: Stage) -> None:
    with pytest.raises(anthropic.APIConnectionError):
        created(stage.play(struck(faults.cut())))


def test_an_early_end_raises_nothing_and_has_no_stop_reason(stage: Stage) -> None:
    whole = streamed(stage.play(lambda _: REPLY))
    cut_call = 8  # message_start, four events of text, the call's start and two of its deltas
    message = streamed(stage.play(struck(faults.early_end(after=cut_call))))
    assert message.stop_reason is None
    assert message.content[0].text == WORDS
    assert message.content[1].input == {"path": "a.py"}
    assert message.content[1].input != whole.content[1].input


def test_an_end_before_message_start(stage: Stage) -> None:
    with pytest.raises(AssertionError):
        streamed(stage.play(struck(faults.early_end(after=0))))


@pytest.mark.parametrize(
    ("after", "error"), [(None, anthropic.APITimeoutError), (2, httpx2.ReadTimeout)]
)
def test_a_stall_lasts_until_the_client_leaves(
    stage: Stage, after: int | None, error: type[Exception]
) -> None:
    client = stage.play(struck(faults.stall(after=after)))
    with pytest.raises(error):
        streamed(client.with_options(timeout=0.5))
    assert streamed(client).stop_reason == "tool_use"


def test_a_stall_ends_when_the_server_stops(stage: Stage) -> None:
    server = stage.serve(struck(faults.stall(times=-1)))
    with (
        pytest.raises(httpx2.RemoteProtocolError),
        stage.client(server).messages.stream(**request()) as stream,
    ):
        assert next(stream).type == "message_start"
        server.stop()
        stream.until_done()


@pytest.mark.parametrize("type", ["overloaded_error", "api_error"])
def test_an_error_event_is_a_status_error_with_status_200(stage: Stage, type: str) -> None:
    client = stage.play(struck(faults.error_event(type)))
    with pytest.raises(anthropic.APIStatusError) as caught:
        streamed(client)
    assert (caught.value.status_code, caught.value.type) == (200, type)
    assert streamed(client).stop_reason == "tool_use"


def test_an_error_event_is_a_plain_error_when_not_streaming(stage: Stage) -> None:
    with pytest.raises(anthropic.OverloadedError):
        created(stage.play(struck(faults.error_event())))


def test_garbage_in_an_event(stage: Stage) -> None:
    with pytest.raises(json.JSONDecodeError):
        streamed(stage.play(struck(faults.garbage_event())))


def test_a_garbage_body(stage: Stage) -> None:
    client = stage.play(struck(faults.garbage_body(times=2)))
    with pytest.raises(AssertionError):
        streamed(client)
    assert "<html>" in created(client)


@ASK
def test_an_empty_reply(stage: Stage, ask: Callable[..., Any]) -> None:
    message = ask(stage.play(struck(faults.empty())))
    assert (message.content, message.stop_reason) == ([], "end_turn")


@ASK
def test_a_call_cut_at_max_tokens_looks_plausible(stage: Stage, ask: Callable[..., Any]) -> None:
    client = stage.play(struck(faults.truncate()))
    message = ask(client)
    assert message.stop_reason == "max_tokens"
    assert message.content[1].name == "write_file"
    assert "content" not in message.content[1].input
    assert set(message.content[1].to_dict()) == {"type", "id", "name", "input"}
    assert ask(client).content[1].input == CALL["input"]


@ASK
@pytest.mark.parametrize("reason", ["refusal", "a_reason_of_tomorrow"])
def test_other_stop_reasons(stage: Stage, ask: Callable[..., Any], reason: str) -> None:
    assert ask(stage.play(struck(faults.stop(reason)))).stop_reason == reason


def test_strikes_count_per_turn(stage: Stage) -> None:
    client = stage.play(struck(faults.status(500)))
    for text in ("one", "two"):
        with pytest.raises(anthropic.InternalServerError):
            streamed(client, **request(text))
        assert streamed(client, **request(text)).stop_reason == "tool_use"
