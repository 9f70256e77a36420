"""Architect: designs it and plans the tasks; leaves architecture.md and tasks.json."""

from collections.abc import Sequence

from pydantic import Field

from foundry.engine.evidence.disagreement import plain
from foundry.engine.markdown import bullets, document, section
from foundry.engine.step_context import StepContext
from foundry.engine.step_kind import GateResult, Result, StepKind
from foundry.schema.base import Value
from foundry.schema.plan import MAX_TASKS, Plan, Task
from foundry.store.artifacts import to_json
from foundry.store.project import ARCHITECTURE, TASKS


class ArchitectSubmission(Value):
    """The design and the plan; becomes architecture.md and tasks.json."""

    overview: str = Field(min_length=1, description="the design as a whole; Markdown")
    decisions: tuple[str, ...] = Field((), description="what was decided, and why")
    plan: Plan


def _gate(ctx: StepContext, design: ArchitectSubmission) -> GateResult:
    """Requirements quote the spec word for word; the plan has the size that Scout saw."""
    spec, plan = plain(ctx.start.spec), design.plan
    quotes = [(f"requirement {each.id}", each.quote) for each in plan.requirements]
    quotes += [(f"obsolete test {each.test!r}", each.quote) for each in plan.obsolete]
    problems = [
        f"{what}: the spec does not hold the words {quote!r}"
        for what, quote in quotes
        if plain(quote) not in spec
    ]
    size = str(ctx.context.get("size", "medium"))
    count, most = len(design.plan.tasks), MAX_TASKS[size]
    if count > most:
        problems.append(f"{count} tasks are too many for a {size} project: at most {most}")
    return GateResult(tuple(problems))


def _result(_ctx: StepContext, design: ArchitectSubmission, _evidence: GateResult) -> Result:
    tasks = [{"id": task.id, "title": task.title} for task in design.plan.in_order()]
    return Result(
        f"docs(foundry): architecture and {len(tasks)} task{'s' if len(tasks) > 1 else ''}",
        f"{len(tasks)} tasks: " + ", ".join(task["title"] for task in tasks),
        patch={"tasks": tasks},
        artifacts={ARCHITECTURE: architecture(design), TASKS: to_json(design.plan)},
        decisions=design.decisions,
    )


def architecture(design: ArchitectSubmission) -> str:
    """architecture.md."""
    plan = design.plan
    return document(
        "# Architecture",
        design.overview,
        section("Decisions", bullets(design.decisions)),
        section(
            "Requirements",
            bullets(f"**{r.id}** {r.text} (“{r.quote}”)" for r in plan.requirements),
        ),
        section("Components", components(plan)),
        section("Tasks", "\n".join(_task_line(n, t) for n, t in enumerate(plan.in_order(), 1))),
    )


def components(plan: Plan, files: Sequence[str] = ()) -> str:
    """The design of the components, or of those that the given files touch; Markdown."""
    chosen = [c for c in plan.components if not files or _touches(c.files, files)]
    return "\n\n".join(f"### {c.name}\n\n{c.design}\n\nFiles: {_paths(c.files)}" for c in chosen)


def _task_line(number: int, task: Task) -> str:
    after = f" (after {', '.join(task.depends_on)})" if task.depends_on else ""
    criteria = "\n".join(f"   - {a.criterion} [{a.requirement}]" for a in task.acceptance)
    return f"{number}. **{task.id}**: {task.title}{after}\n{criteria}"


def _touches(own: Sequence[str], files: Sequence[str]) -> bool:
    return any(a == b or a.startswith(f"{b.rstrip('/')}/") or b.startswith(f"{a.rstrip('/')}/")
               for a in own for b in files)  # fmt: skip


def _paths(paths: Sequence[str]) -> str:
    return ", ".join(f"`{path}`" for path in paths) or "none named"


ARCHITECT = StepKind(name="architect", submission=ArchitectSubmission, gate=_gate, result=_result)
