"""Advance a run: ask the cursor what is due, do it, accept it, until the run ends or pauses."""

import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from foundry.context.overview.document import refresh
from foundry.conversation.brief import Outcome
from foundry.engine import records, summary
from foundry.engine.perform import perform
from foundry.engine.prompt_values import assignment
from foundry.engine.receipt import receipt
from foundry.engine.recover import salvage
from foundry.engine.run import Run
from foundry.engine.step_context import StepContext
from foundry.engine.step_kind import GateResult, Result, action_of, kind_of
from foundry.engine.verdict import verdict
from foundry.errors import (
    ArtifactError,
    DecisionNeeded,
    ModelRejected,
    ModelUnavailable,
    PluginError,
    WorkflowError,
)
from foundry.permission.approvals import unanswered
from foundry.schema.base import now
from foundry.schema.events import AttemptFailed, Note
from foundry.schema.journal import Spend, step_slug
from foundry.schema.permission import Mode
from foundry.schema.run import Status
from foundry.store.artifacts import read_plan, to_json
from foundry.store.git.repository import REMOTE
from foundry.store.project import SESSION_SUMMARY
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

    def __init__(self, run: Run) -> None:
        self.run = run
        self._agreed = ""

    def work(self) -> Ended:
        """Advance until the run ends or pauses, and journal how."""
        ended = self._unanswered()
        while ended is None:
            try:
                ended = self.advance()
            except ModelUnavailable as error:
                ended = Ended(Status.PAUSED, f"{error}{_not_before(error.retry_after, now())}")
            except DecisionNeeded as error:
                ended = Ended(Status.PAUSED, str(error))
            except (ModelRejected, ArtifactError, WorkflowError, PluginError) as error:
                ended = Ended(Status.FAILED, str(error))
        self.stop(ended)
        self._deliver_rest()
        return ended

    def _deliver_rest(self) -> None:
        """A deployed branch gets the commits that follow Deploy: feedback and summaries."""
        run = self.run
        if not run.cursor.context.get("deployed"):
            return
        if error := run.repository.push(REMOTE, run.branch):
            run.observe(Note(f"the last commits were not pushed: {error}"))

    def advance(self) -> Ended | None:
        """Do the step that is due; an Ended when there is none, or none may be done now."""
        run = self.run
        match run.due():
            case Finished():
                plan = read_plan(run.project)
                return Ended(*verdict(run.workflow, run.journal, run.cursor.warnings, plan))
            case Blocked() as blocked:
                return Ended(Status.FAILED, _why(blocked))
            case Instruction() as instruction:
                if time.monotonic() >= run.deadline:
                    return self._pause("deadline")
                return (
                    self._unplanned(instruction)
                    or self._unconfirmed(instruction)
                    or self._do(instruction)
                )

    def stop(self, ended: Ended) -> Ended:
        """Take back partial work, write the summaries and journal the ending."""
        run = self.run
        run.hold_head()
        if kept := salvage(run.project, run.repository, f"stopped-{len(run.journal)}"):
            run.observe(Note(f"partial work is kept in {kept}"))
        if ended.status.over:
            refresh(run.project.root)  # for the conversations of later builds
        facts = run.facts()
        about = summary.session_summary(facts, ended.status, ended.reason, now())
        run.accept(
            records.stop(run.line(), ended.status, ended.reason, ended.confirm),
            {SESSION_SUMMARY: to_json(about), **receipt(run, ended.status)},
        )
        return ended

    def _unanswered(self) -> Ended | None:
        """A pause when a call of the last conversation still waits for a person's word."""
        waits = unanswered(self.run.options.run, self.run.approve)
        return Ended(Status.PAUSED, waits) if waits else None

    def _unplanned(self, instruction: Instruction) -> Ended | None:
        """A pause before the first step that does more than to plan, when that was all wanted."""
        step = instruction.step
        if self.run.policy.mode is not Mode.PLAN:
            return None
        if not step.action and not kind_of(step).edits:
            return None
        return Ended(
            Status.PAUSED,
            f"planned so far; {instruction.id} does more than to read: "
            "`foundry resume --permission auto` goes on",
        )

    def _unconfirmed(self, instruction: Instruction) -> Ended | None:
        """A pause when the step needs a person's word and nobody gave it yet."""
        needed = instruction.needs_confirmation and not self.run.options.yes
        if not needed or self._agreed == instruction.id:
            return None
        what = f"{instruction.id} ({records.title(instruction)})"
        if self.run.ask(f"The workflow asks for your word before {what}. Begin it?"):
            self._agreed = instruction.id
            return None
        return Ended(
            Status.PAUSED,
            f"{what} asks for a confirmation before it begins; `foundry resume` gives it, and "
            "`foundry resume --yes` this one and all that follow",
            confirm=instruction.id,
        )

    def _do(self, instruction: Instruction) -> Ended | None:
        ctx = self.run.step_context(instruction)
        self.run.observe(records.started(instruction))
        ended = self._act(ctx) if instruction.step.action else self._converse(ctx)
        if ended is None and self._leaves(instruction.phase):
            return Ended(Status.PAUSED, f"asked to pause after {instruction.phase}")
        return ended

    def _converse(self, ctx: StepContext) -> Ended | None:
        kind = kind_of(ctx.instruction.step)
        done = (kind.hold(ctx) if kind.hold else None) or perform(ctx)
        outcome = done.outcome
        paused = self._pause(outcome.reason) if outcome.reason in ("budget", "deadline") else None
        if outcome.submission is None and done.kept is None:
            if outcome.failure:
                raise outcome.failure
            if paused is None:
                self._fail(ctx, outcome)
            return paused
        if not kind.edits:
            ctx.repository.restore()
        if outcome.submission is None:
            assert done.kept is not None
            result, evidence = done.kept
        else:
            evidence = done.evidence
            result = kind.result(ctx, outcome.submission, evidence)
        self._record(ctx, result, evidence, outcome.spend, outcome.rejections)
        if outcome.failure:
            raise outcome.failure
        return paused

    def _act(self, ctx: StepContext) -> Ended | None:
        begun = time.monotonic()
        acted = action_of(ctx.instruction.step).act(ctx)
        if acted is None:
            return Ended(Status.PAUSED, "a decision is needed: run `foundry resume` in a terminal")
        result, evidence = acted
        if time.monotonic() >= self.run.deadline and not all(c.holds for c in evidence.checks):
            return self._pause("deadline")  # what was stopped by it is no failure
        spend = Spend(seconds=round(time.monotonic() - begun, 3), cost_usd=0.0)
        self._record(ctx, result, evidence, spend, ())
        return None

    def _record(
        self,
        ctx: StepContext,
        result: Result,
        evidence: GateResult,
        spend: Spend,
        rejections: tuple[str, ...],
    ) -> None:
        run, instruction = self.run, ctx.instruction
        run.hold_head()  # a check's command may have moved it
        if result.effect:
            result.effect()
        record = records.step_record(run.line(), instruction, result, evidence, spend, rejections)
        for decision in result.decisions:
            ctx.notebook.add("decision", decision)
        sha = run.accept(record, {**result.artifacts, **run.with_notes(ctx.notebook)})
        ctx.memory.finished(record, assignment(ctx), ctx.notebook.settled)
        run.observe(records.ended(record, instruction, sha))
        if result.event:
            run.observe(result.event(record))

    def _fail(self, ctx: StepContext, outcome: Outcome) -> None:
        """Journal an attempt that was not accepted; its work goes into a patch."""
        run, instruction = self.run, ctx.instruction
        run.hold_head()
        pin = f"{run.options.run}/{step_slug(instruction.id)}-attempt-{instruction.attempt}"
        kept = salvage(run.project, run.repository, instruction.id, pin)
        entry = records.attempt(
            run.line(), instruction, outcome.reason, outcome.detail, kept, outcome.spend
        )
        ctx.notebook.failed(entry)
        run.accept(entry, run.with_notes(ctx.notebook))
        ctx.memory.finished(entry, assignment(ctx), ctx.notebook.settled)
        why = records.one_line(outcome.detail)
        run.observe(AttemptFailed(instruction.id, instruction.attempt, outcome.reason, why, kept))

    def _pause(self, reason: str) -> Ended:
        limits, spent = self.run.options.limits, self.run.ledger.total.usd
        words = {
            "budget": f"${spent:.2f} of ${limits.max_usd:g} are spent and another call could cost "
            f"more than is left; `foundry resume --max-usd {limits.max_usd * 2:g}` goes on",
            "deadline": f"the {limits.max_hours:g} hours of this invocation are over; "
            "`foundry resume` goes on",
        }
        return Ended(Status.PAUSED, words[reason])

    def _leaves(self, phase: str) -> bool:
        """Whether a phase that the person wants to look at has just ended."""
        if phase not in self.run.options.pause_after:
            return False
        coming = due(self.run.workflow, self.run.cursor._replace(attempts=0))
        return isinstance(coming, Instruction) and coming.phase != phase


def _why(blocked: Blocked) -> str:
    """Why a run can't go on, and what mends it."""
    if blocked.code == "attempts":
        return f"{blocked.step} failed {blocked.tries} times: {records.one_line(blocked.reason)}"
    mend = "`foundry resume --set NAME=JSON` gives the run what is missing"
    return ". ".join(part for part in (blocked.reason, mend, blocked.hint) if part)


def _not_before(retry_after: float | None, at: datetime) -> str:
    """The server's wish to wait as a time of day: who reads of the pause reads it hours later."""
    if retry_after is None or retry_after > LONGEST_WISH:
        return ""
    return f", not before {at + timedelta(seconds=retry_after):%Y-%m-%d %H:%M} UTC"
