"""Advance a run: ask the cursor what is due, do it, accept it, until the run ends or pauses."""

import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from foundry.circular.parallel import side_by_side
from foundry.context.overview.document import refresh
from foundry.engine import records as lines
from foundry.engine import summary
from foundry.engine.actions import act
from foundry.engine.contracts import contract
from foundry.engine.deploy import REMOTE
from foundry.engine.perform import Means, Performed, perform
from foundry.engine.prompt_values import assignment
from foundry.engine.recover import salvage
from foundry.engine.result import Evidence, Result
from foundry.engine.run import Progress, Setting
from foundry.engine.step_context import StepContext
from foundry.errors import (
    ArtifactError,
    DecisionNeeded,
    ModelRejected,
    ModelUnavailable,
    WorkflowError,
)
from foundry.permission.approvals import unanswered
from foundry.schema.base import now
from foundry.schema.events import AttemptFailed, Note
from foundry.schema.journal import Entry, Spend
from foundry.schema.permission import Mode
from foundry.schema.run import Status
from foundry.store.artifacts import to_json
from foundry.store.project import EVIDENCE, SESSION_SUMMARY
from foundry.workflow.cursor import Blocked, Finished, Instruction, due

LONGEST_WISH = 90 * 24 * 3600.0
"""Seconds. A server that asks to wait longer does not mean it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended or paused, for now."""

    status: Status
    reason: str
    confirm: str = ""
    """The step that waits for a person's word."""


