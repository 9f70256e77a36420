"""How a run stands, from its journal, ledger, lock and newest log. Reads, and changes nothing."""

import shlex
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from pydantic import Field

from foundry.engine.pinned_workflow import kept
from foundry.engine.records import title
from foundry.engine.summary import Facts, evidence, session_summary
from foundry.errors import ArtifactError, JournalError, ProjectError, WorkflowError
from foundry.report.narrate import Narrator
from foundry.report.replay import Logged, replay
from foundry.schema.base import Value, now
from foundry.schema.events import Stats
from foundry.schema.journal import Entry, Start, Stop
from foundry.schema.plan import Plan
from foundry.schema.run import Status
from foundry.schema.summary import (
    Evidence,
    PhaseSummary,
    ReflectionSummary,
    SessionSummary,
    TaskSummary,
    TestSummary,
)
from foundry.schema.workflow import Workflow
from foundry.store import journal, runs
from foundry.store import session_log as sessionlog
from foundry.store.artifacts import read_plan
from foundry.store.git.repository import Repository
from foundry.store.ledger import Ledger
from foundry.store.lock import holder, is_locked
from foundry.store.project import Project
from foundry.workflow.cursor import Cursor, Instruction, after, due
from foundry.workflow.load import builtin

TAIL = 200_000
"""Bytes of the newest log that are read: more than any step's last words."""

KILLED = "the process that worked on it is gone; no accepted step is lost"

PhaseState = Literal["done", "running", "begun", "pending", "skipped"]


class PhaseStatus(Value):
    """A phase; `begun` has accepted steps but nobody works on it now."""

    phase: str
    state: PhaseState
    steps: int
    failed_attempts: int
    seconds: float
    tokens: int
    cost_usd: float | None


class StatusReport(Value):
    """`foundry status --json`. Seconds, US dollars; `version` changes with the fields."""

    version: Literal[1] = 1
    run: str
    spec: str = Field(description="its first line")
    status: Status
    reason: str
    pid: int | None = Field(description="the process at work, where one is and may be known")
    place: str
    branch: str
    started_at: datetime
    elapsed_seconds: float = Field(description="from the start to the last sign of life")
    active_seconds: float = Field(description="time in accepted and failed steps")
    due: str = Field(description="the step that is at work or comes next")
    last_activity: str
    last_activity_at: datetime
    phases: tuple[PhaseStatus, ...]
    tasks: tuple[TaskSummary, ...]
    tests: TestSummary
    proof: str = Field(description="the figures of the verdict in one line")
    flags: tuple[str, ...] = Field(description="what to know before trusting the result")
    commits: int
    tokens: int
    cost_usd: float | None
    reflection: ReflectionSummary = Field(description="what thinking in rounds used of that")
    peak_context_share: float
    warnings: tuple[str, ...]
    log: str
    resume: str = Field(description="the command that goes on with it, empty when it is over")


def status_of(project: Project) -> StatusReport:
    """The state of the run in a project; raises ProjectError when there is none."""
    run = _read(project)
    return _report(project, run, run.summary())


def summaries_of(project: Project) -> tuple[SessionSummary, Evidence]:
    """What session-summary.json and evidence.json would hold if the run ended now.

    Raises ProjectError when there is no run, ArtifactError when tasks.json is not valid.
    """
    run = _read(project)
    facts = replace(run.facts, plan=read_plan(project))
    return run.summary(), evidence(facts, run.status)


@dataclass(frozen=True)
class _Run:
    """A run as it was found."""

    facts: Facts
    status: Status
    reason: str
    held: bool
    """Whether a process works on it."""
    complaints: tuple[str, ...]

    def summary(self) -> SessionSummary:
        return session_summary(self.facts, self.status, self.reason, self.facts.journal[-1].at)


def _read(project: Project) -> _Run:
    entries = journal.read(project.journal)
    if not entries or not isinstance(entries[0], Start):
        raise ProjectError(
            f"the run in {project.root} never began", hint='Start one with `foundry build "..."`'
        )
    held = is_locked(project)
    status, reason = _standing(entries[-1], held=held)
    workflow, complaints = _workflow(entries[0])
    cursor, unexplained = _fold(workflow, entries)
    repository = Repository(project.root)
    facts = Facts(
        workflow=workflow,
        journal=entries,
        cursor=cursor,
        plan=_plan(project),
        commits=repository.commits(entries[0].run),
        branch=repository.branch(),
        spent_in_all=Ledger(runs.ledger_path(entries[0].run)).total,
    )
    return _Run(facts, status, reason, held, (*complaints, *unexplained))


