"""What a workflow itself tells a conversation, as values for its prompt template.

How much of a step is told is decided in `workflow/disclosure.py`: a fresh conversation gets all.
"""

import json
from collections.abc import Iterator
from textwrap import indent
from typing import Any

from foundry.engine.contracts import output_name
from foundry.engine.step_context import StepContext
from foundry.schema.events import Note
from foundry.schema.journal import Attempt, StepRecord
from foundry.schema.work import OWN_NAMES
from foundry.schema.workflow import LoopStep, Workflow
from foundry.store.project import FOLDER
from foundry.workflow.conditions import names
from foundry.workflow.disclosure import disclose
from foundry.workflow.placeholders import fill

MAX_VARIABLES = 24_000
"""Characters of all variables in a prompt."""
RECENT_STEPS = 10
LISTED_STEPS = 60
MAX_SUMMARY = 800


def disclosed(ctx: StepContext) -> dict[str, Any]:
    """The workflow, the step in its words, the run's variables and what earlier steps reported."""
    told = disclose(ctx.workflow, ctx.instruction, "fresh")
    if not _met(ctx):
        for warning in told.warnings:
            ctx.observe(Note(warning))
    return {
        "workflow": _filled(ctx),
        "context": dict(ctx.context),
        "prompt": told.guidance["prompt"],
        "variables": _variables(ctx),
        "wanted": wanted(ctx.workflow),
        "reported": _reported(ctx),
    }


def _filled(ctx: StepContext) -> Workflow:
    """The workflow with the variables in its rules and questions filled in."""
    fields = ("meta_guidance", "preconditions", "clarification_prompts")
    return ctx.workflow.model_copy(update={
        name: tuple(fill(each, ctx.context).text for each in getattr(ctx.workflow, name))
        for name in fields
    })  # fmt: skip


def wanted(workflow: Workflow) -> list[str]:
    """The variables that conditions and loops ask about and steps have to set."""
    loops = [each.loop for each in workflow.steps if isinstance(each, LoopStep)]
    bound = {name for each in loops for name in (each.iteration_var, each.item_var, each.index_var)}
    asked = {name.split(".", 1)[0] for name in _asked(workflow)}
    return sorted(asked - bound - OWN_NAMES)


def _asked(workflow: Workflow) -> Iterator[str]:
    for each in (*workflow.steps, *workflow.all_steps):
        yield from names(each.run_condition)
        if not isinstance(each.require_confirmation, bool):
            yield from names(each.require_confirmation)
        if isinstance(each, LoopStep):
            yield from names(each.loop.condition)
            yield from (name for name in (each.loop.items, each.loop.count)
                        if isinstance(name, str) and name)  # fmt: skip


def _met(ctx: StepContext) -> bool:
    """Whether this step has been told before, in an earlier iteration or attempt."""
    return any(
        isinstance(entry, StepRecord | Attempt) and _base(entry.step) == _base(ctx.instruction.id)
        for entry in ctx.journal
    )


def _base(step: str) -> str:
    return step.rsplit("/", 1)[-1]


def _variables(ctx: StepContext) -> str:
    own = {name: value for name, value in ctx.context.items() if name not in OWN_NAMES}
    if not own:
        return ""
    text = json.dumps(own, ensure_ascii=False, indent=1, default=str)
    return text if len(text) <= MAX_VARIABLES else f"{text[:MAX_VARIABLES]}\n(cut here)"


def _reported(ctx: StepContext) -> str:
    """The last steps with what they reported, a line for those before; bounded."""
    listed = ctx.records[-LISTED_STEPS:]
    near = {record.seq for record in ctx.records[-RECENT_STEPS:]}
    parts = [_told(record, full=record.seq in near) for record in listed]
    if left_out := len(ctx.records) - len(listed):
        parts.insert(0, f"({left_out} earlier steps are left out)")
    return "\n".join(parts)


def _told(record: StepRecord, *, full: bool) -> str:
    output = output_name(record.step)
    where = f" (output: {FOLDER}/{output})" if output in record.artifacts else ""
    head = f"- {record.step}: {record.message.split(chr(10), 1)[0]}{where}"
    if not full:
        return head
    files = f"files: {', '.join(record.files[:20])}\n" if record.files else ""
    return f"{head}\n{indent(files + record.summary[:MAX_SUMMARY], '  ')}"
