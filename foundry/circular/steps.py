"""The kinds of step that circular prompting brings: found through Foundry's own entry points.

A thread that works, the same where it may propose another wording of the prompt, and one that
doubts that it is done; between them the action that measures what an iteration came to.

What a thread hands in is a claim, and here it is only written down, as is what is kept of a thread
that hands in nothing. What it is worth is measured (measure.py) and doubted by further threads
before the run believes it.
"""

from dataclasses import replace
from typing import Any

from foundry.circular.adaptation import setup_of, tuned_doubt, tuned_work
from foundry.circular.history import ASSIGNMENT, MARK, last_mark, states_of
from foundry.circular.measure import iteration_ended, measure, own_tree
from foundry.circular.metrics import work
from foundry.circular.parallel import side_by_side
from foundry.circular.prompt_values import circular_values
from foundry.circular.prompt_versions import proposal_of
from foundry.circular.report import circular_views, headline
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
from foundry.engine.step_context import StepContext
from foundry.engine.step_kind import GateResult, Performed, Result, StepAction, StepKind
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


def _work_gate(ctx: StepContext, done: Submission) -> GateResult:
    """The verdict agrees with itself, and what was changed can be committed."""
    problems = _contradictions(done)
    return GateResult(problems) if problems else gates.committable(ctx)


def _work_result(ctx: StepContext, done: Submission, evidence: GateResult) -> Result:
    """The commit of an iteration whose thread submitted."""
    return _iteration(ctx, _submitted(ctx, "work", done), evidence)


def _work_cut_short(ctx: StepContext, outcome: Outcome) -> tuple[Result, GateResult] | None:
    """The commit of an iteration that ended at its threshold, at a limit, or without a word."""
    report = _unsubmitted(ctx, "work", outcome)
    if report is None:
        return None
    evidence = gates.committable(ctx)
    return None if evidence.problems else (_iteration(ctx, report, evidence), evidence)


def _side_by_side(ctx: StepContext) -> Performed | None:
    """The work of several conversations, where the run has some side by side."""
    joined = side_by_side(ctx)
    if joined is None:
        return None
    outcome, report = joined
    if report is None:
        return Performed(outcome, GateResult())
    evidence = gates.committable(ctx)
    return Performed(outcome, evidence, (_iteration(ctx, report, evidence), evidence))


def _doubt_gate(_ctx: StepContext, done: Submission) -> GateResult:
    """The verdict agrees with itself; a doubt changes nothing."""
    return GateResult(_contradictions(done))


def _doubt_result(ctx: StepContext, done: Submission, _evidence: GateResult) -> Result:
    """Whether the claim withstood this thread."""
    return _doubted(ctx, _submitted(ctx, "doubt", done))


def _doubt_cut_short(ctx: StepContext, outcome: Outcome) -> tuple[Result, GateResult] | None:
    """A doubt that came to no verdict: the claim is not confirmed. One that the run itself cut off,
    for want of money, time or a server, is held again."""
    if outcome.reason in ("budget", "deadline", "unavailable"):
        return None
    report = _unsubmitted(ctx, "doubt", outcome)
    return None if report is None else (_doubted(ctx, report), GateResult())


def _contradictions(done: Submission) -> tuple[str, ...]:
    """Where a verdict and its lists contradict each other."""
    left = (*done.remaining, *done.found)
    if done.verdict == "done" and left:
        return (f"verdict is done, and yet there is something left: {'; '.join(left)[:300]}",)
    if done.verdict == "more" and not left:
        return ("verdict is more: name in `remaining` what is left, one entry each",)
    return ()


def _submitted(ctx: StepContext, kind: str, done: Submission) -> Report:
    """The report of a thread that handed in a verdict."""
    new = None
    if isinstance(done, RefiningSubmission):
        new = proposal_of(done.better_prompt, done.better_because)
    return Report.model_validate(
        {
            **done.model_dump(include=set(Submission.model_fields)),
            **_setup_fields(ctx, kind),
            "ending": "submitted",
            "reason": "completion",
            "proposal": new,
        }
    )


