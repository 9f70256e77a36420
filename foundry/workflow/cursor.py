"""The pure cursor: from a workflow and a journal to what comes next. No I/O, no clock.

`after` folds one journal entry into a cursor, so that a runner pays for one step at a time;
`next_step` folds a whole journal and gives the same answer. Who keeps no journal (a trace, a
client of the workflow server) uses `begin` and `complete`. Workflows are resolved ones.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

from foundry.errors import JournalError
from foundry.schema.journal import Attempt, Entry, Resume, Start, StepRecord, Stop
from foundry.schema.run import Status
from foundry.schema.workflow import LoopStep, Step, Workflow
from foundry.workflow.conditions import holds
from foundry.workflow.loops import Context, LastDue, LoopState, Missing, enter, goes_on, scope


class Cursor(NamedTuple):
    """Where a run stands; `attempts` counts the failed tries of the step that is due.

    A tuple, since one is made for every line of a journal.
    """

    position: int = 0
    loop: LoopState | None = None
    context: Context = {}  # noqa: RUF012 - never written to
    skip: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    attempts: int = 0
    last_failure: str = ""
    missing: Missing | None = None
    stopped: Status | None = None
    asked: str = ""
    confirmed: str = ""


@dataclass(frozen=True, slots=True)
class Instruction:
    """The step that is due.

    `context` holds the run's variables and the loop's; `previous` those with which a body step was
    due in an earlier iteration, None the first time. `number` is the iteration from 1, 0 outside a
    loop; `total` the length of a forEach's list, 0 otherwise; `entering`: the loop begins here.
    """

    step: Step
    id: str
    phase: str
    context: Context
    loop: LoopStep | None = None
    number: int = 0
    total: int = 0
    previous: Context | None = None
    entering: bool = False
    needs_confirmation: bool = False
    attempt: int = 1
    last_failure: str = ""

    @property
    def loop_path(self) -> tuple[dict[str, Any], ...]:
        """The loops around the step, outermost first, with their iterations from 0."""
        return ({"loopId": self.loop.id, "iteration": self.number - 1},) if self.loop else ()


@dataclass(frozen=True, slots=True)
class Finished:
    """Every step is done."""

    context: Context
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Blocked:
    """The run can't go on: a step failed as often as it may, or a loop has nothing to repeat.

    `code` is "attempts" or "missing-items"; `tries` counts the attempts.
    """

    step: str
    reason: str
    hint: str = ""
    code: str = "attempts"
    tries: int = 0
    warnings: tuple[str, ...] = ()


Next = Instruction | Finished | Blocked


def next_step(workflow: Workflow, journal: Iterable[Entry]) -> Next:
    """What comes after everything that the journal tells."""
    return due(workflow, reduce(lambda cursor, entry: after(workflow, cursor, entry), journal,
                                Cursor()))  # fmt: skip


def begin(workflow: Workflow, context: Context | None = None, skip: Iterable[str] = ()) -> Cursor:
    """The cursor at the first step that runs."""
    variables = {**workflow.context, **(context or {})}
    return settle(workflow, Cursor(context=variables, skip=tuple(skip)))


def complete(workflow: Workflow, cursor: Cursor, patch: Context | None = None) -> Cursor:
    """The cursor once the step that is due is done and has set the variables of `patch`."""
    return settle(workflow, passed(cursor, patch))


def due(workflow: Workflow, cursor: Cursor) -> Next:
    """What a cursor points at."""
    if cursor.position >= len(workflow.steps):
        return Finished(cursor.context, cursor.warnings)
    if cursor.missing:
        step, missing = workflow.steps[cursor.position], cursor.missing
        return Blocked(step.id, missing.reason, missing.hint, "missing-items",
                       warnings=cursor.warnings)  # fmt: skip
    if cursor.attempts >= _step(workflow, cursor).attempts:
        return Blocked(_id(workflow, cursor), cursor.last_failure, tries=cursor.attempts,
                       warnings=cursor.warnings)  # fmt: skip
    return _instruction(workflow, cursor)


def after(workflow: Workflow, cursor: Cursor, entry: Entry) -> Cursor:
    """The cursor once `entry` has happened; raises JournalError when it can't have."""
    match entry:
        case StepRecord():
            _expect(workflow, cursor, entry.step)
            return complete(workflow, cursor, entry.patch)
        case Start():
            return begin(workflow, entry.context, entry.skip)
        case Attempt():
            tried = cursor._replace(attempts=cursor.attempts + 1, last_failure=entry.detail)
            return _pass_over(workflow, tried)
        case Stop():
            return cursor._replace(stopped=entry.status, asked=entry.confirm)
        case Resume():
            return _resumed(workflow, cursor, entry.patch)
        case _:
            return cursor


