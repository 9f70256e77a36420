"""The cursor without a journal: a dry run of a whole workflow, or from what somebody says is done.

Who keeps no token says which steps are done, and has only the latest variables: so the conditions
of the past can't be judged again (a `while` that ended has a false condition by now). What is done
is taken as having been due; conditions decide what comes next, and nothing else.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from foundry.errors import WorkflowError
from foundry.schema.workflow import LoopStep, Workflow
from foundry.workflow.cursor import (
    Blocked,
    Cursor,
    Finished,
    Instruction,
    begin,
    complete,
    due,
    passed,
    settle,
)
from foundry.workflow.loops import Context, LoopState, Missing, enter

_INSTANCE = re.compile(r"(?P<loop>[^\[\]/]+)\[(?P<number>[1-9]\d{0,5})\]/(?P<step>[^\[\]/]+)")


class MissingItems(WorkflowError):
    """Steps of a loop are said to be done, and the list that it repeats over is not there."""


def replay(workflow: Workflow, completed: Sequence[str], context: Context | None = None) -> Cursor:
    """The cursor after `completed`: step ids in the order in which they were done.

    A body step stands in it once per iteration, as `id` or as `loop[iteration]/id`. Raises
    WorkflowError for an id that does not exist, or that can't come where it stands.
    """
    if not completed:
        return begin(workflow, context)
    cursor = Cursor(context={**workflow.context, **(context or {})})
    for number, name in enumerate(completed):
        position, state = _locate(workflow, cursor, name)
        if position < cursor.position:
            raise WorkflowError(
                f"completedSteps[{number}]: {name!r} can't follow {completed[number - 1]!r}",
                hint="Name the steps in the order in which they were done",
            )
        cursor = passed(cursor._replace(position=position, loop=state))
    return settle(workflow, cursor)


def _locate(workflow: Workflow, cursor: Cursor, name: str) -> tuple[int, LoopState | None]:
    """Where the step of this name is next, seen from a cursor: its position, its loop's state."""
    instance = _INSTANCE.fullmatch(name)
    position, body = _find(workflow, instance["step"] if instance else name)
    step = workflow.steps[position]
    if position < cursor.position or not isinstance(step, LoopStep):
        return position, None
    inside = cursor.loop if position == cursor.position else None
    state = inside or _entered(step, cursor.context)
    iteration = state.iteration + (body < state.body)
    if instance:
        iteration = max(iteration, int(instance["number"]) - 1)
    return position, state._replace(iteration=iteration, body=body)


def _entered(step: LoopStep, context: Context) -> LoopState:
    state, _ = enter(step, context)
    if isinstance(state, Missing):
        raise MissingItems(state.reason, hint=state.hint)
    return state


def _find(workflow: Workflow, name: str) -> tuple[int, int]:
    """Where a step stands, and where in its loop's body."""
    known = []
    for position, step in enumerate(workflow.steps):
        for body, each in enumerate(step.steps if isinstance(step, LoopStep) else (step,)):
            if each.id == name:
                return position, body
            known.append(each.id)
    raise WorkflowError(
        f"there is no step {name!r} in {workflow.id!r}", hint=f"Its steps are {', '.join(known)}"
    )


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
