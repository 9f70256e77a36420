"""Advance a run: ask the cursor what is due, do it, accept it, until the run ends or pauses."""

import time
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from foundry.engine import lines, summary
from foundry.engine.actions import act
from foundry.engine.deploy import REMOTE
from foundry.engine.desk import Desk
from foundry.engine.perform import Means, Performed, perform
from foundry.engine.progress import Progress, Setting
from foundry.engine.recover import salvage
from foundry.engine.result import Evidence, Result
from foundry.errors import ArtifactError, ModelRejected, ModelUnavailable
from foundry.schema.base import now
from foundry.schema.events import AttemptFailed, Note
from foundry.schema.journal import Entry, Spend
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


class Runner:
    """Works on a run, one step at a time."""

    def __init__(self, setting: Setting, journal: tuple[Entry, ...]) -> None:
        self.setting = setting
        self.progress = Progress(setting, journal)

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
            case Blocked(instruction, reason):
                tries, why = instruction.attempt - 1, lines.one_line(reason)
                return Ended(Status.FAILED, f"{instruction.id} failed {tries} times: {why}")
            case Instruction() as instruction:
                if time.monotonic() >= self.setting.deadline:
                    return self._pause("deadline")
                return self._do(instruction)

    def stop(self, ended: Ended) -> Ended:
        """Take back partial work, write the summaries and journal the ending."""
        progress = self.progress
        progress.hold_head()
        kept = salvage(
            self.setting.project, self.setting.repository, f"stopped-{len(progress.journal)}"
        )
        if kept:
            self.setting.observe(Note(f"partial work is kept in {kept}"))
        facts = progress.facts()
        about = summary.session_summary(facts, ended.status, ended.reason, now())
        proof = summary.evidence(facts, ended.status)
        progress.accept(
            lines.stop(progress.line(), ended.status, ended.reason),
            {SESSION_SUMMARY: to_json(about), EVIDENCE: to_json(proof)},
        )
        return ended

    def _do(self, instruction: Instruction) -> Ended | None:
        desk = self.progress.desk(instruction)
        self.setting.observe(lines.started(instruction))
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
            on_text=setting.on_text,
        )
        done = perform(desk, means)
        outcome = done.outcome
        if outcome.reason in ("budget", "deadline"):
            return self._pause(outcome.reason)
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
        if time.monotonic() >= self.setting.deadline and not all(c.holds for c in checks):
            return self._pause("deadline")  # what was stopped by it is no failure
        spend = Spend(seconds=round(time.monotonic() - begun, 3), cost_usd=0.0)
        self._record(desk, result, Evidence((), checks), spend, ())
        return None

    def _record(
        self,
        desk: Desk,
        result: Result,
        evidence: Evidence,
        spend: Spend,
        rejections: tuple[str, ...],
    ) -> None:
        progress, instruction = self.progress, desk.instruction
        progress.hold_head()  # a check's command may have moved it
        if result.effect:
            result.effect()
        line = progress.line()
        record = lines.step_record(line, instruction, result, evidence, spend, rejections)
        sha = progress.accept(record, result.artifacts)
        self.setting.observe(lines.ended(record, instruction, sha))

    def _fail(self, desk: Desk, done: Performed) -> None:
        """Journal an attempt that was not accepted; its work goes into a patch."""
        progress, instruction, outcome = self.progress, desk.instruction, done.outcome
        progress.hold_head()
        kept = salvage(self.setting.project, self.setting.repository, instruction.id)
        entry = lines.attempt(
            progress.line(), instruction, outcome.reason, outcome.detail, kept, outcome.spend
        )
        progress.accept(entry, {})
        why = lines.one_line(outcome.detail)
        self.setting.observe(
            AttemptFailed(instruction.id, instruction.attempt, outcome.reason, why, kept)
        )

    def _intend(self, desk: Desk, what: str) -> None:
        self.progress.accept(lines.intent(self.progress.line(), desk.instruction, what), {})

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
        coming = due(self.setting.workflow, replace(self.progress.cursor, attempts=0))
        return isinstance(coming, Instruction) and coming.phase != phase


def _not_before(retry_after: float | None, at: datetime) -> str:
    """The server's wish to wait as a time of day: who reads of the pause reads it hours later."""
    if retry_after is None or retry_after > LONGEST_WISH:
        return ""
    return f", not before {at + timedelta(seconds=retry_after):%Y-%m-%d %H:%M} UTC"
