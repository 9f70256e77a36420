"""From a build to what the next builds are told. Facts are counted here; the model words them."""

from pydantic import BaseModel

from foundry.engine.result import Evidence, Result
from foundry.engine.step_context import StepContext
from foundry.engine.verdict import verdict
from foundry.schema.events import Note
from foundry.schema.learning import Feedback, FeedbackSubmission
from foundry.store.artifacts import to_json
from foundry.store.patterns.library import learn

QUIET = FeedbackSubmission()


def feedback_result(ctx: StepContext, submission: BaseModel, _evidence: Evidence) -> Result:
    """The feedback file, this build's patterns, and the merge into the global library."""
    assert isinstance(submission, FeedbackSubmission)
    tests = ctx.context.get("tests", {})
    at = ctx.now()
    status, _ = verdict(ctx.workflow, ctx.journal, ctx.warnings)
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
