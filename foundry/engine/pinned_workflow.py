"""The workflow of a run: chosen when it begins, kept with it, and the same until it ends.

What is kept lies in the person's home, beside the run's options: a document that changes, or a
newer Foundry whose own workflows or defaults differ, does not change a run that is under way.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from foundry.engine.runnable import runnable_problems
from foundry.engine.step_kind import has_checks
from foundry.errors import JournalError, WorkflowError
from foundry.files import atomic_write
from foundry.schema.base import Document, Json, Value, first_problem
from foundry.schema.condition import Condition
from foundry.schema.criteria import Composition, Rule
from foundry.schema.journal import Start
from foundry.schema.workflow import Step, Workflow
from foundry.store import runs
from foundry.workflow.load import builtin, find, fingerprint, parse, read

CHECKS = "checks"
"""The action that a workflow gets which has none that runs the checks, and the step's id."""


@dataclass(frozen=True, slots=True)
class PinnedWorkflow:
    """A workflow, and where its own templates are; None for one that ships with Foundry."""

    workflow: Workflow
    folder: Path | None = None


class _Kept(Value):
    """workflow.json in a run's folder. `workflow` has every default written out."""

    version: Literal[1] = 1
    fingerprint: str
    folder: str
    workflow: dict[str, Json]


def choose(name: str = "") -> PinnedWorkflow:
    """The workflow of this name, or in this file; without one, the build that ships with Foundry.

    Raises WorkflowError with all its problems.
    """
    if not name:
        return PinnedWorkflow(builtin("build"))
    source = find(name)
    raw = read(source.path)
    workflow = parse(raw, str(source.path))
    folder = None if source.origin == "builtin" else source.path.parent.resolve()
    unresolved = Workflow.model_validate(raw)  # its paths are those of the file
    if problems := runnable_problems(unresolved, folder):
        told = "".join(f"\n  {each}" for each in problems)
        raise WorkflowError(f"{source.path} can't be run:{told}")
    return PinnedWorkflow(workflow, folder)


def keep(run: str, chosen: PinnedWorkflow) -> None:
    """Keep the workflow with the run's options."""
    kept = _Kept(
        fingerprint=fingerprint(chosen.workflow),
        folder=str(chosen.folder or ""),
        workflow=_plain(chosen.workflow),
    )
    atomic_write(_path(run), kept.model_dump_json(indent=2) + "\n")


def kept(start: Start) -> PinnedWorkflow:
    """The workflow that a run began with; raises JournalError when this home does not have it."""
    path = _path(start.run)
    try:
        found = _Kept.model_validate_json(path.read_text(encoding="utf-8"))
        workflow = Workflow.model_validate(found.workflow)
    except OSError:
        return _shipped(start, path)
    except ValidationError as error:
        field, reason = first_problem(error)
        raise JournalError(
            f"the run's workflow in {path} is damaged: {field}: {reason}",
            hint="Bring the file back, or start a new run",
        ) from error
    if found.fingerprint != start.workflow_hash:
        raise JournalError(
            f"{path} is not the workflow {start.workflow!r} that this run began with",
            hint="Bring the file back, or start a new run",
        )
    return PinnedWorkflow(workflow, Path(found.folder) if found.folder else None)


def _shipped(start: Start, path: Path) -> PinnedWorkflow:
    """What ships with Foundry, for a run of a version that kept no workflow."""
    try:
        workflow = builtin(start.workflow)
    except WorkflowError:
        workflow = None
    if workflow is None or fingerprint(workflow) != start.workflow_hash:
        raise JournalError(
            f"this home does not know the workflow {start.workflow!r} that the run began with: "
            f"there is no {path}",
            hint="Go on with the FOUNDRY_HOME (and the version of Foundry) that began it, or "
            "start a new run",
        )
    return PinnedWorkflow(workflow)


def _path(run: str) -> Path:
    return runs.folder(run) / "workflow.json"


def _plain(value: Any) -> Any:
    """A document as JSON with its defaults written out, but for those where saying nothing tells.

    A condition that says `equals: null` is another one than one that says nothing of `equals`.
    """
    match value:
        case Condition() | Rule() | Composition():
            return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
        case Document():
            fields = type(value).model_fields
            return {f.alias or name: _plain(getattr(value, name)) for name, f in fields.items()}
        case tuple():
            return [_plain(each) for each in value]
        case _:
            return value


def roles(workflow: Workflow) -> tuple[str, ...]:
    """Whose models answer, in the order in which they first do."""
    return tuple(dict.fromkeys(step.role for step in workflow.all_steps if not step.action))


def with_checks(workflow: Workflow) -> Workflow:
    """The workflow with a last step that runs the checks, unless it has one that does."""
    if has_checks(workflow):
        return workflow
    taken = {step.id for step in (*workflow.steps, *workflow.all_steps)}
    names = (f"{CHECKS}{number or ''}" for number in range(len(taken) + 1))
    last = Step(
        id=next(name for name in names if name not in taken),
        title="Run the checks",
        action=CHECKS,
        required=True,
    )
    return workflow.model_copy(update={"steps": (*workflow.steps, last)})