class Runner:
    """Works on a run, one step at a time."""

    def __init__(self, setting: Setting, journal: tuple[Entry, ...]) -> None:
        self.setting = setting
        self.progress = Progress(setting, journal)
        self._agreed = ""

    def run(self) -> Ended:
        """Advance until the run ends or pauses, and journal how."""
        ended = self._unanswered()
        while ended is None:
            try:
                ended = self.advance()
            except ModelUnavailable as error:
                ended = Ended(Status.PAUSED, f"{error}{_not_before(error.retry_after, now())}")
            except DecisionNeeded as error:
                ended = Ended(Status.PAUSED, str(error))
            except (ModelRejected, ArtifactError, WorkflowError) as error:
                ended = Ended(Status.FAILED, str(error))
        self.stop(ended)
        self._deliver_rest()
        return ended

    def _deliver_rest(self) -> None:
        """A deployed branch gets the commits that follow Deploy: feedback and summaries."""
        progress = self.progress
        if not progress.cursor.context.get("deployed"):
            return
        if error := self.setting.repository.push(REMOTE, progress.branch):
            self.setting.observe(Note(f"the last commits were not pushed: {error}"))

    def advance(self) -> Ended | None:
        """Do the step that is due; an Ended when there is none, or none may be done now."""
        match self.progress.due():
            case Finished():
                return Ended(*summary.final_status(self.progress.facts()))
            case Blocked() as blocked:
                return Ended(Status.FAILED, _why(blocked))
            case Instruction() as instruction:
                if time.monotonic() >= self.setting.deadline:
                    return self._pause("deadline")
                return (
                    self._unplanned(instruction)
                    or self._unconfirmed(instruction)
                    or self._do(instruction)
                )

    def stop(self, ended: Ended) -> Ended:
        """Take back partial work, write the summaries and journal the ending."""
        progress = self.progress
        progress.hold_head()
        kept = salvage(
            self.setting.project, self.setting.repository, f"stopped-{len(progress.journal)}"
        )
        if kept:
            self.setting.observe(Note(f"partial work is kept in {kept}"))
        if ended.status.over:
            refresh(self.setting.project.root)  # for the conversations of later builds
        facts = progress.facts()
        about = summary.session_summary(facts, ended.status, ended.reason, now())
        proof = summary.evidence(facts, ended.status)
        progress.accept(
            lines.stop(progress.line(), ended.status, ended.reason, ended.confirm),
            {SESSION_SUMMARY: to_json(about), EVIDENCE: to_json(proof)},
        )
        return ended

    def _unanswered(self) -> Ended | None:
        """A pause when a call of the last conversation still waits for a person's word."""
        waits = unanswered(self.setting.options.run, self.setting.approve)
        return Ended(Status.PAUSED, waits) if waits else None

    def _unplanned(self, instruction: Instruction) -> Ended | None:
        """A pause before the first step that does more than to plan, when that was all wanted."""
        step = instruction.step
        if self.setting.policy.mode is not Mode.PLAN:
            return None
        if not step.action and not contract(step.contract).edits:
            return None
        return Ended(
            Status.PAUSED,
            f"planned so far; {instruction.id} does more than to read: "
            "`foundry resume --permission auto` goes on",
        )

    def _unconfirmed(self, instruction: Instruction) -> Ended | None:
        """A pause when the step needs a person's word and nobody gave it yet."""
        needed = instruction.needs_confirmation and not self.setting.options.yes
        if not needed or self._agreed == instruction.id:
            return None
        what = f"{instruction.id} ({lines.title(instruction)})"
        if self.setting.ask(f"The workflow asks for your word before {what}. Begin it?"):
            self._agreed = instruction.id
            return None
        return Ended(
            Status.PAUSED,
            f"{what} asks for a confirmation before it begins; `foundry resume` gives it, and "
            "`foundry resume --yes` this one and all that follow",
            confirm=instruction.id,
        )

    def _do(self, instruction: Instruction) -> Ended | None:
        ctx = self.progress.step_context(instruction)
        self.setting.observe(lines.started(instruction))
        ended = self._act(ctx) if instruction.step.action else self._converse(ctx)
        if ended is None and self._leaves(instruction.phase):
            return Ended(Status.PAUSED, f"asked to pause after {instruction.phase}")
        return ended

    def _converse(self, ctx: StepContext) -> Ended | None:
        setting, step = self.setting, ctx.instruction.step
        means = Means(
            model=setting.model(step.role),
            limits=setting.options.limits,
            deadline=setting.deadline,
            ledger=setting.ledger,
            policy=setting.policy,
            approve=setting.approve,
            on_text=setting.on_text,
        )
        done = side_by_side(ctx, means) or perform(ctx, means)
        outcome = done.outcome
        paused = self._pause(outcome.reason) if outcome.reason in ("budget", "deadline") else None
        if outcome.submission is None and done.kept is None:
            if outcome.failure:
                raise outcome.failure
            if paused is None:
                self._fail(ctx, done)
            return paused
        if not done.contract.edits:
            setting.repository.restore()
        if outcome.submission is None:
            assert done.kept is not None
            result, evidence = done.kept
        else:
            evidence = done.evidence
            result = done.contract.result(ctx, outcome.submission, evidence)
        self._record(ctx, result, evidence, outcome.spend, outcome.rejections)
        if outcome.failure:
            raise outcome.failure
        return paused

    def _act(self, ctx: StepContext) -> Ended | None:
        begun = time.monotonic()
        acted = act(ctx, lambda what: self._intend(ctx, what), self.setting.ask)
        if acted is None:
            return Ended(Status.PAUSED, "a decision is needed: run `foundry resume` in a terminal")
        result, checks = acted
        if time.monotonic() >= self.setting.deadline and not all(c.holds for c in checks):
            return self._pause("deadline")  # what was stopped by it is no failure
        spend = Spend(seconds=round(time.monotonic() - begun, 3), cost_usd=0.0)
        self._record(ctx, result, Evidence((), checks), spend, ())
        return None

    def _record(
        self,
        ctx: StepContext,
        result: Result,
        evidence: Evidence,
        spend: Spend,
        rejections: tuple[str, ...],
    ) -> None:
        progress, instruction = self.progress, ctx.instruction
        progress.hold_head()  # a check's command may have moved it
        if result.effect:
            result.effect()
        line = progress.line()
        record = lines.step_record(line, instruction, result, evidence, spend, rejections)
        for decision in result.decisions:
            ctx.notebook.add("decision", decision)
        notes = progress.with_notes(ctx.notebook)
        sha = progress.accept(record, {**result.artifacts, **notes})
        ctx.memory.finished(record, assignment(ctx), ctx.notebook.settled)
        self.setting.observe(lines.ended(record, instruction, sha))
        if result.told:
            self.setting.observe(result.told(record))

    def _fail(self, ctx: StepContext, done: Performed) -> None:
        """Journal an attempt that was not accepted; its work goes into a patch."""
        progress, instruction, outcome = self.progress, ctx.instruction, done.outcome
        progress.hold_head()
        run, name = self.setting.options.run, _ref_name(instruction)
        kept = salvage(
            self.setting.project, self.setting.repository, instruction.id, f"{run}/{name}"
        )
        entry = lines.attempt(
            progress.line(), instruction, outcome.reason, outcome.detail, kept, outcome.spend
        )
        ctx.notebook.failed(entry)
        progress.accept(entry, progress.with_notes(ctx.notebook))
        ctx.memory.finished(entry, assignment(ctx), ctx.notebook.settled)
        why = lines.one_line(outcome.detail)
        self.setting.observe(
            AttemptFailed(instruction.id, instruction.attempt, outcome.reason, why, kept)
        )

    def _intend(self, ctx: StepContext, what: str) -> None:
        self.progress.accept(lines.intent(self.progress.line(), ctx.instruction, what), {})

    def _pause(self, reason: str) -> Ended:
        limits, spent = self.setting.options.limits, self.setting.ledger.total.usd
        words = {
            "budget": f"${spent:.2f} of ${limits.max_usd:g} are spent and another call could cost "
            f"more than is left; `foundry resume --max-usd {limits.max_usd * 2:g}` goes on",
            "deadline": f"the {limits.max_hours:g} hours of this invocation are over; "
            "`foundry resume` goes on",
        }
        return Ended(Status.PAUSED, words[reason])

    def _leaves(self, phase: str) -> bool:
        """Whether a phase that the person wants to look at has just ended."""
        if phase not in self.setting.options.pause_after:
            return False
        coming = due(self.setting.workflow, self.progress.cursor._replace(attempts=0))
        return isinstance(coming, Instruction) and coming.phase != phase


def _ref_name(instruction: Instruction) -> str:
    """Where the work of a failed attempt is kept: `iterations-2-work-attempt-1`."""
    step = instruction.id.replace("]", "").translate(str.maketrans("/[", "--"))
    return f"{step}-attempt-{instruction.attempt}"


def _why(blocked: Blocked) -> str:
    """Why a run can't go on, and what mends it."""
    if blocked.code == "attempts":
        return f"{blocked.step} failed {blocked.tries} times: {lines.one_line(blocked.reason)}"
    mend = "`foundry resume --set NAME=JSON` gives the run what is missing"
    return ". ".join(part for part in (blocked.reason, mend, blocked.hint) if part)


def _not_before(retry_after: float | None, at: datetime) -> str:
    """The server's wish to wait as a time of day: who reads of the pause reads it hours later."""
    if retry_after is None or retry_after > LONGEST_WISH:
        return ""
    return f", not before {at + timedelta(seconds=retry_after):%Y-%m-%d %H:%M} UTC"
