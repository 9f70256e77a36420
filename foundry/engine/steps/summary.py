"""The step of any workflow that names no kind: it hands in what was done, and sets variables."""

import json

from pydantic import Field, field_validator

from foundry.engine.gates import staged_files, uncommittable
from foundry.engine.records import title
from foundry.engine.step_context import StepContext
from foundry.engine.step_kind import GateResult, Result, StepKind
from foundry.schema.base import Json, Value
from foundry.schema.variables import variable_problems
from foundry.schema.workflow import Variable
from foundry.store.project import output_name

MAX_VARIABLES = 256_000
"""Bytes of JSON that all variables of a run may have."""


class SummarySubmission(Value):
    """What was done, what it produced, and variables for later steps."""

    summary: str = Field(min_length=1, description="what was done, for those who come after")
    output: str = Field(
        "",
        max_length=100_000,
        description="what the step was asked to produce, in full; without one the summary is it",
    )
    context: dict[Variable, Json] = Field(
        default_factory=dict,
        description="variables for later steps and for the conditions of the workflow: names with "
        "JSON values. Every variable that the step was asked to set belongs here",
    )

    @field_validator("context")
    @classmethod
    def _can_be_kept(cls, context: dict[str, Json]) -> dict[str, Json]:
        if problems := variable_problems(context):
            raise ValueError("; ".join(problems))
        return context


def _gate(ctx: StepContext, done: SummarySubmission) -> GateResult:
    """What was changed can be committed, and the variables stay within bounds."""
    if problems := uncommittable(ctx):
        return GateResult(problems)
    size = len(json.dumps({**ctx.context, **done.context}, ensure_ascii=False).encode())
    if done.context and size > MAX_VARIABLES:
        problem = f"with these the run's variables have {size:,} bytes, more than {MAX_VARIABLES:,}"
        return GateResult((f"context: {problem}: keep what is large in a file and name the file",))
    return GateResult((), (), staged_files(ctx))


def _result(ctx: StepContext, done: SummarySubmission, _evidence: GateResult) -> Result:
    output = done.output.strip()
    return Result(
        f"chore: {title(ctx.instruction)}",
        done.summary,
        patch=done.context,
        artifacts={output_name(ctx.instruction.id): output + "\n"} if output else {},
        body=done.summary,
    )


SUMMARY = StepKind(
    name="summary",
    submission=SummarySubmission,
    gate=_gate,
    result=_result,
    judged=lambda done: done.output or done.summary,
    edits=True,
)