def _expect(workflow: Workflow, cursor: Cursor, done: str) -> None:
    over = cursor.position >= len(workflow.steps) or cursor.missing
    expected = "the end" if over else _id(workflow, cursor)
    if done != expected:
        raise JournalError(
            f"the journal has the step {done!r} where the workflow has {expected!r}",
            hint="The workflow has changed since the run began; start a new run",
        )


def _resumed(workflow: Workflow, cursor: Cursor, patch: Context) -> Cursor:
    """The cursor once a person went on: what failed may be tried again, with what they changed."""
    moved = cursor._replace(
        context={**cursor.context, **patch},
        attempts=0 if cursor.stopped is Status.FAILED else cursor.attempts,
        missing=None,
        stopped=None,
        confirmed=cursor.asked,
    )
    if not (patch or cursor.missing):
        return moved
    settled = settle(workflow, _renewed(workflow, moved, patch))
    same = _position(settled) == _position(moved)
    return settled if same else settled._replace(attempts=0, last_failure="", confirmed="")


def _position(cursor: Cursor) -> tuple[int, ...]:
    loop = cursor.loop
    return (cursor.position, loop.iteration, loop.body) if loop else (cursor.position,)


def _pass_over(workflow: Workflow, cursor: Cursor) -> Cursor:
    """Go on without a step that failed as often as it may, where the workflow allows that."""
    blocked = due(workflow, cursor)
    if not isinstance(blocked, Blocked) or _step(workflow, cursor).on_failure == "stop":
        return cursor
    if _step(workflow, cursor).on_failure == "unverified":
        cursor = _warned(cursor, f"{blocked.step} failed {cursor.attempts} times")
    return settle(workflow, passed(cursor))


def passed(cursor: Cursor, patch: Context | None = None) -> Cursor:
    """The cursor behind its step, not yet settled on the next one."""
    position, loop, context = cursor.position, cursor.loop, cursor.context
    if loop is None:
        position += 1
    else:
        here = LastDue(loop.iteration, context)
        last_due = (*loop.last_due[: loop.body], here, *loop.last_due[loop.body + 1 :])
        loop = LoopState(loop.iteration, loop.body + 1, loop.items, last_due)
    if patch:
        context = {**context, **patch}
    return Cursor(position, loop, context, cursor.skip, cursor.warnings, stopped=cursor.stopped)


def _renewed(workflow: Workflow, cursor: Cursor, patch: Context) -> Cursor:
    """The cursor with the items that a person changed; those that are done keep their places."""
    step = workflow.steps[cursor.position] if cursor.loop else None
    if isinstance(step, LoopStep) and cursor.loop and step.loop.items.split(".")[0] in patch:
        entered, _ = enter(step, cursor.context)
        if isinstance(entered, Missing):
            return cursor._replace(missing=entered)
        return cursor._replace(loop=cursor.loop._replace(items=entered.items))
    return cursor


