"""Open a run, new or old, and work on it: what `foundry build` and `foundry resume` share."""

import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from foundry.config import home, resources
from foundry.engine import workspace
from foundry.engine.accept import accept, begin
from foundry.engine.deploy import Ask
from foundry.engine.recover import Recovered, recover
from foundry.engine.runner import Ended, Runner, Setting
from foundry.errors import InputError, JournalError, ProjectError
from foundry.files import atomic_write
from foundry.model.pool import ModelPool
from foundry.model.retry import RetryNotice
from foundry.sandbox.pidfile import reap_orphans
from foundry.sandbox.process import ProcessSandbox
from foundry.schema.base import now
from foundry.schema.events import Note, Observer, RunEnded, RunStarted, Waiting
from foundry.schema.journal import Entry, Resume, Start, StepRecord, Stop
from foundry.schema.plan import Plan
from foundry.schema.run import Limits, RunOptions, Status
from foundry.schema.workflow import Workflow
from foundry.store import journal, runs, sessionlog
from foundry.store.artifacts import read_checks, read_plan
from foundry.store.git import Repository
from foundry.store.ledger import Ledger
from foundry.store.patterns import Library
from foundry.store.project import (
    EDITABLE,
    FOLDER,
    KEPT_BETWEEN_RUNS,
    TASKS,
    Project,
)
from foundry.store.sessionlog import SessionLog
from foundry.workflow.load import builtin, fingerprint

OVER = (Status.VERIFIED, Status.UNVERIFIED)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asks for with `foundry build`."""

    spec: str
    folder: Path | None
    model: str
    models: Mapping[str, str]
    base_url: str
    limits: Limits
    pause_after: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    deploy: bool = False
    identity: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Watch:
    """Who looks on: an observer, the model's words as they stream, and someone to ask."""

    observe: Observer
    on_text: Callable[[str], None] | None = None
    ask: Ask = lambda _question: None
    on_place: Callable[[Project], None] = lambda _project: None


@dataclass(frozen=True, slots=True)
class _Found:
    """A run on disk, brought to a state from which it can go on."""

    project: Project
    repository: Repository
    recovered: Recovered
    options: RunOptions


def build(wish: Wish, watch: Watch) -> Ended:
    """Start a run and work on it until it ends or pauses."""
    workflow = builtin("build")
    spec = workspace.check_spec(wish.spec)
    check_phases(workflow, wish.skip, wish.pause_after)
    at = now()
    run = workspace.new_run_id(at)
    folder = wish.folder or workspace.default_folder(spec, Path.cwd())
    place = workspace.prepare(folder, run, wish.identity)
    project = place.project
    options = RunOptions(
        run=run,
        root=str(project.root),
        model=wish.model,
        models=dict(wish.models),
        base_url=wish.base_url,
        limits=wish.limits,
        pause_after=wish.pause_after,
    )
    runs.save(options)
    with locked(project):
        _clear(project, place.repository)
        start = Start(
            seq=1,
            at=at,
            run=run,
            spec=spec,
            workflow=workflow.id,
            workflow_hash=fingerprint(workflow),
            context={"existing": place.existing, "deploy": wish.deploy},
            skip=wish.skip,
            base=place.base,
            branch=place.branch,
        )
        begin(project, place.repository, start)
        found = _Found(project, place.repository, Recovered((start,)), options)
        return _work(found, workflow, watch, resumed=False)


def resume(folder: Path, change: Callable[[RunOptions], RunOptions], watch: Watch) -> Ended:
    """Take a run up again where its journal ends. `change` adjusts the kept options."""
    project = workspace.find(folder)
    with locked(project):
        found = _reopen(project, change, watch.observe)
        workflow = _workflow_of(found)
        last = found.recovered.entries[-1]
        if isinstance(last, Stop) and last.status in OVER and not found.recovered.edited:
            watch.observe(Note(f"this run is over: {last.status}, {last.reason}"))
            return Ended(last.status, last.reason)
        return _work(_taken_up(found), workflow, watch, resumed=True)


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


