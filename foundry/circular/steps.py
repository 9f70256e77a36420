"""What a thread of circular prompting hands in, and what is kept of one that hands in nothing.

A verdict is a claim: here it is written down. What it is worth is measured (`measure.py`) and
doubted by further threads before the run believes it.
"""

from typing import Any, TypeGuard

from pydantic import BaseModel

from foundry.circular.adaptation import doubt_setup, work_setup
from foundry.circular.history import ASSIGNMENT, MARK, last_mark, states_of
from foundry.circular.measure import iteration_ended, own_tree
from foundry.circular.metrics import work
from foundry.circular.prompt_versions import proposal_of
from foundry.circular.schema import (
    MESSAGE,
    IterationReason,
    Mark,
    RefiningSubmission,
    Report,
    Submission,
)
from foundry.circular.verdicts import error_line, error_of
from foundry.conversation.brief import Outcome
from foundry.engine import gates
from foundry.engine.result import Evidence, Result
from foundry.engine.step_context import StepContext
from foundry.schema.events import IterationEnded
from foundry.schema.journal import StepRecord

REASONS: dict[str, IterationReason] = {
    "restart": "threshold",
    "context_full": "threshold",
    "turns": "limit",
    "minutes": "limit",
    "budget": "limit",
    "deadline": "limit",
    "cut": "limit",
    "unavailable": "error",
    "not_submitted": "completion",
}
"""Endings without a submission whose work is kept, in the seed's words. Any other is a failure."""

SAID = 2_000
"""Characters of a thread's last words that the journal keeps."""


def work_gate(ctx: StepContext, submission: BaseModel) -> Evidence:
    """The verdict agrees with itself, and what was changed can be committed."""
    assert isinstance(submission, Submission)
    problems = _at_odds(submission)
    if problems:
        return Evidence(problems)
    return gates.committable(ctx)


def doubt_gate(_ctx: StepContext, submission: BaseModel) -> Evidence:
    """The verdict agrees with itself; a doubt changes nothing."""
    assert isinstance(submission, Submission)
    return Evidence(_at_odds(submission))


def work_result(ctx: StepContext, done: Submission, evidence: Evidence) -> Result:
    """The commit of an iteration whose thread submitted."""
    return worked(ctx, _report(ctx, "work", done), evidence)


def work_cut_short(ctx: StepContext, outcome: Outcome) -> tuple[Result, Evidence] | None:
    """The commit of an iteration that ended at its threshold, at a limit, or without a word."""
    report = _unsubmitted(ctx, "work", outcome)
    if report is None:
        return None
    evidence = gates.committable(ctx)
    return None if evidence.problems else (worked(ctx, report, evidence), evidence)


def doubt_result(ctx: StepContext, done: Submission, _evidence: Evidence) -> Result:
    """Whether the claim withstood this thread."""
    return _doubt(ctx, _report(ctx, "doubt", done))


def doubt_cut_short(ctx: StepContext, outcome: Outcome) -> tuple[Result, Evidence] | None:
    """A doubt that came to no verdict: the claim is not confirmed. One that the run itself cut off,
    for want of money, time or a server, is held again."""
    if outcome.reason in ("budget", "deadline", "unavailable"):
        return None
    report = _unsubmitted(ctx, "doubt", outcome)
    return None if report is None else (_doubt(ctx, report), Evidence())


def _at_odds(done: Submission) -> tuple[str, ...]:
    """Where a verdict and its lists contradict each other."""
    if done.verdict == "done" and (done.remaining or done.found):
        told = "; ".join((*done.remaining, *done.found))[:300]
        return (f"verdict is done, and yet there is something left: {told}",)
    if done.verdict == "more" and not (done.remaining or done.found):
        return ("verdict is more: name in `remaining` what is left, one entry each",)
    return ()


def _report(ctx: StepContext, kind: str, done: Submission) -> Report:
    new = proposal_of(done.better_prompt, done.better_because) if _refines(done) else None
    return Report.model_validate(
        {
            **done.model_dump(include=set(Submission.model_fields)),
            **_begun(ctx, kind),
            "ending": "submitted",
            "reason": "completion",
            "proposal": new,
        }
    )


