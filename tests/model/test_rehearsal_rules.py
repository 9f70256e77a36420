"""What the rehearsal refuses as the API does."""

from typing import Any

import anthropic
import httpx2
import pytest
from rehearsal_stage import EPHEMERAL, REPLY, Stage, created, request

from foundry.schema.messages import Usage

USE = {"type": "tool_use", "id": "t1", "name": "x", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
TEXT = {"type": "text", "text": "and"}
BREAK = {"type": "text", "text": "x", "cache_control": EPHEMERAL}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (request(messages=[]), "at least one message"),
        (request(messages=[{"role": "assistant", "content": "x"}]), "must use the .*user"),
        (request(messages=[{"role": "user", "content": "x"}] * 2), "roles must alternate"),
        (request("a", "b"), "must end with a user message"),
        (request(""), "non-empty"),
        (request([]), "non-empty content"),
        (request([{"type": "text", "text": " \n"}]), "non-empty"),
        (request("a", [USE], "b"), "without `tool_result` blocks"),
        (request("a", [USE], [TEXT, RESULT]), "must come first"),
        (request("a", [USE], [RESULT, RESULT]), "a single result"),
        (request("a", "b", [RESULT]), "unexpected `tool_use_id`"),
        (request("a", [USE], [{**RESULT, "content": [{"type": "text", "text": ""}]}]), "non-empty"),
        (request(5), "valid list of content blocks"),
        (request(max_tokens=0), "max_tokens"),
        (request([BREAK] * 5), "maximum of 4 blocks with cache_control may be provided. Found 5"),
        (request([BREAK] * 4 + [TEXT], cache_control=EPHEMERAL), "Found 5"),
        (request(tools=[{"name": "x", "input_schema": {"type": "object"}}] * 2), "unique"),
        (request(system=[{"type": "text", "text": ""}]), "system: text"),
        (request(extra_body={"thread": {"id": "t"}}), "thread: Extra inputs are not permitted"),
    ],
)
def test_requests_that_the_api_refuses(stage: Stage, body: dict[str, Any], problem: str) -> None:
    server = stage.serve(lambda _: REPLY)
    with pytest.raises(anthropic.BadRequestError, match=problem) as caught:
        stage.client(server).messages.create(**body)
    assert caught.value.type == "invalid_request_error"
    assert server.billed == Usage()


@pytest.mark.parametrize(
    "body",
    [
        request("a", [TEXT, USE], [RESULT, TEXT]),
        request("a", [USE, {**USE, "id": "t2"}], [{**RESULT, "tool_use_id": "t2"}, RESULT]),
        request("a", [USE], [{"type": "tool_result", "tool_use_id": "t1"}]),
        request([BREAK] * 4, cache_control=None),
        request(messages=[{"role": "user", "content": "x"}, {"role": "system", "content": "y"}]),
        request(system="", extra_body={"temperature": 1}),
    ],
)
def test_requests_that_the_api_takes(stage: Stage, body: dict[str, Any]) -> None:
    assert created(stage.play(lambda _: REPLY), **body).stop_reason == "tool_use"


def test_max_tokens_is_required(stage: Stage) -> None:
    server = stage.serve(lambda _: REPLY)
    body = {k: v for k, v in request().items() if k != "max_tokens"}
    with pytest.raises(anthropic.BadRequestError, match="max_tokens: Field required"):
        stage.client(server).post("/v1/messages", body=body, cast_to=object)


def test_a_key_is_required_in_either_header(stage: Stage) -> None:
    server = stage.serve(lambda _: REPLY)
    with httpx2.Client(base_url=server.url) as http:
        refused = http.post("/v1/messages", json=request())
        taken = http.post("/v1/messages", json=request(), headers={"x-api-key": "k"})
        empty = http.post("/v1/messages", json=request(), headers={"x-api-key": ""})
    assert [reply.status_code for reply in (refused, taken, empty)] == [401, 200, 401]
    assert refused.json()["error"]["type"] == "authentication_error"


@pytest.mark.parametrize(
    ("raw", "problem"),
    [(b"{", "not valid JSON"), (b"\xff\xfe", "not valid JSON"), (b"[]", "not a JSON object")],
)
def test_a_body_that_is_no_json_object(stage: Stage, raw: bytes, problem: str) -> None:
    server = stage.serve(lambda _: REPLY)
    with httpx2.Client(base_url=server.url, headers={"x-api-key": "k"}) as http:
        reply = http.post("/v1/messages", content=raw)
    assert reply.status_code == 400
    assert problem in reply.json()["error"]["message"]