def settle(workflow: Workflow, cursor: Cursor) -> Cursor:
    """Move on past what is skipped or over, until a step is due or the workflow ends."""
    while cursor.position < len(workflow.steps) and not cursor.missing:
        step = workflow.steps[cursor.position]
        if cursor.loop is None and not _wanted(step, cursor):
            cursor = cursor._replace(position=cursor.position + 1)
        elif isinstance(step, Step):
            return cursor
        elif cursor.loop is None:
            cursor = _entered(step, cursor)
        else:
            cursor = _in_loop(step, cursor, cursor.loop)
            if cursor.loop is not None:
                return cursor
            cursor = cursor._replace(position=cursor.position + 1)
    return cursor


def _entered(step: LoopStep, cursor: Cursor) -> Cursor:
    state, warning = enter(step, cursor.context)
    if isinstance(state, Missing):
        return cursor._replace(missing=state)
    return (_warned(cursor, warning) if warning else cursor)._replace(loop=state)


def _in_loop(step: LoopStep, cursor: Cursor, loop: LoopState) -> Cursor:
    """The next body step that runs, or a cursor without a loop when the loop is over."""
    body, context = step.steps, cursor.context
    while True:
        if loop.body == 0:
            if not goes_on(step, loop, context):
                return cursor._replace(loop=None)
            if loop.iteration >= step.loop.max_iterations:
                warning = (
                    f"{step.id}: maximum iterations ({loop.iteration}) reached: the loop was ended"
                )
                return _warned(cursor, warning)._replace(loop=None)
        for number in range(loop.body, len(body)):
            condition = body[number].run_condition
            if condition is None or holds(condition, scope(step, loop, context)):
                if number == loop.body and loop is cursor.loop:
                    return cursor
                return cursor._replace(
                    loop=LoopState(loop.iteration, number, loop.items, loop.last_due)
                )
        loop = LoopState(loop.iteration + 1, 0, loop.items, loop.last_due)


def _warned(cursor: Cursor, warning: str) -> Cursor:
    return cursor._replace(warnings=(*cursor.warnings, warning))


def _wanted(step: LoopStep | Step, cursor: Cursor) -> bool:
    phase = step.phase or step.id
    return phase not in cursor.skip and holds(step.run_condition, cursor.context)


def _step(workflow: Workflow, cursor: Cursor) -> Step:
    step = workflow.steps[cursor.position]
    if isinstance(step, Step):
        return step
    assert cursor.loop is not None, "a loop that was not entered"
    return step.steps[cursor.loop.body]


def _id(workflow: Workflow, cursor: Cursor) -> str:
    step, loop = workflow.steps[cursor.position], cursor.loop
    if isinstance(step, LoopStep) and loop:
        return f"{step.id}[{loop.iteration + 1}]/{step.steps[loop.body].id}"
    return step.id


def _instruction(workflow: Workflow, cursor: Cursor) -> Instruction:
    outer, step, name = (
        workflow.steps[cursor.position],
        _step(workflow, cursor),
        _id(workflow, cursor),
    )
    loop, context = cursor.loop, cursor.context
    in_loop: dict[str, Any] = {}
    if isinstance(outer, LoopStep) and loop:
        last = loop.last_due[loop.body]
        context = scope(outer, loop, context)
        in_loop = {
            "loop": outer,
            "number": loop.iteration + 1,
            "total": len(loop.items),
            "entering": not any(loop.last_due),
            "previous": last
            and scope(outer, loop._replace(iteration=last.iteration), last.context),
        }
    return Instruction(
        step=step,
        id=name,
        phase=outer.phase or outer.id,
        context=context,
        needs_confirmation=cursor.confirmed != name and _to_confirm(outer, step, cursor, context),
        attempt=cursor.attempts + 1,
        last_failure=cursor.last_failure,
        **in_loop,
    )


def _to_confirm(outer: LoopStep | Step, step: Step, cursor: Cursor, context: Context) -> bool:
    """Whether a person has to agree: to the step, or to the loop that it is the first of."""
    rules = [step.require_confirmation]
    if cursor.loop and not any(cursor.loop.last_due):
        rules.append(outer.require_confirmation)
    return any(rule if isinstance(rule, bool) else holds(rule, context) for rule in rules)
