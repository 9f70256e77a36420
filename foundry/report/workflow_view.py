"""Workflows for a terminal: an outline of one, a table of all."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from foundry.report import units
from foundry.report.terminal_safe import safe
from foundry.schema.condition import Condition
from foundry.schema.workflow import Function, LoopStep, Step, Workflow
from foundry.workflow.describe import condition_text, criteria_text, loop_text
from foundry.workflow.functions import referenced

INDENT = 4


@dataclass(frozen=True, slots=True)
class Row:
    """What the list says of a workflow: `steps` with those in loops, `problem` if it is invalid."""

    id: str
    name: str
    version: str
    origin: str
    path: str
    description: str
    steps: int = 0
    loops: int = 0
    problem: str = ""


def list_view(rows: Sequence[Row]) -> RenderableType:
    """One line per workflow."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("workflow", no_wrap=True)
    table.add_column("version", no_wrap=True)
    table.add_column("from", no_wrap=True)
    table.add_column("steps", justify="right", no_wrap=True)
    table.add_column("loops", justify="right", no_wrap=True)
    table.add_column("", style="dim")
    for row in rows:
        size = ("", "") if row.problem else (str(row.steps), str(row.loops))
        about = Text(safe(row.problem), "red") if row.problem else Text(safe(row.description))
        about.no_wrap, about.overflow = True, "ellipsis"
        cells = (row.id, row.version, row.origin, *size)
        table.add_row(*(Text(safe(cell)) for cell in cells), about)
    return table


def workflow_view(workflow: Workflow) -> RenderableType:
    """The outline of a resolved workflow."""
    head = Text(safe(workflow.name), "bold")
    head.append(f"  {workflow.id} {workflow.version}", "not bold dim")
    parts: list[RenderableType] = [head, Text(safe(workflow.description))]
    for title, lines in (
        ("What has to be there", workflow.preconditions),
        ("To settle first", workflow.clarification_prompts),
        ("Rules for every step", workflow.meta_guidance),
        ("Variables", tuple(f"{k}: {_json(v)}" for k, v in workflow.context.items())),
        ("Functions", tuple(map(_function, workflow.function_definitions))),
    ):
        if lines:
            parts += [
                Text(f"\n{title}", "bold"),
                *(_indented(Text(f"- {safe(e)}"), 1) for e in lines),
            ]
    parts.append(Text("\nSteps", "bold"))
    for number, step in enumerate(workflow.steps, 1):
        parts += _outline(workflow, None, step, f"{number}")
    return Group(*parts)


def _outline(
    workflow: Workflow, loop: LoopStep | None, step: LoopStep | Step, number: str
) -> Iterator[RenderableType]:
    depth = 2 if loop else 1
    head = Text(f"{number}  ", "dim").append(step.id, "bold not dim")
    yield _indented(head.append(f"  {safe(step.title)}", "not bold not dim"), depth)
    for fact in _facts(step):
        yield _indented(Text(safe(fact), "dim"), depth + 1)
    if isinstance(step, Step):
        for fact in _of_step(workflow, loop, step):
            yield _indented(Text(safe(fact), "dim"), depth + 1)
        return
    for position, each in enumerate(step.steps, 1):
        yield from _outline(workflow, step, each, f"{number}.{position}")


def _facts(step: LoopStep | Step) -> Iterator[str]:
    """When it runs, and what it defines."""
    if isinstance(step, LoopStep):
        yield f"repeated {loop_text(step.loop)}"
    if step.run_condition is not None:
        yield f"only if {condition_text(step.run_condition)}"
    if isinstance(step.require_confirmation, Condition):
        yield f"a person agrees first if {condition_text(step.require_confirmation)}"
    elif step.require_confirmation:
        yield "a person agrees first"
    for function in step.function_definitions:
        yield f"function {_function(function)}"


def _of_step(workflow: Workflow, loop: LoopStep | None, step: Step) -> Iterator[str]:
    if followed := referenced(workflow, loop, step):
        yield f"follows {', '.join(f'{each.name}()' for each in followed)}"
    yield from criteria_text(step.validation_criteria).splitlines()
    if run := " · ".join(_run(step)):
        yield run


def _run(step: Step) -> Iterator[str]:
    """What the document says about how the step is run; defaults are left out."""
    said = step.model_fields_set
    for name in ("action", "template", "role", "contract"):
        if name in said:
            yield f"{name} {getattr(step, name)}"
    if step.tools is not None:
        yield f"tools {', '.join(step.tools) or 'none'}"
    if step.reads:
        yield f"reads {', '.join(step.reads)}"
    if "budget" in said:
        yield f"{units.counted(step.budget.turns, 'turn')}, {step.budget.minutes:g} minutes"
    if "attempts" in said:
        yield units.counted(step.attempts, "attempt")
    if "on_failure" in said:
        yield f"on failure {step.on_failure}"


def _function(function: Function) -> str:
    names = ", ".join(parameter.name for parameter in function.parameters)
    return f"{function.name}({names}): {function.definition}"


def _indented(text: RenderableType, depth: int) -> RenderableType:
    return Padding(text, (0, 0, 0, INDENT * depth), expand=False)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
