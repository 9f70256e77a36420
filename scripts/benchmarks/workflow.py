"""The workflow engine: the cursor over a long journal and a long loop, and progressive disclosure.

Disclosure is measured by the replies of `workflow_next`, on the documents of the folder that
FOUNDRY_WORKFLOW_CORPUS names (the public WorkRail repository's `workflows/` is good material), or
on a document of our own without it.
"""

import os
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from foundry.errors import WorkflowError
from foundry.mcp.messages import NextRequest, compact
from foundry.mcp.next_step import go_on, start
from foundry.mcp.sessions import Sessions
from foundry.model.tokens import estimate
from foundry.schema.journal import Entry, Start, StepRecord
from foundry.schema.messages import text_block
from foundry.schema.workflow import LoopStep, Step, Workflow
from foundry.workflow.conditions import names
from foundry.workflow.cursor import Instruction, begin, complete, due, next_step
from foundry.workflow.load import load
from scripts.benchmarks.figure import Figure

AT = datetime(2026, 1, 1, tzinfo=UTC)
LINES = 1_000
ITERATIONS = 10_000
ROUNDS = 15
ITEMS = 5
STEPS = 200
"""Steps of a loop that are walked at most, to come to its third iteration."""

CORPUS = "FOUNDRY_WORKFLOW_CORPUS"


def measure() -> list[Figure]:
    return [_long_journal(), _long_loop(), *_disclosed()]


def _long_journal() -> Figure:
    workflow = large_document()
    size = len(workflow.model_dump_json(by_alias=True, exclude_unset=True)) // 1024
    journal = list(_played(workflow, {"n": LINES}))[: LINES + 1]
    taken = [_timed(lambda: next_step(workflow, journal)) for _ in range(ROUNDS)]
    detail = f"least of {ROUNDS} rounds; a document of {size} KB, {len(journal) - 1} accepted steps"
    return Figure("next_step on a long journal", min(taken) * 1000, " ms", 5,
                  detail=detail)  # fmt: skip


def _long_loop() -> Figure:
    """Beyond what documents may ask for (1,000): the cost of a step must not depend on it."""
    workflow = _counted(ITERATIONS)
    cursor, taken = begin(workflow), []
    for _ in range(ITERATIONS):
        begun = time.perf_counter()
        due(workflow, cursor)
        cursor = complete(workflow, cursor, {"last": 1})
        taken.append(time.perf_counter() - begun)
    first, last = (statistics.median(part) for part in (taken[:1000], taken[-1000:]))
    detail = f"{last * 1e6:.0f} µs against {first * 1e6:.0f} µs, {ITERATIONS:,} iterations"
    return Figure("a loop's last 1,000 steps / first", last / first, "x", 1.25, detail=detail)


def _disclosed() -> Iterator[Figure]:
    """How much smaller the second iteration's replies are: per document, and over all loops."""
    sessions = Sessions(Path(os.environ["FOUNDRY_HOME"]) / "bench-sessions")
    every: list[_Saved] = []
    for name, workflow in _corpus():
        loops = (step for step in workflow.steps if isinstance(step, LoopStep))
        saved = [each for loop in loops if (each := _saved(sessions, workflow, loop))]
        every += saved
        if saved:
            share, tokens = _median(saved)
            detail = f"median of {len(saved)} loops; tokens {tokens:.0f}%"
            yield Figure(f"  {name}", share, "%", detail=detail)
    where = "" if os.environ.get(CORPUS) else f", of a document of our own ({CORPUS} is not set)"
    for unit, share in zip(_Saved._fields, _median(every), strict=True):
        yield Figure(f"a later iteration is smaller than the first, {unit}", share, "%", 60,
                     least=True, detail=f"median of {len(every)} loops{where}")  # fmt: skip


class _Saved(NamedTuple):
    """Percent that a loop's second iteration is smaller than its first."""

    bytes: float
    tokens: float


def _median(saved: list[_Saved]) -> _Saved:
    return _Saved(*(statistics.median(column) for column in zip(*saved, strict=True)))


def _saved(sessions: Sessions, workflow: Workflow, loop: LoopStep) -> _Saved | None:
    """None for a loop that has no second iteration."""
    first, later = _iterations(sessions, workflow, loop)
    if not (first and later):
        return None
    return _Saved(*(100 - 100 * sum(map(cost, later)) / sum(map(cost, first))
                    for cost in (_bytes, _tokens)))  # fmt: skip


