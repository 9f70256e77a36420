"""Open a run, new or old, and work on it: what `foundry build` and `foundry resume` share."""

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from typing import Any

from foundry.config import home, resources
from foundry.context.overview.document import refresh
from foundry.engine import workspace
from foundry.engine.accept import begin
from foundry.engine.announce import banner, ending, notify
from foundry.engine.pinned_workflow import PinnedWorkflow, choose, keep, roles, with_checks
from foundry.engine.recover import Recovered, recover
from foundry.engine.reopen import Found, rebuilt, reopen, taken_up
from foundry.engine.run import Run
from foundry.engine.run_memory import RunMemory
from foundry.engine.runner import Ended, Runner
from foundry.engine.scratch_worktree import cleared
from foundry.engine.step_context import Ask
from foundry.errors import InputError
from foundry.files import atomic_write
from foundry.model.pool import ModelPool, usable
from foundry.model.retry import RetryNotice
from foundry.model.tokens import estimate
from foundry.permission.approvals import Approve, forget_question, nobody
from foundry.permission.policy import load_policy
from foundry.sandbox.base import SANDBOXES
from foundry.schema.base import Json, now
from foundry.schema.events import Given, Note, Observer, Waiting
from foundry.schema.journal import Entry, Start, Stop
from foundry.schema.messages import text_block
from foundry.schema.run import RunOptions, Status
from foundry.schema.variables import variable_problems
from foundry.schema.workflow import Workflow
from foundry.store import journal, runs, session_log
from foundry.store.ledger import Ledger
from foundry.store.lock import locked
from foundry.store.patterns.library import Library
from foundry.store.project import KEPT_BETWEEN_RUNS, Project
from foundry.store.session_log import SessionLog
from foundry.workflow.load import fingerprint


@dataclass(frozen=True, slots=True)
class RunObserver:
    """Who looks on: hears events and the model's words as they stream, and can be asked."""

    observe: Observer
    on_text: Callable[[str], None] | None = None
    ask: Ask = lambda _question: None
    approve: Approve = nobody


def build(
    options: RunOptions,
    observer: RunObserver,
    *,
    workflow: PinnedWorkflow | None = None,
    own: Mapping[str, Json] | None = None,
) -> Ended:
    """Start a run and work on it until it ends or pauses.

    `workflow` takes the place of the one that the options name; `own` are variables of the harness
    itself that the run begins with. Raises InputError, ProjectError and WorkflowError for what
    can't be begun, before anything is written.
    """
    spec = workspace.check_spec(options.spec)
    pinned = workflow or choose(options.workflow)
    if options.checks:
        pinned = replace(pinned, workflow=with_checks(pinned.workflow))
    check_phases(pinned.workflow, options.skip, options.pause_after)
    options = checked(options, pinned.workflow)
    check_variables(options.variables)
    at = now()
    run = workspace.new_run_id(at)
    folder = options.folder or workspace.default_folder(spec, Path.cwd())
    site = workspace.prepare(folder, run, options.identity, options.branch)
    project = site.project
    options = options.model_copy(update={"run": run, "root": str(project.root)})
    runs.save(options)
    keep(run, pinned)
    with locked(project):
        repository = workspace.guarded(project, run, observer.observe)
        _clear(project)
        if site.existing:
            refresh(project.root)
        context = {"existing": site.existing, "deploy": options.deploy}
        start = Start(
            seq=1,
            at=at,
            run=run,
            spec=spec,
            workflow=pinned.workflow.id,
            workflow_hash=fingerprint(pinned.workflow),
            context={**options.variables, **(own or {}), **context},
            skip=options.skip,
            base=site.base,
            branch=site.branch,
            checks=options.checks,
        )
        begin(project, repository, start)
        found = Found(project, repository, Recovered((start,)), options, pinned)
        return _work(found, observer, resumed=False)


def resume(
    folder: Path,
    change: Callable[[RunOptions], RunOptions],
    observer: RunObserver,
    given: Mapping[str, Json] | None = None,
    own: Callable[[tuple[Entry, ...]], Mapping[str, Json]] = lambda _entries: {},
) -> Ended:
    """Take a run up again where its journal ends.

    `change` adjusts the kept options; `given` are variables that the person sets. `own` says which
    of the harness are set with them, from the journal as it is once it was recovered. Raises
    ProjectError where there is no run, JournalError where what is on disk does not hang together.
    """
    project = workspace.find(folder)
    check_variables(given or {})

    def change_checked(kept: RunOptions, workflow: Workflow) -> RunOptions:
        options = change(kept)
        check_phases(workflow, (), options.pause_after)
        options = checked(options, workflow)
        if (options.permission, options.rules) != (kept.permission, kept.rules):
            forget_question(kept.run)
        return options

    with locked(project):
        found = reopen(project, change_checked, observer.observe)
        last = found.recovered.entries[-1]
        if isinstance(last, Stop) and last.status.over:
            observer.observe(Note("this run is over: there is nothing to go on with"))
            return _tell_again(found, observer, Ended(last.status, last.reason))
        for name in rebuilt(found):
            note = f"{name} was changed or damaged: it is rebuilt from the journal"
            observer.observe(Note(note))
        found = taken_up(found, {**(given or {}), **own(found.recovered.entries)})
        runs.save(found.options)
        return _work(found, observer, resumed=True)


