"""Progressive context: the base context shrinks as parts of the work are done. Pure.

The rule. The objective's primary sentence and every constraint are always there.

1. A part that is done loses its details and paths: it is one line that says so.
2. From HALF of the known issues on, the history is told by where it came from and went to, and its
   notes are left out.
3. From MOST on, the project is told by its name and stack, and the history and the secondary
   objective are left out.
4. When the last iteration gained nothing, everything is back: what was left out may be what is
   missing.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from foundry.circular.metrics import gains, work
from foundry.circular.schema import BaseContext, Part, ProgressState

HALF, MOST = 0.5, 0.8
"""Shares of the known issues that are resolved."""

DONE = "(done)"
"""What the title of a part that is done ends with."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the next thread is told, what it is not, and why."""

    context: BaseContext
    left_out: tuple[str, ...]
    """Fields of the base context."""
    reason: str


def shown(context: BaseContext, progress: ProgressState, done_parts: Collection[str] = ()) -> Shown:
    """The part of a base context that is of use at this point."""
    states = work(progress.completed_iterations)
    if states and not gains(progress.completed_iterations)[-1 - _doubts(progress)]:
        return Shown(context, (), "the last iteration gained nothing: the whole context again")
    share = progress.overall_progress
    result, left_out = context, []
    for applies, shorten in (
        (bool(done_parts), _without_done(done_parts)),
        (HALF <= share < MOST, _short_history),
        (share >= MOST, _essence),
    ):
        if applies:
            result, fields = shorten(result)
            left_out += fields
    if not left_out:
        return Shown(context, (), f"{share:.0%} of the known issues are resolved: all of it")
    return Shown(result, tuple(left_out), f"{share:.0%} of the known issues are resolved")


_Shortened = tuple[BaseContext, list[str]]


def _without_done(done: Collection[str]) -> Callable[[BaseContext], _Shortened]:
    def shorten(context: BaseContext) -> _Shortened:
        parts = tuple(_line(part) if part.id in done else part for part in context.parts)
        left_out = [f"parts.{part.id}" for part in context.parts if part.id in done]
        return context.model_copy(update={"parts": parts}), left_out

    return shorten


def _line(part: Part) -> Part:
    return part.model_copy(update={"title": f"{part.title} {DONE}", "details": "", "paths": ()})


def _short_history(context: BaseContext) -> _Shortened:
    if context.history is None or not context.history.notes:
        return context, []
    short = context.history.model_copy(update={"notes": ()})
    return context.model_copy(update={"history": short}), ["history.notes"]


def _essence(context: BaseContext) -> _Shortened:
    project = context.project.model_copy(update={"description": ""})
    objective = context.objective.model_copy(update={"secondary": ""})
    left_out = [
        name
        for name, there in (
            ("project.description", context.project.description),
            ("history", context.history),
            ("objective.secondary", context.objective.secondary),
        )
        if there
    ]
    update = {"project": project, "history": None, "objective": objective}
    return context.model_copy(update=update), left_out


def _doubts(progress: ProgressState) -> int:
    """How many doubts come after the last iteration that worked."""
    count = 0
    for state in reversed(progress.completed_iterations):
        if state.kind == "work":
            break
        count += 1
    return count
