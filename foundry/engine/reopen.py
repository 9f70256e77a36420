"""Take up a run that is on disk: end what a killed one left, recover, journal the resume."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from foundry.engine.accept import accept
from foundry.engine.pinned_workflow import PinnedWorkflow, kept
from foundry.engine.recover import Recovered, recover
from foundry.engine.scratch_worktree import cleared
from foundry.engine.step_kind import task_step, views_of
from foundry.engine.workspace import guarded, run_at
from foundry.errors import JournalError, ProjectError
from foundry.sandbox.orphans import reap_orphans
from foundry.schema.base import Json, now
from foundry.schema.events import Note, Observer
from foundry.schema.journal import Resume, Start, StepRecord, Stop
from foundry.schema.plan import Plan
from foundry.schema.run import RunOptions
from foundry.schema.workflow import Workflow
from foundry.store import runs
from foundry.store.artifacts import read_checks, read_plan
from foundry.store.git.repository import Repository
from foundry.store.project import FOLDER, TASKS, Project


@dataclass(frozen=True, slots=True)
class Found:
    """A run on disk, brought to a state from which it can go on."""

    project: Project
    repository: Repository
    recovered: Recovered
    options: RunOptions
    pinned: PinnedWorkflow


def reopen(
    project: Project, change: Callable[[RunOptions, Workflow], RunOptions], observe: Observer
) -> Found:
    """Bring a run on disk to a state from which it can go on.

    `change` adjusts the kept options, knowing the run's workflow. Raises ProjectError where this
    home does not know the run, JournalError where journal and repository don't hang together.
    """
    run = run_at(project.root)
    if reaped := reap_orphans(runs.running_command(run)):
        observe(Note(f"ended {reaped} process(es) that a killed build had left behind"))
    repository = guarded(project, run, observe)
    repository.identity()
    recovered = recover(project, repository, run)
    if recovered.finished:
        observe(Note(f"finished the commit of {recovered.finished}, which had been cut off"))
    for kept_in in cleared(project, repository, run):
        observe(Note(f"work beside the run's own is kept in {kept_in}"))
    if recovered.salvage:
        observe(Note(f"partial work of a cut-off step is kept in {recovered.salvage}"))
    pinned = _workflow(recovered)
    options = runs.load(run) or RunOptions(run=run, root="", model="")
    options = options.model_copy(update={"root": str(project.root)})  # it may have moved
    options = change(options, pinned.workflow)
    if not options.model:
        raise ProjectError(
            f"this home does not know the run {run}: its options are not in {runs.folder(run)}",
            hint="Give --model to go on with new ones",
        )
    return Found(project, repository, recovered, options, pinned)


def rebuilt(found: Found) -> tuple[str, ...]:
    """The artifacts that are rendered from the journal, and that say something else on disk."""
    views = views_of(found.pinned.workflow, found.recovered.entries)
    edited = found.recovered.edited
    return tuple(f"{FOLDER}/{name}" for name in views if f"{FOLDER}/{name}" in edited)


def taken_up(found: Found, given: Mapping[str, Json]) -> Found:
    """Journal that a person took the run up, with what they edited and the variables they give.

    After a crash there is nothing to journal, unless they give some.
    """
    recovered, project = found.recovered, found.project
    last = recovered.entries[-1]
    if not (isinstance(last, Stop) or given):
        return found
    plan = read_plan(project)
    read_checks(project)
    patch = dict(given)
    if plan and f"{FOLDER}/{TASKS}" in recovered.edited:
        patch["tasks"] = _tasks_of(plan, found)
    entry = Resume(
        seq=last.seq + 1,
        at=now(),
        run=last.run,
        changes=recovered.edited,
        patch=patch,
        message="chore(foundry): resumed" + (", with changes by hand" if recovered.edited else ""),
    )
    views = views_of(found.pinned.workflow, (*recovered.entries, entry))
    committed, _ = accept(project, found.repository, entry, views)
    return replace(found, recovered=Recovered((*recovered.entries, committed)))


def _tasks_of(plan: Plan, found: Found) -> list[dict[str, str]]:
    """The tasks of a plan that a person changed: what is built keeps its place, then the rest."""
    known: list[dict[str, str]] = []
    built = 0
    for entry in found.recovered.entries:
        if isinstance(entry, StepRecord | Resume):
            known = entry.patch.get("tasks", known)
            built += getattr(entry, "step", "") == task_step(found.pinned.workflow, built + 1)
    done = known[:built]
    ids = {task["id"] for task in done}
    rest = [task for task in plan.in_order() if task.id not in ids]
    return [*done, *({"id": task.id, "title": task.title} for task in rest)]


def _workflow(recovered: Recovered) -> PinnedWorkflow:
    start = recovered.entries[0]
    if not isinstance(start, Start):
        raise JournalError("the journal does not begin with the start of a run")
    return kept(start)
