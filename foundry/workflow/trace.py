"""Which steps a workflow would run, every one taken as completed: no model, no I/O."""

from collections.abc import Iterable, Iterator
from typing import Any

from foundry.schema.workflow import Workflow
from foundry.workflow.cursor import Blocked, Finished, Instruction, begin, complete, due
from foundry.workflow.loops import Context

Line = dict[str, Any]
"""A JSON object: a step with the loops around it, and at last `complete` or `error`."""


def trace(workflow: Workflow, context: Context, patches: Iterable[Context] = ()) -> Iterator[Line]:
    """The steps in order, then how it ends.

    A patch is merged into the context before the line of its number is worked out, the first one
    before the first step; there may be fewer of them than lines, or more.
    """
    remaining = iter(patches)
    cursor = begin(workflow, {**context, **next(remaining, {})})
    while isinstance(now := due(workflow, cursor), Instruction):
        yield {"step": now.step.id, "loopPath": list(now.loop_path)}
        cursor = complete(workflow, cursor, next(remaining, {}))
    yield _end(now)


def _end(end: Finished | Blocked) -> Line:
    warnings = {"warnings": list(end.warnings)} if end.warnings else {}
    if isinstance(end, Finished):
        return {"complete": True, **warnings}
    error = {"code": end.code, "message": end.reason, "step": end.step, "hint": end.hint}
    return {"error": error, **warnings}