def checked(options: RunOptions, workflow: Workflow) -> RunOptions:
    """Options that this machine can run with, its models' names as they are kept.

    Raises InputError for a role, a model or a rule, PluginError for a sandbox that does not exist.
    """
    known = roles(workflow)
    for role in options.models:
        if role.partition(":")[0] not in known:
            raise InputError(
                f"there is no role {role!r} for --model-for", hint=f"Roles are {', '.join(known)}"
            )
    load_policy(options.permission, options.rules)
    SANDBOXES.get(options.sandbox)
    url = options.base_url
    return options.model_copy(
        update={
            "model": usable(options.model, url) if options.model else "",
            "models": {role: usable(name, url) for role, name in options.models.items()},
        }
    )


def check_phases(workflow: Workflow, skip: tuple[str, ...], pause_after: tuple[str, ...]) -> None:
    """Raise InputError for a phase that does not exist or can't be skipped."""
    for phase in (*skip, *pause_after):
        if phase not in workflow.phases:
            known = ", ".join(workflow.phases)
            raise InputError(f"there is no phase {phase!r}", hint=f"The phases are {known}")
    required = {step.phase or step.id for step in workflow.steps if step.required}
    for phase in skip:
        if phase in required:
            raise InputError(f"the phase {phase!r} can't be skipped: later ones need its result")


def check_variables(context: Mapping[str, Json]) -> None:
    """Raise InputError for variables that a person may not set."""
    if problems := variable_problems(dict(context)):
        raise InputError(f"these variables can't be set: {'; '.join(problems)}")


def _work(found: Found, observer: RunObserver, *, resumed: bool) -> Ended:
    project, options, begun = found.project, found.options, time.monotonic()
    log_path = session_log.path_for(project.logs, now())
    one_at_a_time = RLock()  # conversations side by side tell of themselves one after the other
    with SessionLog(log_path) as log:

        def observe(event: Any) -> None:
            with one_at_a_time:
                log(event)
                observer.observe(event)

        def waiting(notice: RetryNotice) -> None:
            observe(Waiting(notice.reason, notice.wait, notice.attempt))

        patience = options.limits.max_hours * 3600 if options.patient else 0.0
        with ModelPool(options.base_url, on_retry=waiting, patience=patience) as pool:
            run = _run(found, pool, replace(observer, observe=observe))
            observe(banner(run, log_path, resumed=resumed))
            observe(_spec(found.recovered.entries))
            with run.memory as memory:
                memory.catch_up(found.recovered.entries)
                ended, run = _advance(run)
        last = ending(run, ended, time.monotonic() - begun)
        observe(last)
    notify(last, observer.observe)
    return ended


def _spec(entries: tuple[Entry, ...]) -> Given:
    """What was asked for."""
    spec = next(entry.spec for entry in entries if isinstance(entry, Start))
    return Given("", "", "spec", spec, estimate([text_block(spec)]))


def _run(found: Found, pool: ModelPool, observer: RunObserver) -> Run:
    project, options = found.project, found.options
    return Run(
        project=project,
        repository=found.repository,
        workflow=found.pinned.workflow,
        options=options,
        journal=found.recovered.entries,
        model=lambda role: pool.model(options.model_for(role)),
        sandbox=SANDBOXES.get(options.sandbox)(runs.running_command(options.run)),
        library=Library(home(), resources("patterns")),
        ledger=Ledger(runs.ledger_path(options.run)),
        memory=RunMemory(project, options.run, observer.observe),
        policy=load_policy(options.permission, options.rules),
        deadline=time.monotonic() + options.limits.max_hours * 3600,
        observe=observer.observe,
        ask=observer.ask,
        approve=observer.approve,
        on_text=observer.on_text,
        templates=found.pinned.folder,
    )


def _tell_again(found: Found, observer: RunObserver, ended: Ended) -> Ended:
    """Tell how a run ended that is over."""
    with ModelPool() as pool:
        observer.observe(ending(_run(found, pool, observer), ended, 0.0))
    return ended


def _advance(run: Run) -> tuple[Ended, Run]:
    """How the run ended or paused, and the run as it is then."""
    try:
        return Runner(run).work(), run
    except KeyboardInterrupt:
        # Whatever was cut off, the journal and HEAD tell; what memory holds may be ahead of them.
        recovered = recover(run.project, run.repository, run.options.run)
        for kept in cleared(run.project, run.repository, run.options.run):
            run.observe(Note(f"work beside the run's own is kept in {kept}"))
        run = replace(run, journal=recovered.entries)
        last = recovered.entries[-1]
        if isinstance(last, Stop):  # the run had ended: only the push of its last commits is cut
            return Ended(last.status, last.reason), run
        stopped = Ended(Status.INTERRUPTED, "stopped by Ctrl-C or a signal")
        return Runner(run).stop(stopped), run


def _clear(project: Project) -> None:
    """Make room for a run: earlier artifacts go to history, local files are never committed."""
    folder = project.folder
    folder.mkdir(exist_ok=True)
    atomic_write(folder / ".gitignore", "local/\n")
    entries = journal.read(project.journal)
    if not entries:
        project.journal.unlink(missing_ok=True)  # the torn line of a run that never began
        return
    old = [path for path in folder.iterdir() if path.name not in KEPT_BETWEEN_RUNS]
    history = folder / "history" / entries[0].run
    history.mkdir(parents=True, exist_ok=True)
    for path in old:
        shutil.move(path, history / path.name)
