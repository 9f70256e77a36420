"""Take a circular run up again: what a person changed since is noticed, and asked about."""

from collections.abc import Callable, Mapping
from pathlib import Path

from foundry.circular.assignment import changed_since, taken_anew
from foundry.circular.handover import hand_over
from foundry.circular.history import ASSIGNMENT, assignment_of
from foundry.circular.state_schema import Assignment
from foundry.engine import session
from foundry.engine.runner import Ended
from foundry.engine.session import Watch
from foundry.errors import InputError
from foundry.schema.base import Json
from foundry.schema.journal import Entry
from foundry.schema.run import RunOptions


def resumed(
    folder: Path,
    change: Callable[[RunOptions], RunOptions],
    watch: Watch,
    given: Mapping[str, Json],
    *,
    accept: bool | None = None,
    models: tuple[str, ...] = (),
    any_run: bool = False,
) -> Ended:
    """Go on after the last saved iteration.

    `accept` decides about a prompt or base context whose file says something else now; None asks.
    Raises InputError when nobody is there to ask. `models`, if any, replace those that the run
    began with; how it adapts otherwise stays. With `any_run` a run of another kind goes on too.
    """

    def own(entries: tuple[Entry, ...]) -> Mapping[str, Json]:
        assignment = assignment_of(entries)
        if assignment:
            return _renewed(assignment, models, lambda changed: _accepted(changed, accept, watch))
        if any_run:
            return {}
        raise InputError(
            f"the newest run in {folder} is not one of `foundry circular`",
            hint="`foundry resume` goes on with it",
        )

    ended = session.resume(folder, change, watch, given, own)
    hand_over(folder, ended, watch)
    return ended


def _renewed(
    assignment: Assignment, models: tuple[str, ...], accepted: Callable[[tuple[str, ...]], bool]
) -> Mapping[str, Json]:
    """The variable of the assignment, where the person changed something of it."""
    anew = assignment
    changed = changed_since(assignment)
    if changed and accepted(changed):
        anew = taken_anew(assignment)
    if models:
        several = models if len(models) > 1 else ()
        settings = anew.settings.model_copy(update={"models": several})
        anew = anew.model_copy(update={"settings": settings})
    if anew == assignment:
        return {}
    return {ASSIGNMENT: anew.model_dump(mode="json", exclude_none=True)}


def _accepted(changed: tuple[str, ...], accept: bool | None, watch: Watch) -> bool:
    if accept is not None:
        return accept
    what = f"{' and '.join(changed)} changed since the run began"
    answer = watch.ask(f"{what}. Go on with what stands there now? (no: with what it began with)")
    if answer is None:
        raise InputError(
            what,
            hint="`foundry circular resume --accept-changes` goes on with what stands there now, "
            "--ignore-changes with what the run began with",
        )
    return answer