@contextmanager
def locked(project: Project) -> Iterator[None]:
    """Only one process works on a project; raises ProjectError when another one does."""
    project.local.mkdir(parents=True, exist_ok=True)
    lock = FileLock(project.local / "lock", timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise ProjectError(
            f"another foundry process is working on {project.root}",
            hint="Wait for it, or stop it with Ctrl-C; `foundry status` shows how far it is",
        ) from error
    try:
        yield
    finally:
        lock.release()


def _reopen(
    project: Project, change: Callable[[RunOptions], RunOptions], observe: Observer
) -> _Found:
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
    options = runs.load(run)
    if options is None:
        raise ProjectError(
            f"this home does not know the run {run}",
            hint=f"Its options are kept in {runs.folder(run)}; give --model to go on without them",
        )
    options = change(options)
    runs.save(options)
    return _Found(project, repository, recovered, options)


def _taken_up(found: _Found) -> _Found:
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
    return _Found(project, found.repository, Recovered(entries), found.options)


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


def _workflow_of(found: _Found) -> Workflow:
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


def _work(found: _Found, workflow: Workflow, watch: Watch, *, resumed: bool) -> Ended:
    project, options, begun = found.project, found.options, time.monotonic()
    watch.on_place(project)
    log_path = sessionlog.path_for(project.logs, now())
    with SessionLog(log_path) as log:

        def observe(event: Any) -> None:
            log(event)
            watch.observe(event)

        def waiting(notice: RetryNotice) -> None:
            observe(Waiting(notice.reason, notice.wait, notice.attempt))

        with ModelPool(options.base_url, on_retry=waiting) as pool:
            sandbox = ProcessSandbox(project.running_command)
            setting = Setting(
                project=project,
                repository=found.repository,
                workflow=workflow,
                options=options,
                model=lambda role: pool.model(options.model_for(role)),
                sandbox=sandbox,
                library=Library(home(), resources("patterns")),
                observe=observe,
                ask=watch.ask,
                ledger=Ledger(runs.ledger_path(options.run)),
                deadline=begun + options.limits.max_hours * 3600,
                on_text=watch.on_text,
            )
            observe(_banner(setting, log_path, resumed=resumed))
            ended, runner = _run(setting, found)
        observe(_ending(runner, ended, time.monotonic() - begun))
    return ended


def _run(setting: Setting, found: _Found) -> tuple[Ended, Runner]:
    runner = Runner(setting, found.recovered.entries)
    try:
        return runner.run(), runner
    except KeyboardInterrupt:
        # Whatever was cut off, the journal and HEAD tell; what memory holds may be ahead of them.
        recovered = recover(setting.project, setting.repository)
        runner = Runner(setting, recovered.entries)
        return runner.stop(Ended(Status.INTERRUPTED, "interrupted")), runner


def _clear(project: Project, repository: Repository) -> None:
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
    repository.stage_all()


def _banner(setting: Setting, log: Path, *, resumed: bool) -> RunStarted:
    options, root = setting.options, setting.project.root
    models = dict.fromkeys((options.model, *options.models.values()))
    return RunStarted(
        run=options.run,
        place=str(root),
        branch=setting.repository.branch(),
        model=", ".join(models),
        max_usd=options.limits.max_usd,
        max_hours=options.limits.max_hours,
        log=str(log),
        resume=f"foundry resume {shlex.quote(str(root))}",
        sandbox=setting.sandbox.level,
        resumed=resumed,
    )


def _ending(runner: Runner, ended: Ended, seconds: float) -> RunEnded:
    setting, spent = runner.setting, runner.setting.ledger.total
    run = setting.options.run
    return RunEnded(
        run=run,
        status=ended.status,
        reason=ended.reason,
        place=str(setting.project.root),
        branch=runner.branch,
        commits=len(setting.repository.commits(run)),
        cost_usd=None if spent.unpriced else spent.usd,
        tokens=spent.usage.prompt_tokens + spent.usage.output_tokens,
        seconds=seconds,
        exit_code=ended.status.exit_code,
        artifacts=tuple(name for name in EDITABLE if setting.project.artifact(name).exists()),
    )
