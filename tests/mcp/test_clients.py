"""The SDK's own client walks, over stdio and HTTP, through restarts, kills and company."""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from mcp.shared.exceptions import MCPError

from foundry.mcp import token
from tests.support.builds import environment_of
from tests.support.mcp_clients import (  # fmt: skip
    CONTEXT,
    PATCHES,
    STEPS,
    TOUR,
    Call,
    ids,
    over_http,
    over_stdio,
    put,
    served,
    walk,
)

MODES = ("legacy", "2026-07-28")
"""The handshake of the protocol until 2025-11-25, and requests that stand for themselves since."""

PLACES = ["begin", "each-thing[1]/clean", "each-thing[2]/clean", "each-thing[2]/mend",
          "each-thing[3]/clean", "each-thing[3]/mend", "knock[1]/once", "knock[2]/once",
          "wait[1]/listen", "wait[2]/listen", "try[1]/push", "end"]  # fmt: skip
"""STEPS as a session names them."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a home that has the tour."""
    env = environment_of(tmp_path_factory.mktemp("clients"))
    put(TOUR, env["FOUNDRY_HOME"])
    return env


@pytest.fixture(scope="module")
def url(shared: dict[str, str]) -> Iterator[str]:
    """A server over HTTP, for those tests that do not end it."""
    with served(shared) as (url, _):
        yield url


@pytest.fixture(autouse=True)
def home(shared: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test starts itself has the same home."""
    for name, value in shared.items():
        monkeypatch.setenv(name, value)


def begun(call: Call) -> dict[str, Any]:
    return call("workflow_next", workflowId="tour", context=CONTEXT)


def recorded(reply: dict[str, Any]) -> list[str]:
    """The steps of a reply's session that stand on the disk."""
    name = token.read(reply["token"]).session
    path = Path(os.environ["FOUNDRY_HOME"]) / "mcp" / "sessions" / f"{name}.jsonl"
    return [json.loads(line)["step"] for line in path.read_text().splitlines()[1:]]


@pytest.mark.parametrize("mode", MODES)
def test_a_walk_over_stdio(mode: str) -> None:
    with over_stdio(mode) as call:
        replies = walk(call, begun(call))
    assert ids(replies) == STEPS
    assert replies[-1]["isComplete"]


@pytest.mark.parametrize("mode", MODES)
def test_a_walk_over_http(url: str, mode: str) -> None:
    with over_http(url, mode) as call:
        replies = walk(call, begun(call))
    assert ids(replies) == STEPS
    assert replies[-1]["isComplete"]


def test_a_walk_goes_on_in_another_process_of_another_kind(url: str) -> None:
    with over_stdio() as call:
        replies = walk(call, begun(call), until=4)
    with over_http(url) as call:
        assert call("workflow_next", token=replies[3]["token"]) == replies[4]
        replies += walk(call, replies[-1], done=4, until=8)[1:]
    with over_stdio() as call:
        replies += walk(call, replies[-1], done=8)[1:]
    assert ids(replies) == STEPS


def test_a_client_over_http_does_not_notice_a_restart() -> None:
    with served() as (url, first), over_http(url) as call:
        replies = walk(call, begun(call), until=3)
        first.kill()
        first.wait()
        with served(port=urlsplit(url).port or 0) as (again, _):
            assert again == url
            replies += walk(call, replies[-1], done=3)[1:]
    assert ids(replies) == STEPS


def test_no_told_step_is_lost_by_a_kill() -> None:
    """Servers are killed with a reply; whatever was told to the client is on the disk."""
    replies: list[dict[str, Any]] = []
    for until in (0, 4, len(STEPS)):
        with over_stdio() as call:
            done = len(replies) - 1
            replies = replies or [begun(call)]
            replies += walk(call, replies[-1], done=max(done, 0), until=until)[1:]
            (server,) = (
                each
                for each in psutil.Process().children()
                if each.status() != psutil.STATUS_ZOMBIE and each.cmdline()[-1] == "mcp"
            )
            server.kill()
        assert recorded(replies[0]) == PLACES[:until]
    assert ids(replies) == STEPS
    assert replies[-1]["isComplete"]


def test_two_clients_with_one_token_go_the_same_way(url: str) -> None:
    with over_http(url) as one, over_stdio() as two:
        replies = [begun(one)]
        while replies[-1]["step"]:
            context = PATCHES.get(len(replies) - 1, {})
            told = one("workflow_next", token=replies[-1]["token"], context=context)
            assert two("workflow_next", token=replies[-1]["token"], context=context) == told
            replies.append(told)
        assert ids(replies) == STEPS
        late = two("workflow_next", token=replies[4]["token"], context={"else": 1})
        assert late["error"]["code"] == "token-used"
        assert two("workflow_next", token=late["error"]["token"]) == replies[-1]


def test_concurrent_calls_with_one_token_complete_its_step_once(url: str) -> None:
    with ExitStack() as stack:
        calls = [stack.enter_context(over_http(url)) for _ in range(4)]
        calls.append(stack.enter_context(over_stdio()))
        first = begun(calls[0])
        with ThreadPoolExecutor(20) as pool:
            told = list(
                pool.map(lambda n: calls[n % 5]("workflow_next", token=first["token"]), range(20))
            )
            assert told == [told[0]] * 20
            assert recorded(first) == ["begin"]
            mixed = list(
                pool.map(
                    lambda n: calls[n % 5](
                        "workflow_next", token=told[0]["token"], context={"who": n}
                    ),
                    range(20),
                )
            )
    won = [reply for reply in mixed if "error" not in reply]
    lost = [reply["error"] for reply in mixed if "error" in reply]
    assert len(won) == 1
    assert {error["code"] for error in lost} == {"token-used"}
    assert {error["token"] for error in lost} == {won[0]["token"]}
    assert recorded(first) == ["begin", "each-thing[1]/clean"]


def test_tools_say_what_they_take_and_give(url: str) -> None:
    """The SDK's client checks every reply against the tool's own schema (see `connected`)."""
    with over_http(url) as call:
        client, portal = call.client, call.portal  # type: ignore[attr-defined]
        tools = {tool.name: tool for tool in portal.call(client.list_tools).tools}
        assert set(tools) == {
            *("workflow_list", "workflow_get", "workflow_next", "workflow_validate"),
            *("workflow_validate_json", "workflow_get_schema", "build_status"),
            *("memory_search", "memory_get"),
        }
        for name, tool in tools.items():
            assert tool.description
            assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
            assert tool.input_schema["additionalProperties"] is False
            assert tool.annotations.read_only_hint is (name != "workflow_next")
            assert tool.annotations.destructive_hint is False
        properties = tools["workflow_next"].input_schema["properties"]
        assert set(properties) == {"workflowId", "completedSteps", "context", "token", "rehydrate"}
        assert (
            tools["workflow_validate"].input_schema["properties"]["output"]["maxLength"] == 10_000
        )
        assert call("workflow_list")["workflows"]
        assert call("workflow_get", id="tour")["firstStep"]
        assert call("workflow_validate", workflowId="tour", stepId="end", output="x")["valid"]
        assert call("workflow_validate_json", workflowJson=TOUR)["valid"]
        assert call("workflow_get_schema")["schema"]
        assert call("build_status")["error"]["hint"]
        assert call("memory_search", query="x")["error"]["hint"]
        with pytest.raises(MCPError) as refused:  # an error of the protocol, not of a tool
            portal.call(client.call_tool, "no_such_tool", {})
        assert refused.value.error.code == -32602
        assert "workflow_next" in refused.value.error.data["error"]["hint"]
