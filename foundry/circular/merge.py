"""Put the work of conversations that worked side by side together, as far as the checks allow.

All of it first, and one run of the checks: only where that makes something worse is each taken by
itself. What does not fit, or breaks what held before, stays out and is kept in a ref. The reports
and the spending of the conversations become those of one iteration.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from foundry.circular.failures import issues_between, read_failures, steady
from foundry.circular.history import states_of
from foundry.circular.measure import failures_before
from foundry.circular.schema import Failure, IterationReason, PartitionReport, Report, Verdict
from foundry.conversation.brief import Outcome
from foundry.engine.evidence.look import look_in_tree
from foundry.engine.step_context import StepContext
from foundry.schema.journal import Spend, Thought
from foundry.schema.messages import Usage


def joint_report(ends: Sequence[tuple[PartitionReport, Report | None]], reason: str) -> Report:
    """The report of an iteration from what became of each conversation, and what it reported.

    None of what is not in the result was resolved: it is left to do. At least one has to have
    reported something; `reason` says why there were several.
    """
    reports = [report for _, report in ends if report]
    kept = [report for part, report in ends if part.merged and report]
    left = [f"{part.title}: {part.why}" for part, _ in ends if not part.merged]
    endings = dict.fromkeys(part.ending for part, _ in ends)
    worst = _joint_reason(reports)
    return reports[0].model_copy(
        update={
            "ending": next(iter(endings)) if len(endings) == 1 else worst,
            "reason": worst,
            "verdict": "more" if left else _joint_verdict(reports),
            "evidence": "\n".join(
                f"{part.title}: {report.evidence or report.said}" for part, report in ends if report
            ),
            "said": "\n".join(report.said for report in reports if report.said),
            "remaining": (*_union(report.remaining for report in kept), *left),
            "resolved": _union(report.resolved for report in kept),
            "found": _union(report.found for report in reports),
            "parts_done": _union(report.parts_done for report in kept),
            "errors": steady(_union(report.errors for report in reports)),
            "reasons": {**reports[0].reasons, "partitions": reason},
            "proposal": next((report.proposal for report in kept if report.proposal), None),
            "partitions": tuple(part for part, _ in ends),
        }
    )


def _joint_reason(reports: Sequence[Report]) -> IterationReason:
    """The most alarming of the reasons."""
    order: tuple[IterationReason, ...] = ("interrupted", "error", "limit", "threshold")
    reasons = {report.reason for report in reports}
    return next((each for each in order if each in reasons), "completion")


def _joint_verdict(reports: Sequence[Report]) -> Verdict | None:
    """Done when all are; blocked when nobody can go on; else there is more to do."""
    verdicts = {report.verdict for report in reports}
    if None in verdicts:
        return None if len(verdicts) == 1 else "more"
    if "more" in verdicts:
        return "more"
    return "blocked" if "blocked" in verdicts else "done"


def joint_outcome(outcomes: Sequence[Outcome], more: Sequence[Spend] = ()) -> Outcome:
    """The outcome of all: what they spent in sum, and the fullest of their windows.

    `more` was spent by those that came to no outcome.
    """
    spends = [*(outcome.spend for outcome in outcomes), *more]
    fullest = max(spends, key=lambda spend: spend.context_share)
    costs = [spend.cost_usd for spend in spends]
    thought = Thought()
    for spend in spends:
        one = spend.reflection
        thought = thought.plus(one.usage, one.cost_usd, one.rounds)
    spend = Spend(
        usage=sum((spend.usage for spend in spends), start=Usage()),
        cost_usd=None if None in costs else round(sum(cost or 0.0 for cost in costs), 6),
        turns=sum(spend.turns for spend in spends),
        seconds=max(spend.seconds for spend in spends),
        peak_tokens=fullest.peak_tokens,
        window=fullest.window,
        model=", ".join(dict.fromkeys(outcome.spend.model for outcome in outcomes)),
        conversation=spends[0].conversation,
        reflection=thought,
    )
    rejections = tuple(each for outcome in outcomes for each in outcome.rejections)
    failure = next((outcome.failure for outcome in outcomes if outcome.failure), None)
    whole = replace(outcomes[0], spend=spend, rejections=rejections, failure=failure)
    return replace(whole, submission=None, known="")


def _union(several: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for some in several for each in some))


SHOWN = 5


def merge(ctx: StepContext, works: Mapping[str, str]) -> dict[str, str]:
    """Take work into the run's work tree; why not, for each that is left out.

    `works` are commits on top of HEAD by their names; empty where nothing was changed.
    """
    base = ctx.repository.stage_all()
    before = failures_before(ctx, states_of(ctx.journal))
    changed = {name: commit for name, commit in works.items() if commit}
    out = _taken(ctx, changed)
    fit = {name: commit for name, commit in changed.items() if name not in out}
    if not fit or not (worse := _worse(ctx, before)):
        return out
    ctx.repository.restore_to(base)
    if len(fit) == 1:
        return {**out, **dict.fromkeys(fit, worse)}
    for name, commit in fit.items():
        tree = ctx.repository.stage_all()
        refused = _taken(ctx, {name: commit})
        if not refused and (worse := _worse(ctx, before)):
            ctx.repository.restore_to(tree)
            refused = {name: worse}
        out |= refused
    return out


def _taken(ctx: StepContext, works: Mapping[str, str]) -> dict[str, str]:
    out = {}
    for name, commit in works.items():
        if paths := ctx.repository.take(commit):
            where = ", ".join(filter(None, paths[:SHOWN])) or "its files"
            out[name] = f"others changed {where} too"
    return out


def _worse(ctx: StepContext, before: tuple[Failure, ...] | None) -> str:
    """What fails now and did not; empty where nothing does."""
    if before is None:
        return ""
    checks = look_in_tree(ctx, ctx.instruction.id).checks
    _, broken = issues_between(before, read_failures(checks))
    what = "; ".join(issue.description for issue in broken[:SHOWN])
    return f"with it this fails that held before: {what}" if broken else ""