def _unsubmitted(ctx: StepContext, kind: str, outcome: Outcome) -> Report | None:
    """The report of a thread that handed in nothing; None when nothing of it can be kept."""
    if outcome.reason not in REASONS or not outcome.spend.turns:
        return None
    error = error_of(outcome.reason)
    said = outcome.said if outcome.reason == "not_submitted" else ""
    return Report.model_validate(
        {
            **_setup_fields(ctx, kind),
            "ending": outcome.reason,
            "reason": REASONS[outcome.reason],
            "evidence": outcome.detail,
            "said": said[-SAID:],
            "errors": [error_line(error, outcome.detail)] if error else [],
        }
    )


def _setup_fields(ctx: StepContext, kind: str) -> dict[str, Any]:
    """How the thread was set up, for its report."""
    setup = setup_of(ctx.journal, doubts=kind == "doubt")
    fields = {"kind": kind, "threshold": ctx.instruction.step.budget.threshold}
    if setup is None:
        return fields
    version = {"model": setup.model, "prompt_version": setup.version.number}
    return {**fields, **version, "reasons": setup.reasons}


def _iteration(ctx: StepContext, report: Report, evidence: GateResult) -> Result:
    """The commit of an iteration, with its report."""
    number = ctx.iteration
    template = (ctx.context.get(ASSIGNMENT) or {}).get("message", MESSAGE)
    subject = _commit_message(template, number, len(evidence.files), len(report.resolved))
    mark = Mark(number=number, report=report)
    return Result(
        subject,
        _summary(report),
        patch={MARK: mark.model_dump(mode="json", exclude_none=True),
               "unproven": f"iteration {number} is not verified"},
        body=_summary(report),
    )  # fmt: skip


def _commit_message(template: str, iteration: int, files: int, issues: int) -> str:
    """The subject of an iteration's commit by the seed's template: {iteration} {files} {issues}."""
    values = {"{iteration}": iteration, "{files}": files, "{issues}": issues}
    for name, value in values.items():
        template = template.replace(name, str(value))
    return template


def _doubted(ctx: StepContext, report: Report) -> Result:
    """The journal line of a doubt: the claim holds only for the project that was measured."""
    before = last_mark(ctx.journal)
    unchanged = own_tree(ctx.repository) == work(states_of(ctx.journal))[-1].tree
    agrees = report.verdict == "done" and unchanged
    agreed = before.agreed + 1 if agrees else 0
    needed = (ctx.context.get(ASSIGNMENT) or {}).get("confirmations", 1)
    over = agreed >= needed
    mark = Mark(number=before.number, claimed=agrees, agreed=agreed, over=over, report=report)
    left = "; ".join((*report.remaining, *report.found)) or report.ending.replace("_", " ")
    why = f"a doubting thread did not confirm that it is done: {left}"
    if agrees:
        why = f"{agreed} of {needed} doubting threads found nothing left"
    elif not unchanged:
        why = "what was measured is not what stands there now: somebody changed it since"

    def event(record: StepRecord) -> IterationEnded:
        states = states_of((*ctx.journal, record))
        return iteration_ended(record.step, states[-1], states)

    return Result(
        f"test: doubt iteration {before.number}: {'nothing found' if agrees else 'not done'}",
        why,
        patch={MARK: mark.model_dump(mode="json", exclude_none=True),
               "unproven": "" if over else why[:600]},
        body=_summary(report),
        event=event,
    )  # fmt: skip


def _summary(report: Report) -> str:
    """A report for those who come after."""
    how = report.verdict or report.ending.replace("_", " ")
    lines = [f"{how}: {report.evidence or report.said}"]
    lines += [f"- resolved: {each}" for each in report.resolved]
    lines += [f"- found: {each}" for each in report.found]
    lines += [f"- remaining: {each}" for each in report.remaining]
    return "\n".join(lines)


WORK = StepKind(
    name="circular",
    submission=Submission,
    values=circular_values,
    gate=_work_gate,
    result=_work_result,
    edits=True,
    hold=_side_by_side,
    cut_short=_work_cut_short,
    tuned=tuned_work,
    views=circular_views,
    headline=headline,
)
REFINING = replace(WORK, name="circular-refining", submission=RefiningSubmission)
DOUBT = StepKind(
    name="circular-doubt",
    submission=Submission,
    values=circular_values,
    gate=_doubt_gate,
    result=_doubt_result,
    cut_short=_doubt_cut_short,
    tuned=tuned_doubt,
)
MEASURE = StepAction("measure", measure, runs_checks=True)
