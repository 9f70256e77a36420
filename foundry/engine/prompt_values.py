"""What a conversation is told: read from disk and journal, never from another conversation."""

import time
from collections.abc import Mapping
from pathlib import Path
from textwrap import indent
from typing import Any

from foundry.circular.prompt_values import circular_values
from foundry.context.overview import document as overview
from foundry.context.overview.document import without_record
from foundry.context.retrieval.excerpts import excerpts
from foundry.context.templates import render
from foundry.engine import markdown as views
from foundry.engine.disclosed import disclosed
from foundry.engine.notes_view import for_prompt
from foundry.engine.records import title
from foundry.engine.step_context import StepContext, own_files
from foundry.engine.steps import made_something, task_step
from foundry.errors import ArtifactError
from foundry.model.tokens import estimate
from foundry.schema.events import Note, Retrieved
from foundry.schema.journal import StepRecord
from foundry.schema.learning import PHASES
from foundry.schema.messages import Block, text_block
from foundry.schema.plan import MAX_TASKS, Plan, Task
from foundry.store.artifacts import read_plan, read_text
from foundry.store.project import CONTEXT, fixes_name, results_name
from foundry.tools.recall import NAME as RECALL
from foundry.workflow.placeholders import fill

STEP, SYSTEM = "workflow/step.md.j2", "workflow/system.md.j2"
"""Templates of a workflow that names none."""

MAX_ARTIFACT = 24_000
MAX_FILES = 200
CONVENTIONS = ("AGENTS.md", "CLAUDE.md")
MAX_CONVENTIONS = 8_000
"""Characters of each."""
EXCERPTS = 2_000
"""Tokens of the parts of files that a task is about."""
MAX_ABOUT = 2_000
"""Characters of each thing at hand by which the memory is searched."""
SHOWN_CHANGES = 20
RECENT_TASKS = 10
LISTED_TASKS = 60


def opening(ctx: StepContext, conversation: str) -> tuple[Block, ...]:
    """The first message of a step's conversation."""
    template = ctx.instruction.step.template or STEP
    values = {**_common(ctx), **disclosed(ctx), **_special(ctx, conversation)}
    without = render(template, {**values, "memory": ""}, ctx.templates)
    memory = _memory(ctx, conversation, values, without)
    return render(template, {**values, "memory": memory}, ctx.templates) if memory else without


def assignment(ctx: StepContext) -> str:
    """What a step is to do, in few words: what the memory keeps of its prompt."""
    step = ctx.instruction.step
    if step.contract == "builder" and not step.action:
        task = ctx.task()
        wanted = "\n".join(f"- {each.criterion}" for each in task.acceptance)
        return f"{task.id}: {task.title}\n\n{task.description}\n\n{wanted}"
    prompt = fill(step.prompt, ctx.context).text
    return "\n\n".join(filter(None, (title(ctx.instruction), prompt, ctx.start.spec)))


def _memory(
    ctx: StepContext, conversation: str, values: Mapping[str, Any], opening: tuple[Block, ...]
) -> str:
    """What was done before this step, as far as the rest of its prompt does not tell of it."""
    step, tools = ctx.instruction.step, ctx.instruction.step.tools
    at_hand = (ctx.instruction.last_failure, values.get("results", ""), assignment(ctx))
    return ctx.memory.accumulated(
        conversation,
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
        "artifacts": {name: _capped(text, name) for name, text in texts if text},
        "patterns": _patterns(ctx),
        "project_context": _project_context(ctx.project.root),
        "conventions": _conventions(ctx.project.root),
        "notes": for_prompt(ctx.notebook.all),
        "excerpts": "",
        "earlier": _earlier(ctx, None),
    }


