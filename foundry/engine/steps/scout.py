"""Scout: looks at the spec and the ground; leaves scout-report.md and checks.json."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from foundry.engine.markdown import bullets, document, section
from foundry.engine.prompt_values import excerpts_about
from foundry.engine.step_context import StepContext
from foundry.engine.step_kind import GateResult, Result, StepKind
from foundry.schema.base import Value
from foundry.schema.journal import Entry, StepRecord
from foundry.schema.plan import Check, Checks, Size
from foundry.store.artifacts import to_json
from foundry.store.project import CHECKS, SCOUT_REPORT


class Risk(Value):
    """Something that may go wrong."""

    risk: str
    mitigation: str


class Question(Value):
    """Something that the spec leaves open, and what is assumed."""

    question: str
    assumption: str


class ScoutSubmission(Value):
    """What Scout found out."""

    summary: str = Field(min_length=1, description="what is to be built, in a few sentences")
    project_type: str = Field(min_length=1, description="for example cli, web-api, library, game")
    tech_stack: tuple[str, ...] = Field(min_length=1, description="languages and libraries")
    size: Size = Field(description="small: up to 6 tasks; medium: up to 20; large: more")
    findings: tuple[str, ...] = Field((), description="facts that later phases need")
    conventions: tuple[str, ...] = Field((), description="rules that the code here follows")
    risks: tuple[Risk, ...] = ()
    questions: tuple[Question, ...] = ()
    commands: Checks = Field(description="becomes checks.json")


def _values(ctx: StepContext) -> Mapping[str, Any]:
    if not ctx.context.get("existing"):
        return {}
    return {"excerpts": excerpts_about(ctx, ctx.start.spec)}


def _gate(_ctx: StepContext, report: ScoutSubmission) -> GateResult:
    """Something has to be able to show that the project holds."""
    if report.commands.test:
        return GateResult()
    return GateResult(("commands.test is empty: name the command that will run the tests",))


def _result(_ctx: StepContext, report: ScoutSubmission, _evidence: GateResult) -> Result:
    return Result(
        "docs(foundry): scout report and checks",
        report.summary,
        patch={
            "size": report.size,
            "project_type": report.project_type,
            "tech_stack": list(report.tech_stack),
        },
        artifacts={SCOUT_REPORT: scout_report(report), CHECKS: to_json(report.commands)},
    )


def _headline(entries: tuple[Entry, ...]) -> str:
    """What is built, as Scout said it."""
    records = (entry for entry in entries if isinstance(entry, StepRecord))
    return next((each.summary for each in records if "project_type" in each.patch), "")


def scout_report(report: ScoutSubmission) -> str:
    """scout-report.md."""
    commands = [
        (kind, check) for kind, checks in report.commands if kind != "version" for check in checks
    ]
    return document(
        "# Scout report",
        report.summary,
        f"- Project type: {report.project_type}\n- Stack: {', '.join(report.tech_stack)}\n"
        f"- Size: {report.size}",
        section("Findings", bullets(report.findings)),
        section("Conventions", bullets(report.conventions)),
        section("Risks", bullets(f"{r.risk} → {r.mitigation}" for r in report.risks)),
        section(
            "Open questions",
            bullets(f"{q.question} Assumed: {q.assumption}" for q in report.questions),
        ),
        section("Commands", bullets(f"{kind}: {_command(check)}" for kind, check in commands)),
    )


def _command(check: Check) -> str:
    return f"`{check.command}` ({check.name})"


SCOUT = StepKind(
    name="scout",
    submission=ScoutSubmission,
    values=_values,
    gate=_gate,
    result=_result,
    headline=_headline,
)
