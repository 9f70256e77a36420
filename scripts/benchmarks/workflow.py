"""The workflow engine: the cursor over a long journal and a long loop, and progressive disclosure.

Disclosure is measured on the documents of the folder that FOUNDRY_WORKFLOW_CORPUS names (the public
WorkRail repository's `workflows/` is good material), or on a document of our own without it.
"""

import json
import os
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from foundry.conversation.tokens import estimate
from foundry.errors import WorkflowError
from foundry.schema.journal import Entry, Start, StepRecord
from foundry.schema.messages import text_block
from foundry.schema.workflow import LoopStep, Workflow
from foundry.workflow.cursor import Instruction, begin, complete, due, next_step
from foundry.workflow.disclosure import Disclosure, disclose
from foundry.workflow.load import load
from scripts.benchmarks.figure import Figure

AT = datetime(2026, 1, 1, tzinfo=UTC)
LINES = 1_000
ITERATIONS = 10_000
ROUNDS = 15
ITEMS = 5


def measure() -> list[Figure]:
    return [_long_journal(), _long_loop(), *_disclosed()]


def _long_journal() -> Figure:
    workflow = large_document()
    size = len(workflow.model_dump_json(by_alias=True, exclude_unset=True)) // 1024
    journal = list(_played(workflow, {"n": LINES}))[: LINES + 1]
    taken = [_timed(lambda: next_step(workflow, journal)) for _ in range(ROUNDS)]
    detail = f"median of {ROUNDS}; a document of {size} KB, {len(journal) - 1} accepted steps"
    return Figure("next_step on a long journal", statistics.median(taken) * 1000, " ms", 5,
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
    saved: dict[str, list[float]] = {"bytes": [], "tokens": []}
    for name, workflow in _corpus():
        for loop in (step for step in workflow.steps if isinstance(step, LoopStep)):
            first, later = _iterations(workflow, loop)
            if not (first and later):
                continue
            for unit, cost in (("bytes", _bytes), ("tokens", _tokens)):
                saved[unit].append(100 - 100 * sum(map(cost, later)) / sum(map(cost, first)))
            detail = f"tokens {saved['tokens'][-1]:.0f}%; {len(first)} steps an iteration"
            yield Figure(f"  {name}: {loop.id}", saved["bytes"][-1], "%", detail=detail)
    for unit, shares in saved.items():
        yield Figure(f"a later iteration is smaller than the first, {unit}",
                     statistics.median(shares), "%", 60, least=True,
                     detail=f"median of {len(shares)} loops")  # fmt: skip


def _iterations(workflow: Workflow, loop: LoopStep) -> tuple[list[Disclosure], list[Disclosure]]:
    """What a reader with a thread is told in the first and in the second iteration of a loop."""
    alone = workflow.model_copy(update={"steps": (_free(loop),)})
    cursor = begin(alone, _context(loop))
    told: dict[int, list[Disclosure]] = {1: [], 2: []}
    while isinstance(coming := due(alone, cursor), Instruction) and coming.number <= 2:
        told[coming.number].append(disclose(alone, coming, "thread"))
        cursor = complete(alone, cursor)
    return told[1], told[2]


def _free(loop: LoopStep) -> LoopStep:
    """The loop without the conditions that other steps of its document would have to meet."""
    body = tuple(step.model_copy(update={"run_condition": None}) for step in loop.steps)
    config = loop.loop
    if config.type in ("while", "until"):
        config = config.model_copy(update={"type": "for", "count": 2.0})
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
    folder = os.environ.get("FOUNDRY_WORKFLOW_CORPUS")
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


def _reply(told: Disclosure) -> str:
    return json.dumps({"step": told.step, "guidance": told.guidance, "context": told.context})


def _bytes(told: Disclosure) -> int:
    return len(_reply(told).encode())


def _tokens(told: Disclosure) -> int:
    return estimate([text_block(_reply(told))])
