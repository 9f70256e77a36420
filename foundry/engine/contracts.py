"""What each contract means: its schema, its gate, and what an accepted submission becomes.

A workflow names a contract; a step that names none hands in a summary and is judged by no gate.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from foundry.circular.adaptation import tuned_doubt, tuned_work
from foundry.circular.report import circular_views, headline
from foundry.circular.schema import RefiningSubmission, Submission
from foundry.circular.steps import (
    doubt_cut_short,
    doubt_gate,
    doubt_result,
    work_cut_short,
    work_gate,
    work_result,
)
from foundry.conversation.brief import Outcome
from foundry.engine import gates
from foundry.engine import markdown as views
from foundry.engine import records as lines
from foundry.engine.feedback import feedback_result
from foundry.engine.gates import Gate
from foundry.engine.result import Evidence, Result
from foundry.engine.step_context import StepContext
from foundry.errors import WorkflowError
from foundry.schema.journal import Entry
from foundry.schema.learning import FeedbackSubmission
from foundry.schema.plan import ArchitectSubmission, ScoutSubmission
from foundry.schema.work import (
    BuilderSubmission,
    DeploySubmission,
    DocsSubmission,
    FixPlanSubmission,
    SummarySubmission,
)
from foundry.schema.workflow import Step, Workflow
from foundry.store.artifacts import read_text, to_json
from foundry.store.project import ARCHITECTURE, BUILD_LOG, CHECKS, SCOUT_REPORT, TASKS, fixes_name
from foundry.workflow.cursor import Instruction

OUTPUTS = "outputs"
"""The folder of artifacts that holds what steps were asked to produce."""


Kept = tuple[Result, Evidence]
"""What an ending leaves that no submission decides."""


@dataclass(frozen=True)
class Contract:
    """A step's promise. Without `edits`, whatever the conversation changed is undone."""

    schema: type[BaseModel]
    result: Callable[[StepContext, Any, Evidence], Result]
    gate: Gate = field(default=gates.no_gate)
    edits: bool = False
    cut_short: Callable[[StepContext, Outcome], Kept | None] | None = None
    """What is kept of a conversation that ended without a submission; None: a failed attempt."""
    tuned: Callable[[Instruction, tuple[Entry, ...]], Step] = lambda due, _entries: due.step
    """The step as it is to be done now: a run may change its budget or role as it learns."""
    views: Callable[[Workflow, tuple[Entry, ...]], Mapping[str, str]] = lambda _workflow, _e: {}
    """Artifacts that are rendered anew from the journal with its every line."""
    headline: Callable[[tuple[Entry, ...]], str] = lambda _entries: ""
    """What a run made, in a sentence, for its ending."""


def contract(name: str) -> Contract:
    """The contract of this name; raises WorkflowError for one that does not exist."""
    try:
        return CONTRACTS[name]
    except KeyError as error:
        known = ", ".join(CONTRACTS)
        raise WorkflowError(f"there is no contract {name!r}", hint=f"Known: {known}") from error


def views_of(workflow: Workflow, entries: tuple[Entry, ...]) -> dict[str, str]:
    """The artifacts that the contracts of a workflow render from its journal."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(step.contract for step in workflow.all_steps if not step.action):
        found |= contract(name).views(workflow, entries)
    return found


def headline_of(workflow: Workflow, entries: tuple[Entry, ...]) -> str:
    """What a run made, in the words of the first contract that has some."""
    names = dict.fromkeys(step.contract for step in workflow.all_steps if not step.action)
    return next((told for name in names if (told := contract(name).headline(entries))), "")


def output_of(submission: BaseModel) -> str:
    """What a step's validation criteria judge: its output, or all that it submitted, as JSON."""
    if isinstance(submission, SummarySubmission):
        return submission.output or submission.summary
    return submission.model_dump_json()


def output_name(step: str) -> str:
    """The artifact with a step's output: `outputs/loop/2/step.md` of `loop[2]/step`."""
    return f"{OUTPUTS}/{step.replace('[', '/').replace(']', '')}.md"


def _summary(ctx: StepContext, done: SummarySubmission, _evidence: Evidence) -> Result:
    output = done.output.strip()
    return Result(
        f"chore: {lines.title(ctx.instruction)}",
        done.summary,
        patch=done.context,
        artifacts={output_name(ctx.instruction.id): output + "\n"} if output else {},
        body=done.summary,
    )


