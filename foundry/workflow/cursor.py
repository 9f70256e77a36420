"""The pure cursor: from a workflow and a journal to what comes next. No I/O, no clock.

`after` folds one journal entry into a cursor, so that a runner pays for one step at a time;
`next_step` folds a whole journal and gives the same answer.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from foundry.errors import JournalError, WorkflowError
from foundry.schema.journal import Attempt, Entry, Resume, Start, StepRecord, Stop
from foundry.schema.run import Status
from foundry.schema.workflow import LoopStep, Step, Workflow
from foundry.workflow.conditions import holds, lookup


@dataclass(frozen=True, slots=True)
class LoopState:
    """Where a loop stands. `items` is the list as it was when the loop was entered."""

    iteration: int = 0
    body: int = 0
    items: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a run stands; `attempts` counts the failed tries of the step that is due."""

    index: int = 0
    loop: LoopState | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    skip: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    attempts: int = 0
    last_failure: str = ""
    stopped: Status | None = None


@dataclass(frozen=True, slots=True)
class Instruction:
    """The step that is due. `context` holds the run's variables and the loop's."""

    step: Step
    id: str
    phase: str
    context: Mapping[str, Any]
    attempt: int = 1
    number: int = 0
    total: int = 0
    last_failure: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """Every step is done."""

    context: Mapping[str, Any]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Blocked:
    """A step failed as often as it may."""

    instruction: Instruction
    reason: str


Next = Instruction | Finished | Blocked


def next_step(workflow: Workflow, journal: Iterable[Entry]) -> Next:
    """What comes after everything that the journal tells."""
    return due(workflow, reduce(lambda cursor, entry: after(workflow, cursor, entry), journal,
                                Cursor()))  # fmt: skip


def due(workflow: Workflow, cursor: Cursor) -> Next:
    """What a cursor points at."""
    if cursor.index >= len(workflow.steps):
        return Finished(cursor.context, cursor.warnings)
    instruction = _instruction(workflow, cursor)
    if cursor.attempts >= instruction.step.attempts:
        return Blocked(instruction, cursor.last_failure)
    return instruction


def after(workflow: Workflow, cursor: Cursor, entry: Entry) -> Cursor:
    """The cursor once `entry` has happened; raises JournalError when it can't have."""
    match entry:
        case Start():
            return _settle(workflow, Cursor(context=dict(entry.context), skip=entry.skip))
        case StepRecord():
            return _advance(workflow, cursor, entry)
        case Attempt():
            tried = replace(cursor, attempts=cursor.attempts + 1, last_failure=entry.detail)
            return _pass_over(workflow, tried)
        case Stop():
            return replace(cursor, stopped=entry.status)
        case Resume():
            attempts = 0 if cursor.stopped is Status.FAILED else cursor.attempts
            context = {**cursor.context, **entry.patch}
            moved = replace(cursor, context=context, attempts=attempts, stopped=None)
            return _renewed(workflow, moved, entry.patch) if entry.patch else moved
        case _:
            return cursor


def _advance(workflow: Workflow, cursor: Cursor, record: StepRecord) -> Cursor:
    current = due(workflow, replace(cursor, attempts=0))
    if not isinstance(current, Instruction) or current.id != record.step:
        expected = current.id if isinstance(current, Instruction) else "the end"
        raise JournalError(
            f"the journal has the step {record.step!r} where the workflow has {expected!r}",
            hint="The workflow has changed since the run began; start a new run",
        )
    moved = replace(_moved(cursor), context={**cursor.context, **record.patch})
    return _settle(workflow, moved)


def _pass_over(workflow: Workflow, cursor: Cursor) -> Cursor:
    """Go on without a step that failed as often as it may, where the workflow allows that."""
    blocked = due(workflow, cursor)
    if not isinstance(blocked, Blocked) or blocked.instruction.step.on_failure == "stop":
        return cursor
    warnings = cursor.warnings
    if blocked.instruction.step.on_failure == "unverified":
        warnings = (*warnings, f"{blocked.instruction.id} failed {cursor.attempts} times")
    return _settle(workflow, replace(_moved(cursor), warnings=warnings))


def _moved(cursor: Cursor) -> Cursor:
    """The cursor behind its step, not yet settled on the next one."""
    return replace(
        cursor,
        attempts=0,
        last_failure="",
        index=cursor.index if cursor.loop else cursor.index + 1,
        loop=replace(cursor.loop, body=cursor.loop.body + 1) if cursor.loop else None,
    )


