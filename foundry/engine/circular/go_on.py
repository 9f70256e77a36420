"""Take a circular run up again: what a person changed since is noticed, and asked about."""

from collections.abc import Callable, Mapping
from pathlib import Path

from foundry.engine import session
from foundry.engine.circular.assign import changed_since, taken_anew
from foundry.engine.circular.handover import hand_over
from foundry.engine.circular.history import ASSIGNMENT, assignment_of
from foundry.engine.runner import Ended
from foundry.engine.session import Watch
from foundry.engine.workspace import find
from foundry.errors import InputError
from foundry.schema.base import Json
from foundry.schema.run import RunOptions
from foundry.store import journal


def resumed(
    folder: Path,
    change: Callable[[RunOptions], RunOptions],
    watch: Watch,
    given: Mapping[str, Json],
    *,
    accept: bool | None = None,
    models: tuple[str, ...] = (),
) -> Ended:
    """Go on after the last saved iteration.

    `accept` decides about a prompt or base context whose file says something else now; None asks.
    Raises InputError when nobody is there to ask. `models`, if any, replace those that the run
    began with; how it adapts otherwise stays.
    """
    project = find(folder)
    assignment = assignment_of(journal.read(project.journal))
    if assignment is None:
        raise InputError(
            f"the newest run in {folder} is not one of `foundry circular`",
            hint="`foundry resume` goes on with it",
        )
    anew = assignment
    changed = changed_since(assignment)
    if changed and _accepted(changed, accept, watch):
        anew = taken_anew(assignment)
    if models:
        several = models if len(models) > 1 else ()
        settings = anew.settings.model_copy(update={"models": several})
        anew = anew.model_copy(update={"settings": settings})
    own: dict[str, Json] = {}
    if anew != assignment:
        own = {ASSIGNMENT: anew.model_dump(mode="json", exclude_none=True)}
    ended = session.resume(folder, change, watch, given, own)
    hand_over(folder, ended, watch)
    return ended


def _accepted(changed: tuple[str, ...], accept: bool | None, watch: Watch) -> bool:
    if accept is not None:
        return accept
    what = f"{' and '.join(changed)} changed since the run began"
    answer = watch.ask(f"{what}. Go on with what stands there now? (no: with what it began with)")
    if answer is None:
        raise InputError(
            what,
            hint="--accept-changes goes on with what stands there now, --ignore-changes with "
            "what the run began with",
        )
    return answer