def _iterations(
    sessions: Sessions, workflow: Workflow, loop: LoopStep
) -> tuple[list[str], list[str]]:
    """The replies of `workflow_next` in the first and in the second iteration of a loop.

    They are what a client gets, token and all. A step comes before the loop, as it does in most
    walks: the rules of the workflow are told with it, and do not make the first iteration larger.
    What the loop asks about changes with every step.
    """
    before = Step(id="before-the-loop", title="Before", prompt="Begin.")
    alone = workflow.model_copy(update={"steps": (before, _free(loop))})
    reply = start(sessions, alone, _context(loop))
    told: dict[int, list[str]] = {1: [], 2: []}
    for number in range(STEPS):
        changed = {name.split(".")[0]: number for name in names(loop.loop.condition)}
        reply = go_on(sessions, NextRequest(token=reply.token, context=changed))
        iteration = reply.context.get("_currentLoop", {}).get("iteration", 3)
        if iteration > max(told):
            break
        sent = reply.model_dump(mode="json", by_alias=True, exclude_unset=True)
        told[iteration].append(compact(sent))
    return told[1], told[2]


def _free(loop: LoopStep) -> LoopStep:
    """The loop without the conditions that other steps of its document would have to meet."""
    body = tuple(step.model_copy(update={"run_condition": None}) for step in loop.steps)
    config = loop.loop
    if config.type in ("while", "until"):
        config = config.model_copy(update={"type": "for", "count": 3.0})
    return loop.model_copy(update={"run_condition": None, "body": body, "loop": config})


def _context(loop: LoopStep) -> dict[str, Any]:
    context: dict[str, Any] = {}
    if loop.loop.type == "forEach":
        context[loop.loop.items] = [
            {"id": f"item-{n}", "title": f"The item number {n}", "status": "open"}
            for n in range(ITEMS)
        ]
    if isinstance(loop.loop.count, str):
        context[loop.loop.count] = ITEMS
    return context


def _corpus() -> Iterator[tuple[str, Workflow]]:
    folder = os.environ.get(CORPUS)
    if not folder:
        yield "a document of our own", large_document()
        return
    for path in sorted(Path(folder).rglob("*.json")):
        try:
            yield path.stem, load(path)
        except WorkflowError:
            continue


def large_document() -> Workflow:
    """About 60 KB of steps with prompts, and a loop with three body steps."""
    steps: list[dict[str, Any]] = [_step(f"step-{n}") for n in range(24)]
    body = [_step(f"body-{n}") for n in range(3)]
    body[1]["runCondition"] = {"and": [{"var": "n", "gt": 1}, {"var": "last", "not_equals": "x"}]}
    loop = {"type": "for", "count": "n", "maxIterations": 1000}
    steps.insert(4, {"id": "loop", "title": "A loop", "type": "loop", "loop": loop, "body": body})
    return _document(steps)


def _counted(iterations: int) -> Workflow:
    loop = {"type": "for", "count": iterations, "maxIterations": 1000}
    workflow = _document([{"id": "loop", "title": "A loop", "type": "loop", "loop": loop,
                           "body": [_step("body")]}])  # fmt: skip
    (step,) = workflow.steps
    assert isinstance(step, LoopStep)
    longer = step.loop.model_copy(update={"max_iterations": iterations})
    return workflow.model_copy(update={"steps": (step.model_copy(update={"loop": longer}),)})


def _document(steps: list[dict[str, Any]]) -> Workflow:
    about = {"id": "bench", "name": "Bench", "description": "A bench", "version": "1.0.0"}
    return Workflow.model_validate({**about, "steps": steps}).resolved()


def _step(name: str) -> dict[str, Any]:
    words = f"Look at what {name} is about, write down what you find and why. "
    return {"id": name, "title": name, "prompt": words * 28, "agentRole": words,
            "guidance": ["Be calm", "Measure first"]}  # fmt: skip


def _played(workflow: Workflow, context: dict[str, Any]) -> Iterator[Entry]:
    yield Start(seq=1, at=AT, run="r", spec="s", workflow="w", workflow_hash="h", context=context)
    cursor, number = begin(workflow, context), 1
    while isinstance(coming := due(workflow, cursor), Instruction):
        number += 1
        patch = {"last": number}
        yield StepRecord(seq=number, at=AT, run="r", step=coming.id, phase=coming.phase,
                         patch=patch)  # fmt: skip
        cursor = complete(workflow, cursor, patch)


def _timed(work: Any) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _bytes(reply: str) -> int:
    return len(reply.encode())


def _tokens(reply: str) -> int:
    return estimate([text_block(reply)])
