"""From what happened to the journal line and the event that tell of it. Pure."""

from collections.abc import Mapping
from typing import Any

from foundry.engine.step_kind import GateResult, Result
from foundry.schema.command import CheckResult
from foundry.schema.events import StepEnded, StepStarted
from foundry.schema.journal import Attempt, Intent, Spend, StepRecord, Stop
from foundry.schema.run import Status
from foundry.workflow.cursor import Instruction
from foundry.workflow.placeholders import fill

SUBJECT = 100
KEPT_DETAIL = 2_000

Line = Mapping[str, Any]
"""The fields that every journal line begins with."""


def step_record(
    line: Line,
    instruction: Instruction,
    result: Result,
    evidence: GateResult,
    spend: Spend,
    rejections: tuple[str, ...],
) -> StepRecord:
    """An accepted step."""
    return StepRecord(
        **line,
        step=instruction.id,
        phase=instruction.phase,
        attempt=instruction.attempt,
        summary=result.summary,
        patch=dict(result.patch),
        artifacts=tuple(result.artifacts),
        files=evidence.files,
        checks=tuple(_without_output(check) for check in evidence.checks),
        flags=evidence.flags,
        examination=evidence.examination,
        rejections=rejections,
        spend=spend,
        message=result.message,
    )


def attempt(
    line: Line, instruction: Instruction, reason: str, detail: str, salvage: str, spend: Spend
) -> Attempt:
    """A step that was tried and not accepted."""
    return Attempt(
        **line,
        step=instruction.id,
        phase=instruction.phase,
        attempt=instruction.attempt,
        reason=reason,
        detail=detail[-KEPT_DETAIL:],
        salvage=salvage,
        spend=spend,
        message=f"chore(foundry): attempt {instruction.attempt} at {instruction.id} failed",
    )


def intent(line: Line, instruction: Instruction, what: str) -> Intent:
    """Something that can't be undone is about to be done."""
    message = f"chore(foundry): about to {what}"[:SUBJECT]
    return Intent(**line, step=instruction.id, what=what, message=message)


def stop(line: Line, status: Status, reason: str, confirm: str = "") -> Stop:
    """A run's ending or pause."""
    words = one_line(reason)
    message = f"chore(foundry): {status}, {words}"[:SUBJECT]
    return Stop(**line, status=status, reason=words, confirm=confirm, message=message)


def started(instruction: Instruction) -> StepStarted:
    """A step begins."""
    return StepStarted(
        step=instruction.id,
        phase=instruction.phase,
        title=title(instruction),
        attempt=instruction.attempt,
        conversation=not instruction.step.action,
        number=instruction.number,
        total=instruction.total,
    )


def ended(record: StepRecord, instruction: Instruction, commit: str) -> StepEnded:
    """A step was accepted."""
    spend = record.spend
    return StepEnded(
        step=record.step,
        phase=record.phase,
        title=title(instruction),
        summary=one_line(record.summary),
        commit=commit,
        seconds=spend.seconds,
        tokens=spend.usage.context_tokens,
        cost_usd=spend.cost_usd,
        context_share=spend.context_share,
        conversation=not instruction.step.action,
        files=record.files,
    )


def title(instruction: Instruction) -> str:
    """A step in words, its variables filled in."""
    return one_line(fill(instruction.step.title, instruction.context).text)


def one_line(text: str) -> str:
    """Text for one line of a terminal or a commit."""
    return " ".join(text.split())[:300]


def _without_output(check: CheckResult) -> CheckResult:
    """What passed needs no output in the journal, which every commit carries along."""
    return check.model_copy(update={"output": ""}) if check.holds else check
