"""What a loop repeats and how often: the four kinds, each checked before every iteration.

Semantics are those of the public WorkRail format; the list of a forEach is taken when the loop is
entered, and goes on to be that list whatever becomes of the context.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from foundry.schema.workflow import Loop, LoopStep
from foundry.workflow.conditions import holds, lookup

Context = Mapping[str, Any]


class LastDue(NamedTuple):
    """When a body step was last due: the iteration from 0, and the run's variables then."""

    iteration: int
    context: Context


class LoopState(NamedTuple):
    """Where a loop stands: `iteration` and `body` from 0, `last_due` by body step."""

    iteration: int = 0
    body: int = 0
    items: tuple[Any, ...] = ()
    last_due: tuple[LastDue | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """A loop can't begin: what it repeats over is not there."""

    reason: str
    hint: str


def enter(step: LoopStep, context: Context) -> tuple[LoopState | Missing, str]:
    """The state before the first iteration, and a warning where something is odd."""
    never = (None,) * len(step.steps)
    if step.loop.type != "forEach":
        return LoopState(last_due=never), _odd_count(step, context)
    items = lookup(step.loop.items, context)
    if isinstance(items, list | tuple):
        return LoopState(items=tuple(items), last_due=never), ""
    found = "is missing" if items is None else f"is no list but {type(items).__name__}"
    reason = f"{step.id}: {step.loop.items!r}, which it repeats over, {found}"
    if step.loop.on_missing == "skip":
        return LoopState(last_due=never), f"{reason}: the loop was skipped"
    names = ", ".join(sorted(context)) or "nothing"
    hint = (
        f"A step before it has to provide the list in the context, which holds {names}; "
        "`onMissing: skip` passes over the loop"
    )
    return Missing(reason, hint), ""


def goes_on(step: LoopStep, state: LoopState, context: Context) -> bool:
    """Whether another iteration is wanted, its maximum aside."""
    match step.loop.type:
        case "forEach":
            return state.iteration < len(state.items)
        case "for":
            return state.iteration < _count(step.loop, context)
        case "while":
            return holds(step.loop.condition, scope(step, state, context))
        case "until":
            return not holds(step.loop.condition, scope(step, state, context))


def scope(step: LoopStep, state: LoopState, context: Context) -> Context:
    """The run's variables and the loop's."""
    loop, number = step.loop, state.iteration
    names: dict[str, Any] = {**context, loop.iteration_var: number + 1}
    if number < len(state.items):
        names[loop.item_var] = state.items[number]
        names[loop.index_var] = number
    return names


def own_names(loop: Loop) -> tuple[str, ...]:
    """The variables that a loop itself sets."""
    if loop.type == "forEach":
        return loop.iteration_var, loop.item_var, loop.index_var
    return (loop.iteration_var,)


def _count(loop: Loop, context: Context) -> float:
    count = lookup(loop.count, context) if isinstance(loop.count, str) else loop.count
    return count if isinstance(count, int | float) and not isinstance(count, bool) else 0


def _odd_count(step: LoopStep, context: Context) -> str:
    if step.loop.type != "for" or not isinstance(step.loop.count, str):
        return ""
    count = lookup(step.loop.count, context)
    if isinstance(count, int | float) and not isinstance(count, bool):
        return ""
    return f"{step.id}: its count {step.loop.count!r} is no number ({count!r}): taken as 0"
