"""Healing: the plan that finds out why checks fail, and the fix that follows it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import Field

from foundry.engine.evidence.disagreement import disagreements, unquoted
from foundry.engine.gates import committable
from foundry.engine.markdown import bullets, document, section
from foundry.engine.prompt_values import capped
from foundry.engine.step_context import StepContext
from foundry.engine.step_kind import GateResult, Result, StepKind
from foundry.engine.steps.builder import UNCHANGED, BuilderSubmission, build_log
from foundry.schema.base import Value
from foundry.store.artifacts import read_text
from foundry.store.project import BUILD_LOG, fixes_name, results_name


class Cause(Value):
    """Why a check fails."""

    check: str = Field(description="name of the failing check")
    cause: str


class FixPlanSubmission(Value):
    """Why the checks fail and what is to be done; becomes fixes-iteration-N.md."""

    diagnosis: str = Field(min_length=1)
    causes: tuple[Cause, ...] = Field(min_length=1)
    steps: tuple[str, ...] = Field(min_length=1, description="what to change, in order")
    files: tuple[str, ...] = ()


def _values(ctx: StepContext) -> Mapping[str, Any]:
    results = read_text(ctx.project, results_name(ctx.iteration)) or ""
    fixes = read_text(ctx.project, fixes_name(ctx.iteration)) or ""
    return {"results": capped(results, results_name(ctx.iteration)), "fixes": fixes}


def _plan_result(ctx: StepContext, plan: FixPlanSubmission, _evidence: GateResult) -> Result:
    return Result(
        f"docs(foundry): fix plan {ctx.iteration}",
        plan.diagnosis,
        artifacts={fixes_name(ctx.iteration): fix_plan(ctx.iteration, plan)},
    )


def _fix_gate(ctx: StepContext, done: BuilderSubmission) -> GateResult:
    """The tree changed, or can't change for a reason; the next test run says whether it heals."""
    if problems := unquoted(ctx, done.disagreements):
        return GateResult(problems)
    evidence, flags = committable(ctx), disagreements(ctx, done.disagreements)
    if evidence.problems:
        return evidence
    return replace(evidence, flags=flags) if evidence.files or flags else GateResult((UNCHANGED,))


def _fix_result(ctx: StepContext, done: BuilderSubmission, evidence: GateResult) -> Result:
    title = f"Heal what failed in test run {ctx.iteration}"
    return Result(
        f"fix: heal the checks that failed in iteration {ctx.iteration}",
        done.report,
        artifacts={BUILD_LOG: build_log(ctx, title, done.report, evidence)},
        body=done.report,
        decisions=done.notes,
    )


def fix_plan(iteration: int, plan: FixPlanSubmission) -> str:
    """fixes-iteration-N.md."""
    return document(
        f"# Fix plan, iteration {iteration}",
        plan.diagnosis,
        section("Causes", bullets(f"{c.check}: {c.cause}" for c in plan.causes)),
        section("Steps", "\n".join(f"{n}. {step}" for n, step in enumerate(plan.steps, 1))),
        section("Files", bullets(f"`{path}`" for path in plan.files)),
    )


FIX_PLAN = StepKind(
    name="fix-plan", submission=FixPlanSubmission, values=_values, result=_plan_result
)
FIX = StepKind(
    name="fix",
    submission=BuilderSubmission,
    values=_values,
    gate=_fix_gate,
    result=_fix_result,
    edits=True,
    builds=True,
)
