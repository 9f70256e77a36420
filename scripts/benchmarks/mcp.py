"""What `workflow_next` costs a client over stdio, beside the SDK's own ping of the same server.

A real server process and the SDK's real client; every call completes a step, so it is on the disk
when its reply is there. The second figure is a server that was just started: its first call reads
a session of many steps.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from scripts.benchmarks.figure import Figure
from scripts.benchmarks.workflow import large_document

CALLS = 400
WARM = 20

Work = Callable[[ClientSession], Awaitable[Any]]


def measure() -> list[Figure]:
    document = large_document().model_dump(mode="json", by_alias=True, exclude_unset=True)
    text = json.dumps(document)
    folder = Path(os.environ["FOUNDRY_HOME"]) / "workflows"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "large.json").write_text(text)
    begin = {"workflowId": document["id"], "context": {"n": CALLS}}
    pings, calls, token = anyio.run(_served, lambda session: _walk(session, begin))
    cold = anyio.run(_served, lambda session: _first(session, token))
    extra = [call - ping for call, ping in zip(calls, pings, strict=True)]
    detail = (
        f"{statistics.median(calls):.2f} ms against {statistics.median(pings):.2f} ms; p95 "
        f"{statistics.quantiles(extra, n=20)[-1]:.2f} ms above; {len(calls)} steps of a document "
        f"of {len(text) // 1024} KB"
    )
    return [
        Figure("workflow_next over stdio, p50 above a ping", statistics.median(extra), " ms", 5,
               detail=detail),
        Figure(f"first call of a new server, a session of {len(calls)} steps", cold, " ms"),
    ]  # fmt: skip


async def _served(work: Work) -> Any:
    command = [sys.executable, "-m", "foundry", "mcp"]
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        return await work(session)


async def _walk(
    session: ClientSession, begin: dict[str, Any]
) -> tuple[list[float], list[float], str]:
    reply = await _call(session, begin)
    pings, calls = [], []
    for number in range(WARM + CALLS):
        before = time.perf_counter()
        await session.send_ping()
        between = time.perf_counter()
        reply = await _call(session, {"token": reply["token"], "context": {"last": number}})
        after = time.perf_counter()
        if reply["isComplete"]:
            reply = await _call(session, begin)
        elif number >= WARM:
            pings.append((between - before) * 1000)
            calls.append((after - between) * 1000)
    return pings, calls, reply["token"]


async def _first(session: ClientSession, token: str) -> float:
    await session.send_ping()
    before = time.perf_counter()
    await _call(session, {"token": token, "rehydrate": True})
    return (time.perf_counter() - before) * 1000


async def _call(session: ClientSession, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await session.call_tool("workflow_next", arguments)
    assert not result.is_error, result.content
    told: dict[str, Any] = result.structured_content
    return told
