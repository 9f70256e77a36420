"""What a step's prompt is filled with: read from disk and journal, never from a conversation.

How much of a step's own words is told is decided in `workflow/disclosure.py`: a fresh
conversation gets all.
"""

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import indent
from typing import Any

from foundry.context.overview import document as overview
from foundry.context.overview.document import without_record
from foundry.context.retrieval.excerpts import excerpts
from foundry.context.templates import render
from foundry.engine.notes import for_prompt
from foundry.engine.records import title
from foundry.engine.step_context import StepContext, own_files
from foundry.engine.step_kind import built_by, kind_of, task_step
from foundry.errors import ArtifactError
from foundry.files import read_bounded
from foundry.model.tokens import estimate
from foundry.schema.events import Note, Retrieved
from foundry.schema.journal import Attempt, StepRecord
from foundry.schema.learning import PHASES
from foundry.schema.messages import Block, text_block
from foundry.schema.plan import MAX_TASKS, Task
from foundry.schema.variables import OWN_NAMES
from foundry.schema.workflow import LoopStep, Workflow
from foundry.store.artifacts import read_text
from foundry.store.project import CONTEXT, FOLDER, output_name
from foundry.tools.recall import NAME as RECALL
from foundry.workflow.conditions import names
from foundry.workflow.disclosure import disclose
from foundry.workflow.placeholders import fill

STEP, SYSTEM = "workflow/step.md.j2", "workflow/system.md.j2"
"""Templates of a workflow that names none."""

MAX_ARTIFACT = 24_000
MAX_FILES = 200
CONVENTIONS = ("AGENTS.md", "CLAUDE.md")
MAX_CONVENTIONS = 8_000
"""Bytes of each."""
EXCERPTS = 2_000
"""Tokens of the parts of files that a task is about."""
MAX_ABOUT = 2_000
"""Characters of each thing at hand by which the memory is searched."""
SHOWN_CHANGES = 20
RECENT_TASKS = 10
LISTED_TASKS = 60
RECENT_STEPS = 10
LISTED_STEPS = 60
MAX_SUMMARY = 800
MAX_VARIABLES = 24_000
"""Characters of all variables in a prompt."""


def opening(ctx: StepContext) -> tuple[Block, ...]:
    """The first message of a step's conversation."""
    template = ctx.instruction.step.template or STEP
    kind = kind_of(ctx.instruction.step)
    values = {**_common(ctx), **workflow_values(ctx), **kind.values(ctx)}
    without = render(template, {**values, "memory": ""}, ctx.templates)
    memory = _memory(ctx, values, without)
    return render(template, {**values, "memory": memory}, ctx.templates) if memory else without


def assignment(ctx: StepContext) -> str:
    """What a step is to do, in few words: what the memory keeps of its prompt."""
    step = ctx.instruction.step
    own = None if step.action else kind_of(step).assignment
    if own is not None:
        return own(ctx)
    prompt = fill(step.prompt, ctx.context).text
    return "\n\n".join(filter(None, (title(ctx.instruction), prompt, ctx.start.spec)))


def _memory(ctx: StepContext, values: Mapping[str, Any], opening: tuple[Block, ...]) -> str:
    """What was done before this step, as far as the rest of its prompt does not tell of it."""
    step, tools = ctx.instruction.step, ctx.instruction.step.tools
    at_hand = (ctx.instruction.last_failure, values.get("results", ""), assignment(ctx))
    return ctx.memory.accumulated(
        ctx.conversation,
        about="\n".join(text[:MAX_ABOUT] for text in at_hand),
        beside="\n".join(block["text"] for block in opening),
        recall=tools is None or RECALL in tools or step.thinks.mode == "rounds",
    )


def system(ctx: StepContext) -> tuple[Block, ...]:
    """The system prompt that all steps of a workflow share; its end is a cache breakpoint."""
    blocks = render(ctx.workflow.system or SYSTEM, {}, ctx.templates)
    whole = "\n\n".join(block["text"] for block in blocks)
    return (text_block(whole, cache=True),)


def workspace(ctx: StepContext) -> str:
    """How things stand now, in a few lines; what the project holds is told by the opening."""
    changed = own_files(ctx.repository.changes())
    more = f" and {len(changed) - SHOWN_CHANGES} more" if len(changed) > SHOWN_CHANGES else ""
    listed = ", ".join(changed[:SHOWN_CHANGES]) + more
    lines = [f"{len(own_files(ctx.repository.files())):,} files; changed since the last accepted "
             f"step: {listed or 'none'}"]  # fmt: skip
    if last := next(reversed(ctx.records), None):
        lines.append(f"the last accepted step: {last.step}")
    return "\n".join(lines)


