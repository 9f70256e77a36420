"""From a build to what the next builds are told. Facts are counted here; the model words them."""

from collections.abc import Mapping
from typing import Any

from foundry.engine.step_context import StepContext
from foundry.engine.step_kind import Acted, GateResult, Result, StepAction, StepKind
from foundry.engine.verdict import verdict
from foundry.schema.events import Note
from foundry.schema.learning import Feedback, FeedbackSubmission
from foundry.store.artifacts import read_plan, to_json
from foundry.store.patterns.learn import learn


def _result(ctx: StepContext, submission: FeedbackSubmission, _evidence: GateResult) -> Result:
    """The feedback file, this build's patterns, and the merge into the global library."""
    tests = ctx.context.get("tests", {})
    at = ctx.now()
    status, _ = verdict(ctx.workflow, ctx.journal, ctx.warnings, read_plan(ctx.project))
    feedback = Feedback(
        run=ctx.start.run,
        timestamp=at,
        project_type=str(ctx.context.get("project_type", "")),
        tech_stack=tuple(ctx.context.get("tech_stack", ())),
        status=status,
        test_iterations=int(tests.get("iterations", 0)),
        duration_seconds=round((at - ctx.start.at).total_seconds(), 3),
        issues=submission.issues,
        worked=submission.worked,
        recommendations=submission.recommendations,
    )
    patterns = learn(feedback)
    count = sum(len(file.patterns) for file in patterns.values())

    def merge() -> None:
        for warning in ctx.library.add(patterns):
            ctx.observe(Note(warning))

    return Result(
        "docs(foundry): feedback of this build",
        f"patterns: {count}; issues: {len(submission.issues)}; what worked: "
        f"{len(submission.worked)}; recommendations: {len(submission.recommendations)}",
        artifacts={
            f"feedback/{feedback.file_name}": to_json(feedback),
            **{f"patterns/{name}": to_json(file) for name, file in patterns.items()},
        },
        effect=merge,
    )


def _values(ctx: StepContext) -> Mapping[str, Any]:
    return {"facts": _facts(ctx)}


def _facts(ctx: StepContext) -> str:
    lines = [
        f"- {record.step}: accepted at attempt {record.attempt}, {record.spend.turns} turns, "
        f"{record.spend.seconds:.0f} s"
        for record in ctx.records
        if record.spend.turns
    ][-100:]
    lines += [f"- {each.step}: attempt {each.attempt} failed ({each.reason}): {each.detail[:300]}"
              for each in ctx.attempts][-20:]  # fmt: skip
    for record in ctx.records:
        lines += [f"- {record.step}: submission refused: {each}" for each in record.rejections]
        if "tests" in record.patch:
            bad = [check.name for check in record.checks if not check.holds]
            lines.append(f"- {record.step}: failing: {', '.join(bad) or 'none'}")
    return "\n".join(lines)


def _learn(ctx: StepContext) -> Acted:
    """The facts of a run alone, without a model's lessons."""
    return _result(ctx, FeedbackSubmission(), GateResult()), GateResult()


FEEDBACK = StepKind(name="feedback", submission=FeedbackSubmission, values=_values, result=_result)
LEARN = StepAction("learn", _learn)