def _plan(project: Project) -> Plan | None:
    """The plan, as far as it can be read: a person may be at it."""
    try:
        return read_plan(project)
    except ArtifactError:
        return None


def _workflow(start: Start) -> tuple[Workflow, tuple[str, ...]]:
    """The run's workflow; where this home lost it, the shipped one of its name and a complaint."""
    try:
        return kept(start).workflow, ()
    except JournalError as error:
        try:
            return builtin(start.workflow), (str(error),)
        except WorkflowError:
            raise error from None


def _report(project: Project, run: _Run, summary: SessionSummary) -> StatusReport:
    facts, held = run.facts, run.held
    log = sessionlog.newest(project.logs)
    logged = _last_words(project)
    coming = due(facts.workflow, facts.cursor)
    instruction = coming if isinstance(coming, Instruction) else None
    last = max([facts.journal[-1].at, *(each.at for each in logged[-1:])])
    root = str(project.root)
    return StatusReport(
        run=summary.run,
        spec=next((line.strip() for line in summary.spec.splitlines() if line.strip()), ""),
        status=summary.status,
        reason=summary.reason,
        pid=holder(project) if held else None,
        place=root,
        branch=summary.branch,
        started_at=summary.started_at,
        elapsed_seconds=round(((now() if held else last) - summary.started_at).total_seconds(), 3),
        active_seconds=summary.active_seconds,
        due=_title(instruction) if instruction and not summary.status.over else "",
        last_activity=_activity(logged, facts.journal[-1]),
        last_activity_at=last,
        phases=tuple(
            _phase(phase, instruction.phase if instruction else "", held=held)
            for phase in summary.phases
        ),
        tasks=summary.tasks,
        tests=summary.tests,
        proof=summary.proof,
        flags=summary.flags,
        commits=len(summary.commits),
        tokens=summary.tokens.context_tokens,
        cost_usd=summary.cost_usd,
        reflection=summary.reflection,
        peak_context_share=summary.peak_context_share,
        warnings=(*summary.warnings, *run.complaints),
        log=str(log) if log else "",
        resume="" if held or summary.status.over else f"foundry resume {shlex.quote(root)}",
    )


def _standing(last: Entry, *, held: bool) -> tuple[Status, str]:
    """A lock says that somebody works; without one, only a Stop line ends a run on purpose."""
    if held:
        return Status.RUNNING, "a process is working on it"
    if isinstance(last, Stop):
        return last.status, last.reason
    return Status.INTERRUPTED, KILLED


def _fold(workflow: Workflow, entries: tuple[Entry, ...]) -> tuple[Cursor, tuple[str, ...]]:
    """The cursor as far as this version's workflow explains the journal."""
    cursor = Cursor()
    for entry in entries:
        try:
            cursor = after(workflow, cursor, entry)
        except JournalError as error:
            return cursor, (str(error),)
    return cursor, ()


def _phase(phase: PhaseSummary, at_work: str, *, held: bool) -> PhaseStatus:
    state: PhaseState = phase.state
    if phase.phase == at_work and state == "pending":
        state = "running" if held else "begun" if phase.steps else "pending"
    return PhaseStatus(**{**phase.model_dump(), "state": state})


def _title(instruction: Instruction) -> str:
    number = f" {instruction.number}" if instruction.number else ""
    of = f"/{instruction.total}" if instruction.total else ""
    return f"{instruction.phase}{number}{of}: {title(instruction)}"


def _last_words(project: Project) -> list[Logged]:
    """The last events of the newest log."""
    log = sessionlog.newest(project.logs)
    if log is None:
        return []
    with log.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - TAIL))
        text = file.read().decode("utf-8", errors="replace")
    return list(replay(text.split("\n")))


def _activity(logged: list[Logged], last: Entry) -> str:
    """The last thing that happened, in the words of the log."""
    narrator, last_line = Narrator(detail="all"), ""
    for each in logged:
        lines = [line for line in narrator.tell(each.event) if line.text]
        if lines and not isinstance(each.event, Stats):
            first = lines[0]
            last_line = f"{first.label}: {first.text}" if first.label else first.text
    return last_line or f"{last.kind} {getattr(last, 'step', '')}".strip()
