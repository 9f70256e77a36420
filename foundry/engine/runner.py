"""Advance a run: ask the cursor what is due, do it, accept it, until the run ends or pauses."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import reduce
from typing import Any

from foundry.engine import summary
from foundry.engine.accept import Committed, accept
from foundry.engine.actions import act
from foundry.engine.deploy import Ask
from foundry.engine.desk import Desk
from foundry.engine.gates import Evidence
from foundry.engine.perform import Means, Performed, perform
from foundry.engine.recover import salvage
from foundry.engine.result import Result
from foundry.errors import ArtifactError, ModelRejected, ModelUnavailable
from foundry.model.base import Model
from foundry.sandbox.base import Sandbox
from foundry.schema.base import now
from foundry.schema.checks import CheckResult
from foundry.schema.events import AttemptFailed, Note, Observer, StepEnded, StepStarted
from foundry.schema.journal import Attempt, Entry, Intent, Spend, StepRecord, Stop
from foundry.schema.run import RunOptions, Status
from foundry.schema.workflow import Workflow
from foundry.store.artifacts import read_plan, to_json
from foundry.store.git import Repository
from foundry.store.ledger import Ledger
from foundry.store.patterns import Library
from foundry.store.project import EVIDENCE, FOLDER, SESSION_SUMMARY, Project
from foundry.workflow.cursor import Blocked, Cursor, Finished, Instruction, after, due

SUBJECT = 100
KEPT_DETAIL = 2_000
LONGEST_WISH = 90 * 24 * 3600.0
"""Seconds. A server that asks to wait longer does not mean it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended or paused, for now."""

    status: Status
    reason: str


@dataclass(frozen=True)
class Setting:
    """What stays the same while a process works on a run."""

    project: Project
    repository: Repository
    workflow: Workflow
    options: RunOptions
    model: Callable[[str], Model]
    sandbox: Sandbox
    library: Library
    observe: Observer
    ask: Ask
    ledger: Ledger
    deadline: float
    on_text: Callable[[str], None] | None = None


@dataclass
class Runner:
    """A run in progress. All that it knows stands in the journal: a new process knows the same."""

    setting: Setting
    journal: tuple[Entry, ...]
    cursor: Cursor = field(init=False)
    head: str = field(init=False)
    branch: str = field(init=False)

    def __post_init__(self) -> None:
        workflow = self.setting.workflow
        self.cursor = reduce(lambda c, e: after(workflow, c, e), self.journal, Cursor())
        self.head = self.setting.repository.head()
        self.branch = self.setting.repository.branch()

    def run(self) -> Ended:
        """Advance until the run ends or pauses, and journal how."""
        ended = None
        while ended is None:
            try:
                ended = self.advance()
            except ModelUnavailable as error:
                ended = Ended(Status.PAUSED, f"{error}{_not_before(error.retry_after, now())}")
            except (ModelRejected, ArtifactError) as error:
                ended = Ended(Status.FAILED, str(error))
        return self.stop(ended)

    def advance(self) -> Ended | None:
        """Do the step that is due; an Ended when there is none, or none may be done now."""
        match due(self.setting.workflow, self.cursor):
            case Finished():
                return Ended(*summary.final_status(self._facts()))
            case Blocked(instruction, reason):
                tries = instruction.attempt - 1
                return Ended(
                    Status.FAILED, f"{instruction.id} failed {tries} times: {_line(reason)}"
                )
            case Instruction() as instruction:
                if time.monotonic() >= self.setting.deadline:
                    return _pause("deadline", self.setting.options)
                return self._do(instruction)

    def stop(self, ended: Ended) -> Ended:
        """Take back partial work, write the summaries and journal the ending."""
        repository = self.setting.repository
        self._hold_head()
        kept = salvage(self.setting.project, repository, f"stopped-{len(self.journal)}")
        if kept:
            self.setting.observe(Note(f"partial work is kept in {kept}"))
        self._write_stop(ended)
        return ended

    def _write_stop(self, ended: Ended) -> None:
        facts, at = self._facts(), now()
        entry = Stop(
            **self._line_fields(),
            status=ended.status,
            reason=_line(ended.reason),
            message=f"chore(foundry): {ended.status}, {_line(ended.reason)}"[:SUBJECT],
        )
        summaries = {
            SESSION_SUMMARY: to_json(
                summary.session_summary(facts, ended.status, ended.reason, at)
            ),
            EVIDENCE: to_json(summary.evidence(facts, ended.status)),
        }
        self._accept(entry, summaries)

    # -- one step ----------------------------------------------------------------------------

    def _do(self, instruction: Instruction) -> Ended | None:
        desk = self._desk(instruction)
        self.setting.observe(
            StepStarted(
                step=instruction.id,
                phase=instruction.phase,
                title=_title(instruction),
                attempt=instruction.attempt,
                conversation=not instruction.step.action,
                number=instruction.number,
                total=instruction.total,
            )
        )
        ended = self._act(desk) if instruction.step.action else self._converse(desk)
        if ended is None and self._leaves(instruction.phase):
            return Ended(Status.PAUSED, f"asked to pause after {instruction.phase}")
        return ended

    def _converse(self, desk: Desk) -> Ended | None:
        setting, step = self.setting, desk.instruction.step
        means = Means(
            model=setting.model(step.role),
            limits=setting.options.limits,
            deadline=setting.deadline,
            ledger=setting.ledger,
            system=setting.workflow.system,
            hold_head=self._hold_head,
            on_text=setting.on_text,
        )
        done = perform(desk, means)
        outcome = done.outcome
        if outcome.reason in ("budget", "deadline"):
            return _pause(outcome.reason, setting.options)
        if outcome.submission is None:
            self._fail(desk, done)
            return None
        if not done.contract.edits:
            setting.repository.restore()
        result = done.contract.result(desk, outcome.submission, done.evidence)
        self._record(desk, result, done.evidence, outcome.spend, outcome.rejections)
        return None

    def _act(self, desk: Desk) -> Ended | None:
        begun = time.monotonic()
        acted = act(desk, lambda what: self._intend(desk, what), self.setting.ask)
        if acted is None:
            return Ended(Status.PAUSED, "a decision is needed: run `foundry resume` in a terminal")
        result, checks = acted
        spend = Spend(seconds=round(time.monotonic() - begun, 3), cost_usd=0.0)
        self._record(desk, result, Evidence((), checks), spend)
        return None

    def _record(
        self,
        desk: Desk,
        result: Result,
        evidence: Evidence,
        spend: Spend,
        rejections: tuple[str, ...] = (),
    ) -> None:
        instruction = desk.instruction
        self._hold_head()  # a check's command may have moved it
        if result.effect:
            result.effect()
        record = StepRecord(
            **self._line_fields(),
            step=instruction.id,
            phase=instruction.phase,
            attempt=instruction.attempt,
            summary=result.summary,
            patch=dict(result.patch),
            artifacts=tuple(result.artifacts),
            files=evidence.files,
            checks=tuple(_without_output(check) for check in evidence.checks),
            rejections=rejections,
            spend=spend,
            message="\n\n".join(part for part in (result.subject, result.body) if part),
        )
        sha = self._accept(record, dict(result.artifacts))
        self.setting.observe(
            StepEnded(
                step=instruction.id,
                phase=instruction.phase,
                title=_title(instruction),
                summary=_line(result.summary),
                commit=sha,
                seconds=spend.seconds,
                tokens=spend.usage.prompt_tokens + spend.usage.output_tokens,
                cost_usd=spend.cost_usd,
                context_share=spend.context_share,
                conversation=not instruction.step.action,
            )
        )

    def _fail(self, desk: Desk, done: Performed) -> None:
        """Journal an attempt that was not accepted; its work goes into a patch."""
        instruction, outcome, setting = desk.instruction, done.outcome, self.setting
        self._hold_head()
        kept = salvage(setting.project, setting.repository, instruction.id)
        entry = Attempt(
            **self._line_fields(),
            step=instruction.id,
            phase=instruction.phase,
            attempt=instruction.attempt,
            reason=outcome.reason,
            detail=outcome.detail[-KEPT_DETAIL:],
            salvage=kept,
            spend=outcome.spend,
            message=f"chore(foundry): attempt {instruction.attempt} at {instruction.id} failed",
        )
        self._accept(entry, {})
        setting.observe(
            AttemptFailed(
                instruction.id, instruction.attempt, outcome.reason, _line(outcome.detail), kept
            )
        )

    def _intend(self, desk: Desk, what: str) -> None:
        message = f"chore(foundry): about to {what}"[:SUBJECT]
        self._accept(
            Intent(**self._line_fields(), step=desk.instruction.id, what=what, message=message), {}
        )

    # -- the journal -------------------------------------------------------------------------

    def _accept(self, entry: Committed, artifacts: dict[str, str]) -> str:
        setting = self.setting
        entry, sha = accept(setting.project, setting.repository, entry, artifacts)
        self.journal = (*self.journal, entry)
        self.cursor = after(setting.workflow, self.cursor, entry)
        self.head = sha
        return sha

    def _line_fields(self) -> dict[str, Any]:
        return {"seq": len(self.journal) + 1, "at": now(), "run": self.setting.options.run}

    def _hold_head(self) -> None:
        """Take back commits and branch switches that a model's own commands made."""
        repository = self.setting.repository
        if repository.head() != self.head or repository.branch() != self.branch:
            repository.move_head(self.branch, self.head)
            repository.checkout(FOLDER)  # the artifacts went along

    def _leaves(self, phase: str) -> bool:
        """Whether a phase that the person wants to look at has just ended."""
        if phase not in self.setting.options.pause_after:
            return False
        coming = due(self.setting.workflow, replace(self.cursor, attempts=0))
        return isinstance(coming, Instruction) and coming.phase != phase

    def _desk(self, instruction: Instruction) -> Desk:
        setting = self.setting
        return Desk(
            project=setting.project,
            repository=setting.repository,
            sandbox=setting.sandbox,
            library=setting.library,
            instruction=instruction,
            journal=self.journal,
            observe=setting.observe,
        )

    def _facts(self) -> summary.Facts:
        setting = self.setting
        return summary.Facts(
            workflow=setting.workflow,
            journal=self.journal,
            cursor=self.cursor,
            plan=read_plan(setting.project),
            commits=setting.repository.commits(setting.options.run),
            branch=self.branch,
            spent_in_all=setting.ledger.total,
        )


def _pause(reason: str, options: RunOptions) -> Ended:
    limits = options.limits
    words = {
        "budget": f"the budget of ${limits.max_usd:g} is spent; "
        f"`foundry resume --max-usd {limits.max_usd * 2:g}` goes on",
        "deadline": f"the {limits.max_hours:g} hours of this invocation are over; "
        "`foundry resume` goes on",
    }
    return Ended(Status.PAUSED, words[reason])


def _not_before(retry_after: float | None, at: datetime) -> str:
    """The server's wish to wait as a time of day: who reads of the pause reads it hours later."""
    if retry_after is None or retry_after > LONGEST_WISH:
        return ""
    return f", not before {at + timedelta(seconds=retry_after):%Y-%m-%d %H:%M} UTC"


def _title(instruction: Instruction) -> str:
    task = instruction.context.get("task")
    if isinstance(task, dict) and instruction.step.contract == "builder":
        return str(task["title"])
    return instruction.step.title or instruction.id


def _without_output(check: CheckResult) -> CheckResult:
    """What passed needs no output in the journal, which every commit carries along."""
    return check.model_copy(update={"output": ""}) if check.holds else check


def _line(text: str) -> str:
    return " ".join(text.split())[:300]
