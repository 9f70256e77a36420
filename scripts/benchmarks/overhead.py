"""What the harness adds to a model turn, against a bare loop of the SDK that does the same work.

Both ask the same server, run `true` in a shell, and send a growing conversation. The harness also
checks its budget, writes transcript, ledger and session log, and confines the command.
"""

import json
import statistics
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anthropic

from foundry.conversation.brief import Allowance, Brief
from foundry.conversation.loop import converse
from foundry.engine.steps.summary import SummarySubmission
from foundry.model.anthropic import AnthropicModel
from foundry.sandbox.process import ProcessSandbox
from foundry.schema.messages import text_block
from foundry.schema.workflow import Budget
from foundry.store.ledger import Ledger
from foundry.store.session_log import SessionLog
from foundry.tools.base import Toolset, submit_tool
from foundry.tools.toolset import OURS, Workbench, make_tools
from scripts.benchmarks.figure import Figure
from scripts.benchmarks.serving import serving

TURNS = 50
ROUNDS = 9
SYSTEM = text_block("You are a bench. " * 300, cache=True)
OPENING = text_block("Run commands.")
MODEL = "claude-sonnet-5-5"


def measure() -> list[Figure]:
    with serving("commands") as url, TemporaryDirectory() as folder:
        root = Path(folder)
        model = AnthropicModel(MODEL, base_url=url, api_key="bench")
        client = anthropic.Anthropic(base_url=url, api_key="bench", max_retries=0)
        tools = _toolset(root)
        _harness(model, tools, root)
        _bare(client, tools)
        pairs = [(_harness(model, tools, root), _bare(client, tools)) for _ in range(ROUNDS)]
        client.close()
        model.close()
    ratio = statistics.median(ours / bare for ours, bare in pairs)
    ours = statistics.median(each for each, _ in pairs) * 1000
    bare = statistics.median(each for _, each in pairs) * 1000
    detail = f"{ours:.2f} ms a turn against {bare:.2f} ms, {ROUNDS} pairs of {TURNS} turns"
    return [Figure("harness per model turn / bare SDK loop", ratio, "x", 1.5, detail=detail)]


def _toolset(root: Path) -> Toolset:
    sandbox = ProcessSandbox(root / "running.json")
    workbench = Workbench(root, sandbox, list_paths=list, grep=lambda *_, **__: [])
    tools = make_tools([name for name in OURS if name != "recall_context"], workbench)
    return Toolset({**tools, "submit": submit_tool(SummarySubmission, lambda _: ())})


def _harness(model: AnthropicModel, tools: Toolset, root: Path) -> float:
    """Seconds a turn through the whole of a conversation's machinery."""
    ledger = Ledger(root / "ledger.jsonl")
    with (
        SessionLog(root / "log.jsonl") as log,
        (root / "transcript.jsonl").open("a") as transcript,
    ):
        brief = Brief(
            "bench",
            "bench",
            (SYSTEM,),
            (OPENING,),
            tools,
            model,
            Allowance(Budget(turns=TURNS), lambda: 1e9, float("inf"), time.monotonic),
            observe=log,
            record=lambda message: print(json.dumps(message), file=transcript),
            spent=lambda usage, usd, _: ledger.record("bench", usage, usd),
        )
        begun = time.perf_counter()
        outcome = converse(brief)
        seconds = time.perf_counter() - begun
    assert outcome.reason == "turns", outcome
    return seconds / TURNS


def _bare(client: Any, tools: Toolset) -> float:
    """Seconds a turn of the shortest loop that does the same."""
    specs = list(tools.specs())
    messages: list[Any] = [{"role": "user", "content": [OPENING]}]
    begun = time.perf_counter()
    for _ in range(TURNS):
        with client.messages.stream(
            model=MODEL, max_tokens=32_000, system=[SYSTEM], tools=specs, messages=messages
        ) as stream:
            reply = stream.get_final_message()
        messages.append({"role": "assistant", "content": reply.content})
        results = []
        for block in reply.content:
            if block.type == "tool_use":
                done = subprocess.run(
                    block.input["command"], shell=True, capture_output=True, text=True, check=False
                )
                text = f"{done.stdout}{done.stderr}exit code {done.returncode}"
                results.append({"type": "tool_result", "tool_use_id": block.id, "content": text})
        messages.append({"role": "user", "content": results})
    return (time.perf_counter() - begun) / TURNS
