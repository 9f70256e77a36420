"""Take up a run that is on disk: end what a killed one left, recover, journal the resume."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from foundry.engine.accept import accept
from foundry.engine.recover import Recovered, recover
from foundry.errors import JournalError, ProjectError
from foundry.sandbox.pidfile import reap_orphans
from foundry.schema.base import now
from foundry.schema.events import Note, Observer
from foundry.schema.journal import Entry, Resume, Start, StepRecord, Stop
from foundry.schema.plan import Plan
from foundry.schema.run import RunOptions
from foundry.schema.workflow import Workflow
from foundry.store import runs
from foundry.store.artifacts import read_checks, read_plan
from foundry.store.git import Repository
from foundry.store.project import FOLDER, TASKS, Project
from foundry.workflow.load import builtin, fingerprint


@dataclass(frozen=True, slots=True)
class Found:
    """A run on disk, brought to a state from which it can go on."""

    project: Project
    repository: Repository
    recovered: Recovered
    options: RunOptions


def reopen(
    project: Project, change: Callable[[RunOptions], RunOptions], observe: Observer
) -> Found:
    """Bring a run on disk to a state from which it can go on. `change` adjusts kept options."""
    if reaped := reap_orphans(project.running_command):
        observe(Note(f"ended {reaped} process(es) that a killed build had left behind"))
    repository = Repository(project.root)
    repository.identity()
    recovered = recover(project, repository)
    if recovered.finished:
        observe(Note(f"finished the commit of {recovered.finished}, which had been cut off"))
    if recovered.salvage:
        observe(Note(f"partial work of a cut-off step is kept in {recovered.salvage}"))
    run = recovered.entries[0].run
    options = change(runs.load(run) or RunOptions(run=run, root=str(project.root), model=""))
    if not options.model:
        raise ProjectError(
            f"this home does not know the run {run}: its options are not in {runs.folder(run)}",
            hint="Give --model to go on with new ones",
        )
    runs.save(options)
    return Found(project, repository, recovered, options)


def taken_up(found: Found) -> Found:
    """Journal that a person took the run up, with what they edited; nothing after a crash."""
    recovered, project = found.recovered, found.project
    last = recovered.entries[-1]
    if not isinstance(last, Stop):
        return found
    plan = read_plan(project)
    read_checks(project)
    patch: dict[str, Any] = {}
    if plan and f"{FOLDER}/{TASKS}" in recovered.edited:
        patch["tasks"] = _tasks_of(plan, recovered.entries)
    entry = Resume(
        seq=last.seq + 1,
        at=now(),
        run=last.run,
        changes=recovered.edited,
        patch=patch,
        message="chore(foundry): resumed" + (", with changes by hand" if recovered.edited else ""),
    )
    committed, _ = accept(project, found.repository, entry, {})
    entries = (*recovered.entries, committed)
    return Found(project, found.repository, Recovered(entries), found.options)


def _tasks_of(plan: Plan, entries: Sequence[Entry]) -> list[dict[str, str]]:
    """The tasks of a plan that a person changed: what is built keeps its place, then the rest."""
    known: list[dict[str, str]] = []
    built = 0
    for entry in entries:
        if isinstance(entry, StepRecord | Resume):
            known = entry.patch.get("tasks", known)
            built += getattr(entry, "phase", "") == "builder"
    done = known[:built]
    ids = {task["id"] for task in done}
    rest = [task for task in plan.in_order() if task.id not in ids]
    return [*done, *({"id": task.id, "title": task.title} for task in rest)]


def workflow_of(found: Found) -> Workflow:
    """The workflow that the run began with; raises JournalError when it has changed since."""
    start = found.recovered.entries[0]
    if not isinstance(start, Start):
        raise JournalError("the journal does not begin with the start of a run")
    workflow = builtin(start.workflow)
    if fingerprint(workflow) != start.workflow_hash:
        raise JournalError(
            f"the workflow {start.workflow!r} is not the one that this run began with",
            hint="Go on with the version of Foundry that began it, or start a new run",
        )
    return workflow