def _special(ctx: StepContext, conversation: str) -> dict[str, Any]:
    match ctx.instruction.step.contract:
        case "builder":
            task = ctx.task()
            plan = read_plan(ctx.project)
            return {
                "task": task,
                "components": views.components(plan, _reach(plan, task)) if plan else "",
                "earlier": _earlier(ctx, task),
                "excerpts": _excerpts(ctx, conversation, f"{task.title}\n{task.description}"),
            }
        case "scout" if ctx.context.get("existing"):
            return {"excerpts": _excerpts(ctx, conversation, ctx.start.spec)}
        case "fix-plan" | "fix":
            results = read_text(ctx.project, results_name(ctx.iteration)) or ""
            fixes = read_text(ctx.project, fixes_name(ctx.iteration)) or ""
            return {"results": _capped(results, results_name(ctx.iteration)), "fixes": fixes}
        case "circular" | "circular-refining" | "circular-doubt":
            return circular_values(ctx)
        case "feedback":
            return {"facts": _facts(ctx)}
        case _:
            return {}


def _project_context(root: Path) -> str:
    """CONTEXT.md without the record that code keeps at its end."""
    return _capped(without_record(overview.read(root)), CONTEXT)


def _conventions(root: Path) -> dict[str, str]:
    """What the project asks of those who work on it."""
    found = {name: _read(root, name)[:MAX_CONVENTIONS] for name in CONVENTIONS}
    return {name: text for name, text in found.items() if text}


def _read(root: Path, name: str) -> str:
    """A file of the project; nothing of one that can't be read or leads out of it."""
    path = (root / name).resolve()
    try:
        inside = path.is_relative_to(root.resolve()) and path.is_file()
        return path.read_text(encoding="utf-8", errors="replace") if inside else ""
    except OSError:
        return ""


def _excerpts(ctx: StepContext, conversation: str, text: str) -> str:
    """What of the project the text is about, so that a conversation need not search for it."""
    begun = time.perf_counter()
    found = excerpts(ctx.project.root, text, EXCERPTS)
    files = tuple(f"read {line[3:]}" for line in found.split("\n") if line.startswith("## "))
    if files:
        tokens, seconds = estimate([text_block(found)]), time.perf_counter() - begun
        ctx.observe(Retrieved(ctx.instruction.id, conversation, files, tokens, seconds))
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


def _earlier(ctx: StepContext, task: Task | None) -> str:
    """What was made before: in full where the task depends on it or it is recent, else a line.

    Bounded, so that the three-hundredth task is told as much as the thirtieth.
    """
    made = [record for record in ctx.records if made_something(ctx.workflow, record.step)]
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
    parts = [_told(record, full=record.seq in near) for record in listed]
    left_out = len(made) - len(listed)
    if left_out:
        parts.insert(0, f"({left_out} earlier tasks: see .context-foundry/build-log.md)")
    return "\n".join(parts)


def _reach(plan: Plan, task: Task) -> list[str]:
    """The files whose design a task needs: its own, and those of the tasks that it builds on."""
    before = [plan.task(each) for each in task.depends_on]
    return [*task.files, *(path for each in before if each for path in each.files)]


def _told(record: StepRecord, *, full: bool) -> str:
    title = record.message.split("\n", 1)[0]
    if not full:
        return f"- {title}"
    files = ", ".join(record.files[:20])
    return f"- {title}\n  files: {files}\n{indent(record.summary[:800], '  ')}"


def _facts(ctx: StepContext) -> str:
    lines = [
        f"- {record.step}: accepted at attempt {record.attempt}, {record.spend.turns} turns, "
        f"{record.spend.seconds:.0f} s"
        for record in ctx.records
        if record.spend.turns
    ][-100:]
    lines += [f"- {each.step}: attempt {each.attempt} failed ({each.reason}): {each.detail[:300]}"
              for each in ctx.attempts][-20:]  # fmt: skip
    for record in ctx.records:
        lines += [f"- {record.step}: submission refused: {each}" for each in record.rejections]
        if record.step.endswith("/checks"):
            bad = [check.name for check in record.checks if not check.holds]
            lines.append(f"- {record.step}: failing: {', '.join(bad) or 'none'}")
    return "\n".join(lines)


def _capped(text: str, name: str) -> str:
    if len(text) <= MAX_ARTIFACT:
        return text
    return f"{text[:MAX_ARTIFACT]}\n(cut here; the rest is in .context-foundry/{name})"