def _scout(_ctx: StepContext, report: ScoutSubmission, _evidence: Evidence) -> Result:
    return Result(
        "docs(foundry): scout report and checks",
        report.summary,
        patch={
            "size": report.size,
            "project_type": report.project_type,
            "tech_stack": list(report.tech_stack),
        },
        artifacts={SCOUT_REPORT: views.scout_report(report), CHECKS: to_json(report.commands)},
    )


def _architect(_ctx: StepContext, design: ArchitectSubmission, _evidence: Evidence) -> Result:
    tasks = [{"id": task.id, "title": task.title} for task in design.plan.in_order()]
    return Result(
        f"docs(foundry): architecture and {len(tasks)} task{'s' if len(tasks) > 1 else ''}",
        f"{len(tasks)} tasks: " + ", ".join(task["title"] for task in tasks),
        patch={"tasks": tasks},
        artifacts={ARCHITECTURE: views.architecture(design), TASKS: to_json(design.plan)},
        decisions=design.decisions,
    )


def _builder(ctx: StepContext, done: BuilderSubmission, evidence: Evidence) -> Result:
    task = ctx.task()
    summary = "\n".join((done.summary, *(f"- {note}" for note in done.notes)))
    return Result(
        f"{done.change}: {_lower_first(task.title)}",
        summary,
        artifacts={BUILD_LOG: _build_log(ctx, task.title, summary, evidence)},
        body="\n".join(f"- {each.criterion} ({each.requirement})" for each in task.acceptance),
        decisions=done.notes,
    )


def _fix_plan(ctx: StepContext, plan: FixPlanSubmission, _evidence: Evidence) -> Result:
    iteration = ctx.iteration
    return Result(
        f"docs(foundry): fix plan {iteration}",
        plan.diagnosis,
        artifacts={fixes_name(iteration): views.fixes(iteration, plan)},
    )


def _fix(ctx: StepContext, done: BuilderSubmission, evidence: Evidence) -> Result:
    summary = "\n".join((done.summary, *(f"- {note}" for note in done.notes)))
    title = f"Heal what failed in test run {ctx.iteration}"
    return Result(
        f"fix: heal the checks that failed in iteration {ctx.iteration}",
        summary,
        artifacts={BUILD_LOG: _build_log(ctx, title, summary, evidence)},
        body=summary,
        decisions=done.notes,
    )


def _docs(_ctx: StepContext, done: DocsSubmission, evidence: Evidence) -> Result:
    ran = len(evidence.checks)
    return Result(
        "docs: describe the project",
        f"{done.summary} ({ran} command block{'s' if ran != 1 else ''} run)",
    )


def _deploy(_ctx: StepContext, text: DeploySubmission, _evidence: Evidence) -> Result:
    return Result(
        "docs(foundry): name and description for the remote",
        f"{text.name}: {text.description}",
        patch={"release": text.model_dump()},
    )


def _build_log(ctx: StepContext, title: str, summary: str, evidence: Evidence) -> str:
    """build-log.md with one more entry; what it holds already is not made again."""
    entry = views.build_log_entry(ctx.instruction, ctx.now(), title, summary, evidence)
    return (read_text(ctx.project, BUILD_LOG) or "# Build log\n") + "\n" + entry


def _lower_first(title: str) -> str:
    """`Add the store` becomes `add the store`, but `README` and `JSON store` stay."""
    return title if title[:2].isupper() else title[:1].lower() + title[1:]


CIRCULAR = Contract(
    Submission,
    work_result,
    work_gate,
    edits=True,
    cut_short=work_cut_short,
    tuned=tuned_work,
    views=circular_views,
    headline=headline,
)

CONTRACTS: dict[str, Contract] = {
    "summary": Contract(SummarySubmission, _summary, gates.summary_gate, edits=True),
    "scout": Contract(ScoutSubmission, _scout, gates.scout_gate),
    "architect": Contract(ArchitectSubmission, _architect, gates.architect_gate),
    "builder": Contract(BuilderSubmission, _builder, gates.builder_gate, edits=True),
    "fix-plan": Contract(FixPlanSubmission, _fix_plan),
    "fix": Contract(BuilderSubmission, _fix, gates.changed_gate, edits=True),
    "docs": Contract(DocsSubmission, _docs, gates.docs_gate, edits=True),
    "deploy": Contract(DeploySubmission, _deploy),
    "feedback": Contract(FeedbackSubmission, feedback_result),
    "circular": CIRCULAR,
    "circular-refining": replace(CIRCULAR, schema=RefiningSubmission),
    "circular-doubt": Contract(
        Submission, doubt_result, doubt_gate, cut_short=doubt_cut_short, tuned=tuned_doubt
    ),
}
