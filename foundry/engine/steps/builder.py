"""Builder: one task of tasks.json, made and shown by its own command; adds to build-log.md.

In build.yaml it is `builder[n]/task`: a loop over the tasks, each with `contract: builder` and the
template build/builder.md.j2.
"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from foundry.engine.evidence.disagreement import Disagreement, disagreements, unquoted
from foundry.engine.evidence.red_green import with_endings_before
from foundry.engine.gates import failures, run_commands, staged_files, uncommittable
from foundry.engine.markdown import bullets, document, titled
from foundry.engine.prompt_values import earlier_work, excerpts_about
from foundry.engine.step_context import StepContext
from foundry.engine.step_kind import GateResult, Result, StepKind
from foundry.engine.steps.architect import components
from foundry.errors import ArtifactError, WorkflowError
from foundry.schema.base import Value
from foundry.schema.plan import Plan, Task
from foundry.schema.workflow import LoopStep
from foundry.store.artifacts import read_plan, read_text
from foundry.store.project import BUILD_LOG, FOLDER, TASKS

Change = Literal["feat", "fix", "refactor", "test", "docs", "build", "chore"]

UNCHANGED = "nothing in the project has changed"


class BuilderSubmission(Value):
    """A finished task."""

    summary: str = Field(
        min_length=1, description="what exists now and how to use it, for the next tasks"
    )
    change: Change = Field("feat", description="kind of change, for the commit message")
    notes: tuple[str, ...] = Field((), description="decisions and surprises that others must know")
    disagreements: tuple[Disagreement, ...] = Field(
        (),
        max_length=5,
        description="where the spec contradicts itself or a test, so that no code can meet both: "
        "say so here instead of bending either; it is no failure",
    )

    @property
    def report(self) -> str:
        """Summary and notes, for the log and for later conversations."""
        return "\n".join((self.summary, *(f"- {note}" for note in self.notes)))


def _values(ctx: StepContext) -> Mapping[str, Any]:
    task, plan = _task(ctx), read_plan(ctx.project)
    return {
        "task": task,
        "components": components(plan, _reach(plan, task)) if plan else "",
        "earlier": earlier_work(ctx, task),
        "excerpts": excerpts_about(ctx, f"{task.title}\n{task.description}"),
    }


def _task(ctx: StepContext) -> Task:
    """The task of this step's loop, as tasks.json has it now.

    Raises WorkflowError outside such a loop, ArtifactError where the task is gone.
    """
    due = ctx.context.get("task")
    task_id = due.get("id") if isinstance(due, dict) else None
    if task_id is None:
        raise WorkflowError(f"{ctx.instruction.id}: there is no `task` in its loop to build")
    plan = read_plan(ctx.project)
    task = plan.task(task_id) if plan else None
    if task is None:
        raise ArtifactError(
            f"{FOLDER}/{TASKS}",
            "tasks",
            f"the task {task_id!r}, which is due, is missing",
            hint=f"Put it back, or `git checkout HEAD -- {FOLDER}/{TASKS}`; then `foundry resume`",
        )
    return task


def _reach(plan: Plan, task: Task) -> list[str]:
    """The files whose design a task needs: its own, and those of the tasks that it builds on."""
    before = [plan.task(each) for each in task.depends_on]
    return [*task.files, *(path for each in before if each for path in each.files)]


def _assignment(ctx: StepContext) -> str:
    task = _task(ctx)
    criteria = "\n".join(f"- {each.criterion}" for each in task.acceptance)
    return f"{task.id}: {task.title}\n\n{task.description}\n\n{criteria}"


def _gate(ctx: StepContext, done: BuilderSubmission) -> GateResult:
    """The task's own commands end with 0; how they ended before it is kept with that.

    A task whose work is there already changes nothing, and its commands say so. One that can't be
    done because spec and test disagree is accepted as it is, with that said.
    """
    task = _task(ctx)
    if problems := uncommittable(ctx, task.files):
        return GateResult(problems)
    if problems := unquoted(ctx, done.disagreements):
        return GateResult(problems)
    files, commands = staged_files(ctx), task.commands()
    checks = run_commands(ctx, commands)
    flags = disagreements(ctx, done.disagreements)
    if all(check.holds for check in checks):
        checks = with_endings_before(ctx, checks, commands, files)
    elif not flags:
        unchanged = () if files else (UNCHANGED,)
        return GateResult((*unchanged, *failures(checks)), checks, files)
    return GateResult((), tuple(map(ctx.observed, checks)), files, flags)


def _result(ctx: StepContext, done: BuilderSubmission, evidence: GateResult) -> Result:
    task = _task(ctx)
    return Result(
        f"{done.change}: {_lower_first(task.title)}",
        done.report,
        artifacts={BUILD_LOG: build_log(ctx, task.title, done.report, evidence)},
        body="\n".join(f"- {each.criterion} ({each.requirement})" for each in task.acceptance),
        decisions=done.notes,
    )


def build_log(ctx: StepContext, title: str, summary: str, evidence: GateResult) -> str:
    """build-log.md with one more entry: what a task or a fix made, and what shows it."""
    instruction = ctx.instruction
    entry = document(
        f"## {title}",
        f"{ctx.now():%Y-%m-%d %H:%M:%S} UTC · {instruction.id} · attempt {instruction.attempt}",
        summary,
        titled("Files:", bullets(f"`{path}`" for path in evidence.files)),
        titled("Shown by:", bullets(f"`{c.command}` → {c.verdict}" for c in evidence.checks)),
    )
    return (read_text(ctx.project, BUILD_LOG) or "# Build log\n") + "\n" + entry


def _lower_first(title: str) -> str:
    """`Add the store` becomes `add the store`, but `README` and `JSON store` stay."""
    return title if title[:2].isupper() else title[:1].lower() + title[1:]


def _misplaced(loop: LoopStep | None) -> str:
    if loop and loop.loop.items == "tasks" and loop.loop.item_var == "task":
        return ""
    return "builds a task of tasks.json: put it into a forEach over `tasks`, itemVar `task`"


BUILDER = StepKind(
    name="builder",
    submission=BuilderSubmission,
    values=_values,
    assignment=_assignment,
    gate=_gate,
    result=_result,
    edits=True,
    builds=True,
    misplaced=_misplaced,
)
