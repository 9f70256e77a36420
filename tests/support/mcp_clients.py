"""Workflows to walk, a home that holds them, and clients that walk: in this process or outside."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from foundry.mcp.server import make_server

ROOT = Path(__file__).parent.parent.parent
COMMAND = (sys.executable, "-m", "foundry", "mcp")

TOUR: dict[str, Any] = {
    "id": "tour",
    "name": "Tour",
    "description": "One of everything: plain steps, and loops of all four kinds.",
    "version": "1.0.0",
    "preconditions": ["a table"],
    "clarificationPrompts": ["How large a table?"],
    "metaGuidance": ["Work slowly."],
    "functionDefinitions": [{"name": "polish", "definition": "Rub it until it shines."}],
    "steps": [
        {
            "id": "begin",
            "title": "Begin",
            "prompt": "List the things, at least {{least}}.",
            "requireConfirmation": True,
            "validationCriteria": [
                {"type": "contains", "value": "thing", "message": "names a thing"},
                {
                    "type": "length",
                    "min": 10,
                    "message": "is long enough",
                    "condition": {"var": "strict", "equals": True},
                },
            ],
        },
        {
            "id": "each-thing",
            "type": "loop",
            "title": "Each thing",
            "loop": {
                "type": "forEach",
                "items": "things",
                "itemVar": "thing",
                "indexVar": "place",
                "maxIterations": 10,
            },
            "body": [
                {
                    "id": "clean",
                    "title": "Clean {{thing}}",
                    "prompt": "Clean the {{thing}}, then polish() it.\n" + "Take your time. " * 40,
                    "functionReferences": ["polish()"],
                },
                {
                    "id": "mend",
                    "title": "Mend",
                    "prompt": "Mend the {{thing}}.",
                    "runCondition": {"var": "broken", "equals": True},
                },
            ],
        },
        {
            "id": "knock",
            "type": "loop",
            "title": "Knock",
            "loop": {"type": "for", "count": "knocks", "maxIterations": 10},
            "body": [{"id": "once", "title": "Once", "prompt": "Knock."}],
        },
        {
            "id": "wait",
            "type": "loop",
            "title": "Wait",
            "loop": {
                "type": "while",
                "condition": {"var": "closed", "equals": True},
                "maxIterations": 2,
            },
            "body": [{"id": "listen", "title": "Listen", "prompt": "Listen."}],
        },
        {
            "id": "try",
            "type": "loop",
            "title": "Try",
            "loop": {
                "type": "until",
                "condition": {"var": "open", "equals": True},
                "maxIterations": 5,
            },
            "body": [{"id": "push", "title": "Push", "prompt": "Push."}],
        },
        {"id": "end", "title": "End", "prompt": "Tell what you found."},
    ],
}

CONTEXT = {"least": 2, "things": ["cup", "plate", "spoon"], "knocks": 2, "closed": True}
"""What a walk begins with."""

PATCHES: Mapping[int, dict[str, Any]] = {2: {"broken": True}, 10: {"open": True}}
"""The variables that change with the completion of a step, by its number from 0."""

STEPS = ["begin", "clean", "clean", "mend", "clean", "mend", "once", "once", "listen", "listen",
         "push", "end"]  # fmt: skip
"""What such a walk goes through."""

Call = Callable[..., dict[str, Any]]
"""`call(tool, **arguments)` gives the structured reply."""


def put(document: Mapping[str, Any], home: str = "") -> Path:
    """Make a workflow one of the user's own."""
    folder = Path(home or os.environ["FOUNDRY_HOME"]) / "workflows"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{document['id']}.json"
    path.write_text(json.dumps(document))
    return path


def walk(call: Call, reply: dict[str, Any], done: int = 0, until: int = 99) -> list[dict[str, Any]]:
    """Go on until a walk is complete, or has completed so many steps; all replies."""
    replies = [reply]
    while replies[-1]["step"] and done < until:
        context = PATCHES.get(done, {})
        replies.append(call("workflow_next", token=replies[-1]["token"], context=context))
        done += 1
    return replies


def ids(replies: list[dict[str, Any]]) -> list[str]:
    return [reply["step"]["id"] for reply in replies if reply["step"]]


@contextmanager
def over_stdio(mode: str = "legacy") -> Iterator[Call]:
    """A process `foundry mcp`, and the SDK's own client at its other end."""
    server = StdioServerParameters(command=COMMAND[0], args=list(COMMAND[1:]), env=dict(os.environ))
    with connected(partial(stdio_client, server), mode) as call:
        yield call


@contextmanager
def over_http(url: str, mode: str = "legacy") -> Iterator[Call]:
    """The SDK's own client of a server that is there."""
    with connected(lambda: url, mode) as call:
        yield call


@contextmanager
def connected(target: Callable[[], Any], mode: str) -> Iterator[Call]:
    async def make() -> Client:
        return Client(target(), mode=mode)

    with start_blocking_portal() as portal:
        client = portal.call(make)
        with portal.wrap_async_context_manager(client):

            def call(name: str, /, **arguments: Any) -> dict[str, Any]:
                result = portal.call(partial(client.call_tool, name, arguments))
                told: dict[str, Any] = result.structured_content
                assert json.loads(result.content[0].text) == told
                assert result.is_error == ("error" in told)
                return told

            call.client, call.portal = client, portal  # type: ignore[attr-defined]
            yield call


@contextmanager
def in_process() -> Iterator[Call]:
    """The SDK's own client of a server in this process."""
    with connected(make_server, "legacy") as call:
        yield call


@contextmanager
def served(
    env: Mapping[str, str] | None = None, port: int = 0
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A process `foundry mcp --transport http` and its address."""
    process = subprocess.Popen(
        [*COMMAND, "--transport", "http", "--port", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(env or os.environ),
    )
    assert process.stderr
    assert process.stdout
    try:
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + process.stderr.read()
        yield found[0], process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
        process.stdout.close()