def _renewed(workflow: Workflow, cursor: Cursor, patch: Mapping[str, Any]) -> Cursor:
    """The cursor with the items that a person changed; those that are done keep their places."""
    step = workflow.steps[cursor.index] if cursor.loop else None
    if isinstance(step, LoopStep) and cursor.loop and step.loop.items.split(".")[0] in patch:
        loop = replace(cursor.loop, items=_items(step, cursor.context))
        return _settle(workflow, replace(cursor, loop=loop))
    return cursor


def _settle(workflow: Workflow, cursor: Cursor) -> Cursor:
    """Move on past what is skipped or over, until a step is due or the workflow ends."""
    while cursor.index < len(workflow.steps):
        step = workflow.steps[cursor.index]
        if cursor.loop is None and not _wanted(step, cursor):
            cursor = replace(cursor, index=cursor.index + 1)
        elif not isinstance(step, LoopStep):
            return cursor
        else:
            loop = cursor.loop or LoopState(items=_items(step, cursor.context))
            settled = _settle_loop(step, replace(cursor, loop=loop))
            if settled.loop is not None:
                return settled
            cursor = replace(settled, index=settled.index + 1)
    return cursor


def _settle_loop(step: LoopStep, cursor: Cursor) -> Cursor:
    """The next body step that runs, or a cursor without a loop when the loop is over."""
    loop = cursor.loop or LoopState()
    while True:
        if loop.body == 0:
            if not _goes_on(step, loop, cursor.context):
                return replace(cursor, loop=None)
            if loop.iteration >= step.loop.max_iterations:
                warning = f"{step.id}: stopped after its maximum of {loop.iteration} iterations"
                return replace(cursor, loop=None, warnings=(*cursor.warnings, warning))
        context = _scope(step, loop, cursor.context)
        while loop.body < len(step.body):
            if holds(step.body[loop.body].run_condition, context):
                return replace(cursor, loop=loop)
            loop = replace(loop, body=loop.body + 1)
        loop = replace(loop, iteration=loop.iteration + 1, body=0)


def _goes_on(step: LoopStep, loop: LoopState, context: Mapping[str, Any]) -> bool:
    match step.loop.type:
        case "forEach":
            return loop.iteration < len(loop.items)
        case "for":
            return loop.iteration < _count(step, context)
        case "while":
            return holds(step.loop.condition, _scope(step, loop, context))
        case "until":
            return not holds(step.loop.condition, _scope(step, loop, context))


def _items(step: LoopStep, context: Mapping[str, Any]) -> tuple[Any, ...]:
    if step.loop.type != "forEach":
        return ()
    items = lookup(step.loop.items, context)
    if not isinstance(items, list | tuple):
        raise WorkflowError(
            f"{step.id}: {step.loop.items!r} is not a list in the run's context",
            hint="An earlier step has to provide it",
        )
    return tuple(items)


def _count(step: LoopStep, context: Mapping[str, Any]) -> int:
    count = step.loop.count
    value = lookup(count, context) if isinstance(count, str) else count
    if not isinstance(value, int) or isinstance(value, bool):
        raise WorkflowError(f"{step.id}: the count {count!r} is not a number in the run's context")
    return value


def _scope(step: LoopStep, loop: LoopState, context: Mapping[str, Any]) -> Mapping[str, Any]:
    names: dict[str, Any] = {step.loop.iteration_var: loop.iteration + 1}
    if step.loop.type == "forEach" and loop.iteration < len(loop.items):
        names[step.loop.item_var] = loop.items[loop.iteration]
        names[step.loop.index_var] = loop.iteration
    return {**context, **names}


def _wanted(step: LoopStep | Step, cursor: Cursor) -> bool:
    phase = step.phase or step.id
    return phase not in cursor.skip and holds(step.run_condition, cursor.context)


def _instruction(workflow: Workflow, cursor: Cursor) -> Instruction:
    step = workflow.steps[cursor.index]
    phase = step.phase or step.id
    common = {"attempt": cursor.attempts + 1, "last_failure": cursor.last_failure}
    if isinstance(step, Step):
        return Instruction(step, step.id, phase, cursor.context, **common)  # type: ignore[arg-type]
    loop = cursor.loop or LoopState()
    body = step.body[loop.body]
    return Instruction(
        step=body,
        id=f"{step.id}[{loop.iteration + 1}]/{body.id}",
        phase=phase,
        context=_scope(step, loop, cursor.context),
        number=loop.iteration + 1,
        total=len(loop.items),
        **common,  # type: ignore[arg-type]
    )
