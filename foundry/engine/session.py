"""Open a run, new or old, and work on it: what `foundry build` and `foundry resume` share."""

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import RLock
from typing import Any

from foundry.config import home, resources
from foundry.context.overview.document import refresh
from foundry.engine import workspace
from foundry.engine.accept import begin
from foundry.engine.announce import banner, ending
from foundry.engine.deploy import Ask
from foundry.engine.pinned_workflow import Chosen, choose, keep
from foundry.engine.recover import Recovered, recover
from foundry.engine.reopen import Found, rebuilt, reopen, taken_up
from foundry.engine.run import Setting
from foundry.engine.run_memory import Memories
from foundry.engine.runner import Ended, Runner
from foundry.engine.scratch_worktree import cleared
from foundry.engine.steps import roles, with_checks
from foundry.errors import InputError
from foundry.files import atomic_write
from foundry.model.pool import ModelPool
from foundry.model.retry import RetryNotice
from foundry.model.tokens import estimate
from foundry.permission.approvals import Approve, forget_question, nobody
from foundry.permission.policy import load_policy
from foundry.sandbox.process import ProcessSandbox
from foundry.schema.base import Json, now
from foundry.schema.events import Given, Note, Observer, Waiting
from foundry.schema.journal import Entry, Start, Stop
from foundry.schema.messages import text_block
from foundry.schema.permission import Mode, Rule
from foundry.schema.run import Limits, RunOptions, Status
from foundry.schema.work import variable_problems
from foundry.schema.workflow import Workflow
from foundry.store import journal, runs
from foundry.store import session_log as sessionlog
from foundry.store.ledger import Ledger
from foundry.store.lock import locked
from foundry.store.patterns.library import Library
from foundry.store.project import KEPT_BETWEEN_RUNS, Project
from foundry.store.session_log import SessionLog
from foundry.workflow.load import fingerprint


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asks for. `checks` are commands of their own that have to hold at the end."""

    spec: str
    folder: Path | None = None
    model: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    base_url: str = ""
    limits: Limits = field(default_factory=Limits)
    pause_after: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    deploy: bool = False
    yes: bool = False
    chosen: Chosen = field(default_factory=choose)
    context: Mapping[str, Json] = field(default_factory=dict)
    checks: tuple[str, ...] = ()
    permission: Mode | None = None
    rules: tuple[Rule, ...] = ()
    identity: tuple[str, str] | None = None
    own: Mapping[str, Json] = field(default_factory=dict)
    """Variables of the harness itself that the run begins with."""
    branch: str = ""
    """The branch to work on; without one it is named after the run."""
    patient: bool = False
    """Wait for a model's server as long as the run may take."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Who looks on: an observer, the model's words as they stream, and someone to ask."""

    observe: Observer
    on_text: Callable[[str], None] | None = None
    ask: Ask = lambda _question: None
    approve: Approve = nobody


def build(wish: Wish, watch: Watch) -> Ended:
    """Start a run and work on it until it ends or pauses."""
    chosen, spec = wish.chosen, workspace.check_spec(wish.spec)
    if wish.checks:
        chosen = replace(chosen, workflow=with_checks(chosen.workflow))
    workflow = chosen.workflow
    check_phases(workflow, wish.skip, wish.pause_after)
    check_roles(workflow, wish.models)
    check_variables(wish.context)
    load_policy(wish.permission, wish.rules)
    at = now()
    run = workspace.new_run_id(at)
    folder = wish.folder or workspace.default_folder(spec, Path.cwd())
    place = workspace.prepare(folder, run, wish.identity, wish.branch)
    project = place.project
    options = RunOptions(
        run=run,
        root=str(project.root),
        model=wish.model,
        models=dict(wish.models),
        base_url=wish.base_url,
        limits=wish.limits,
        pause_after=wish.pause_after,
        yes=wish.yes,
        permission=wish.permission,
        rules=wish.rules,
        patient=wish.patient,
    )
    runs.save(options)
    keep(run, chosen)
    with locked(project):
        repository = workspace.guarded(project, run, watch.observe)
        _clear(project)
        if place.existing:
            refresh(project.root)
        start = Start(
            seq=1,
            at=at,
            run=run,
            spec=spec,
            workflow=workflow.id,
            workflow_hash=fingerprint(workflow),
            context={**wish.context, **wish.own, "existing": place.existing, "deploy": wish.deploy},
            skip=wish.skip,
            base=place.base,
            branch=place.branch,
            checks=wish.checks,
        )
        begin(project, repository, start)
        found = Found(project, repository, Recovered((start,)), options, chosen)
        return _work(found, watch, resumed=False)


def resume(
    folder: Path,
    change: Callable[[RunOptions], RunOptions],
    watch: Watch,
    given: Mapping[str, Json] | None = None,
    own: Callable[[tuple[Entry, ...]], Mapping[str, Json]] = lambda _entries: {},
) -> Ended:
    """Take a run up again where its journal ends.

    `change` adjusts the kept options; `given` are variables that the person sets. `own` says which
    of the harness are set with them, from the journal as it is once it was recovered.
    """
    project = workspace.find(folder)
    check_variables(given or {})

    def checked(kept: RunOptions, workflow: Workflow) -> RunOptions:
        options = change(kept)
        check_phases(workflow, (), options.pause_after)
        check_roles(workflow, options.models)
        load_policy(options.permission, options.rules)
        if (options.permission, options.rules) != (kept.permission, kept.rules):
            forget_question(kept.run)
        return options

    with locked(project):
        found = reopen(project, checked, watch.observe)
        last = found.recovered.entries[-1]
        if isinstance(last, Stop) and last.status.over:
            watch.observe(Note("this run is over: there is nothing to go on with"))
            return _told_again(found, watch, Ended(last.status, last.reason))
        for name in rebuilt(found):
            watch.observe(Note(f"{name} was changed or damaged: it is rebuilt from the journal"))
        told = {**(given or {}), **own(found.recovered.entries)}
        found = taken_up(found, told)
        runs.save(found.options)
        return _work(found, watch, resumed=True)


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


def check_roles(workflow: Workflow, models: Mapping[str, str]) -> None:
    """Raise InputError for a role that no step of the workflow has."""
    known = roles(workflow)
    for role in models:
        if role.partition(":")[0] not in known:
            raise InputError(
                f"there is no role {role!r} for --model-for", hint=f"Roles are {', '.join(known)}"
            )


def check_variables(context: Mapping[str, Json]) -> None:
    """Raise InputError for variables that a person may not set."""
    if problems := variable_problems(dict(context)):
        raise InputError(f"these variables can't be set: {'; '.join(problems)}")


def _work(found: Found, watch: Watch, *, resumed: bool) -> Ended:
    project, options, begun = found.project, found.options, time.monotonic()
    log_path = sessionlog.path_for(project.logs, now())
    alone = RLock()  # conversations side by side tell of themselves one after the other
    with SessionLog(log_path) as log:

        def observe(event: Any) -> None:
            with alone:
                log(event)
                watch.observe(event)

        def waiting(notice: RetryNotice) -> None:
            observe(Waiting(notice.reason, notice.wait, notice.attempt))

        patience = options.limits.max_hours * 3600 if options.patient else 0.0
        with ModelPool(options.base_url, on_retry=waiting, patience=patience) as pool:
            setting = _setting(found, pool, replace(watch, observe=observe))
            observe(banner(setting, log_path, resumed=resumed))
            observe(_spec(found.recovered.entries))
            with setting.memory as memory:
                memory.catch_up(found.recovered.entries)
                ended, runner = _run(setting, found)
        observe(ending(runner, ended, time.monotonic() - begun))
    return ended


def _spec(entries: tuple[Entry, ...]) -> Given:
    """What was asked for."""
    spec = next(entry.spec for entry in entries if isinstance(entry, Start))
    return Given("", "", "spec", spec, estimate([text_block(spec)]))


def _setting(found: Found, pool: ModelPool, watch: Watch) -> Setting:
    project, options = found.project, found.options
    return Setting(
        project=project,
        repository=found.repository,
        workflow=found.chosen.workflow,
        options=options,
        model=lambda role: pool.model(options.model_for(role)),
        sandbox=ProcessSandbox(runs.running_command(options.run)),
        library=Library(home(), resources("patterns")),
        observe=watch.observe,
        ask=watch.ask,
        ledger=Ledger(runs.ledger_path(options.run)),
        memory=Memories(project, options.run, watch.observe),
        deadline=time.monotonic() + options.limits.max_hours * 3600,
        templates=found.chosen.folder,
        on_text=watch.on_text,
        policy=load_policy(options.permission, options.rules),
        approve=watch.approve,
    )


def _told_again(found: Found, watch: Watch, ended: Ended) -> Ended:
    """Tell how a run ended that is over."""
    with ModelPool() as pool:
        runner = Runner(_setting(found, pool, watch), found.recovered.entries)
        watch.observe(ending(runner, ended, 0.0))
    return ended


def _run(setting: Setting, found: Found) -> tuple[Ended, Runner]:
    runner = Runner(setting, found.recovered.entries)
    try:
        return runner.run(), runner
    except KeyboardInterrupt:
        # Whatever was cut off, the journal and HEAD tell; what memory holds may be ahead of them.
        recovered = recover(setting.project, setting.repository, setting.options.run)
        for kept in cleared(setting.project, setting.repository, setting.options.run):
            setting.observe(Note(f"work beside the run's own is kept in {kept}"))
        runner = Runner(setting, recovered.entries)
        last = recovered.entries[-1]
        if isinstance(last, Stop):  # the run had ended: only the push of its last commits is cut
            return Ended(last.status, last.reason), runner
        return runner.stop(Ended(Status.INTERRUPTED, "stopped by Ctrl-C or a signal")), runner


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