def _refines(done: Submission) -> TypeGuard[RefiningSubmission]:
    return isinstance(done, RefiningSubmission)


def _begun(ctx: StepContext, kind: str) -> dict[str, Any]:
    """How the thread was set up, for its report."""
    setup = work_setup(ctx.journal) if kind == "work" else doubt_setup(ctx.journal)
    told = {"kind": kind, "threshold": ctx.instruction.step.budget.threshold}
    if setup is None:
        return told
    version = {"model": setup.model, "prompt_version": setup.version.number}
    return {**told, **version, "reasons": setup.reasons}


def _unsubmitted(ctx: StepContext, kind: str, outcome: Outcome) -> Report | None:
    """The report of a thread that handed in nothing; None when nothing of it can be kept."""
    if outcome.reason not in REASONS or not outcome.spend.turns:
        return None
    error = error_of(outcome.reason)
    said = outcome.said if outcome.reason == "not_submitted" else ""
    return Report.model_validate(
        {
            **_begun(ctx, kind),
            "ending": outcome.reason,
            "reason": REASONS[outcome.reason],
            "evidence": outcome.detail,
            "said": said[-SAID:],
            "errors": [error_line(error, outcome.detail)] if error else [],
        }
    )


def worked(ctx: StepContext, report: Report, evidence: Evidence) -> Result:
    """The commit of an iteration, with its report."""
    number = ctx.iteration
    template = (ctx.context.get(ASSIGNMENT) or {}).get("message", MESSAGE)
    subject = message(template, number, len(evidence.files), len(report.resolved))
    mark = Mark(number=number, report=report)
    return Result(
        subject,
        _summary(report),
        patch={MARK: mark.model_dump(mode="json", exclude_none=True),
               "unproven": f"iteration {number} is not verified"},
        body=_summary(report),
    )  # fmt: skip


def _doubt(ctx: StepContext, report: Report) -> Result:
    before = last_mark(ctx.journal)
    holds = _is_as_measured(ctx)
    agrees = report.verdict == "done" and holds
    agreed = before.agreed + 1 if agrees else 0
    needed = (ctx.context.get(ASSIGNMENT) or {}).get("confirmations", 1)
    over = agreed >= needed
    mark = Mark(number=before.number, claimed=agrees, agreed=agreed, over=over, report=report)
    left = "; ".join((*report.remaining, *report.found)) or report.ending.replace("_", " ")
    told = f"a doubting thread did not confirm that it is done: {left}"
    if agrees:
        told = f"{agreed} of {needed} doubting threads found nothing left"
    elif not holds:
        told = "what was measured is not what stands there now: somebody changed it since"
    return Result(
        f"test: doubt iteration {before.number}: {'nothing found' if agrees else 'not done'}",
        told,
        patch={MARK: mark.model_dump(mode="json", exclude_none=True),
               "unproven": "" if over else told[:600]},
        body=_summary(report),
        told=lambda record: _event(ctx, record),
    )  # fmt: skip


def _is_as_measured(ctx: StepContext) -> bool:
    """Whether nobody changed the project since its checks were run, as a person may in a pause."""
    return own_tree(ctx.repository) == work(states_of(ctx.journal))[-1].tree


def _event(ctx: StepContext, record: StepRecord) -> IterationEnded:
    states = states_of((*ctx.journal, record))
    return iteration_ended(record.step, states[-1], states)


def message(template: str, iteration: int, files: int, issues: int) -> str:
    """The subject of an iteration's commit by the seed's template: {iteration} {files} {issues}."""
    values = {"{iteration}": iteration, "{files}": files, "{issues}": issues}
    for name, value in values.items():
        template = template.replace(name, str(value))
    return template


def _summary(report: Report) -> str:
    """A report for those who come after."""
    how = report.verdict or report.ending.replace("_", " ")
    parts = [f"{how}: {report.evidence or report.said}"]
    for title, each in (
        ("resolved", report.resolved),
        ("found", report.found),
        ("remaining", report.remaining),
    ):
        parts += [f"- {title}: {text}" for text in each]
    return "\n".join(parts)