def _common(ctx: StepContext) -> dict[str, Any]:
    instruction = ctx.instruction
    files = own_files(ctx.repository.files())
    texts = ((name, read_text(ctx.project, name)) for name in instruction.step.reads)
    return {
        **ctx.context,
        "step": instruction.id,
        "title": title(instruction),
        "spec": ctx.start.spec,
        "project_name": ctx.project.root.name,
        "existing": bool(ctx.context.get("existing")),
        "size": ctx.context.get("size", "medium"),
        "max_tasks": MAX_TASKS[str(ctx.context.get("size", "medium"))],
        "last_failure": instruction.last_failure,
        "files": files[:MAX_FILES],
        "files_total": len(files),
        "artifacts": {name: capped(text, name) for name, text in texts if text},
        "patterns": _patterns(ctx),
        "project_context": _project_context(ctx.project.root),
        "conventions": _conventions(ctx.project.root),
        "notes": for_prompt(ctx.notebook.all),
        "excerpts": "",
        "earlier": earlier_work(ctx),
    }


def _project_context(root: Path) -> str:
    """CONTEXT.md without the record that code keeps at its end."""
    return capped(without_record(overview.read(root)), CONTEXT)


def _conventions(root: Path) -> dict[str, str]:
    """What the project asks of those who work on it."""
    found = {name: read_bounded(Path(name), MAX_CONVENTIONS, root=root) for name in CONVENTIONS}
    return {name: text for name, text in found.items() if text}


def excerpts_about(ctx: StepContext, text: str) -> str:
    """What of the project the text is about, so that a conversation need not search for it."""
    begun = time.perf_counter()
    found = excerpts(ctx.project.root, text, EXCERPTS)
    files = tuple(f"read {line[3:]}" for line in found.split("\n") if line.startswith("## "))
    if files:
        tokens, seconds = estimate([text_block(found)]), time.perf_counter() - begun
        ctx.observe(Retrieved(ctx.instruction.id, ctx.conversation, files, tokens, seconds))
    return found


def _patterns(ctx: StepContext) -> list[str]:
    phase = next((each for each in PHASES if each == ctx.instruction.phase), None)
    if phase is None:
        return []
    try:
        found = ctx.library.matching(
            str(ctx.context.get("project_type", "")),
            tuple(ctx.context.get("tech_stack", ())),
            ctx.start.spec,
            phase,
            today=ctx.start.at.date(),
        )
    except ArtifactError as error:
        ctx.observe(Note(f"the pattern library is left out: {error}"))
        return []
    return [f"- {pattern.summary}" for pattern in found]


def earlier_work(ctx: StepContext, task: Task | None = None) -> str:
    """What was made before: in full where the task depends on it or it is recent, else a line.

    Bounded, so that the three-hundredth task is told as much as the thirtieth.
    """
    made = [record for record in ctx.records if built_by(ctx.workflow, record.step)]
    tasks = ctx.context.get("tasks", ())
    done = {task_step(ctx.workflow, n): each["id"] for n, each in enumerate(tasks, 1)}
    near = {record.seq for record in made[-RECENT_TASKS:]}
    if task:
        near |= {
            record.seq
            for record in made
            if done.get(record.step) in task.depends_on or set(record.files) & set(task.files)
        }
    listed = [r for r in made if r.seq in near or r.seq >= made[-LISTED_TASKS:][0].seq]
    parts = [_made(record, full=record.seq in near) for record in listed]
    left_out = len(made) - len(listed)
    if left_out:
        parts.insert(0, f"({left_out} earlier tasks: see .context-foundry/build-log.md)")
    return "\n".join(parts)


def _made(record: StepRecord, *, full: bool) -> str:
    title = record.message.split("\n", 1)[0]
    if not full:
        return f"- {title}"
    files = ", ".join(record.files[:20])
    return f"- {title}\n  files: {files}\n{indent(record.summary[:MAX_SUMMARY], '  ')}"


def capped(text: str, name: str) -> str:
    """An artifact's text for a prompt, at most MAX_ARTIFACT characters; says where the rest is."""
    if len(text) <= MAX_ARTIFACT:
        return text
    return f"{text[:MAX_ARTIFACT]}\n(cut here; the rest is in .context-foundry/{name})"


def workflow_values(ctx: StepContext) -> dict[str, Any]:
    """The workflow, the step in its words, the run's variables and what earlier steps reported."""
    disclosure = disclose(ctx.workflow, ctx.instruction, "fresh")
    if not _has_begun_before(ctx):
        for warning in disclosure.warnings:
            ctx.observe(Note(warning))
    return {
        "workflow": _filled(ctx),
        "context": dict(ctx.context),
        "prompt": disclosure.guidance["prompt"],
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


def _has_begun_before(ctx: StepContext) -> bool:
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
    parts = [_reported_step(record, full=record.seq in near) for record in listed]
    if left_out := len(ctx.records) - len(listed):
        parts.insert(0, f"({left_out} earlier steps are left out)")
    return "\n".join(parts)


def _reported_step(record: StepRecord, *, full: bool) -> str:
    output = output_name(record.step)
    where = f" (output: {FOLDER}/{output})" if output in record.artifacts else ""
    head = f"- {record.step}: {record.message.split(chr(10), 1)[0]}{where}"
    if not full:
        return head
    files = f"files: {', '.join(record.files[:20])}\n" if record.files else ""
    return f"{head}\n{indent(files + record.summary[:MAX_SUMMARY], '  ')}"
