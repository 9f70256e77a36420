"""What a thread is told beside its prompt: what was done, what is left, what fails. Pure views.

The base context and the prompt are the same for every thread, and stand first; the history after
them is bounded, so that the hundredth iteration is told as much as the tenth.
"""

from collections.abc import Collection, Sequence
from textwrap import indent
from typing import Any

from foundry.circular.adaptation import HALF, MOST, doubt_setup, work_setup
from foundry.circular.assignment import assigned, intact, notice
from foundry.circular.history import (
    PARTITION,
    assignment_of,
    last_mark,
    left_of,
    mark_of,
    reverted_of,
    states_of,
)
from foundry.circular.metrics import work
from foundry.circular.partitions import unmerged
from foundry.circular.schema import Assignment, BaseContext, IterationState, Report
from foundry.engine.step_context import StepContext
from foundry.schema.events import IterationStarted, Note
from foundry.schema.journal import StepRecord
from foundry.workflow.placeholders import fill

RECENT = 3
"""Iterations that are told in full."""
LISTED = 40
MAX_REPORT = 2_000
MAX_KNOWN = 8_000
MAX_FAILURE = 1_500
MAX_LEFT = 60

PLACEHOLDER = "base_context"

RULE = (
    "A part that is done is told in a line; the history's notes go when "
    f"{HALF:.0%} of the known issues are resolved, the history itself at {MOST:.0%}; and "
    "everything is back after an iteration that resolved nothing."
)
"""How a progressive context shrinks (adaptation.py), for who is told so."""


def circular_values(ctx: StepContext) -> dict[str, Any]:
    """The values of the templates in prompts/circular/."""
    assignment = intact(assignment_of(ctx.journal)) or plain_assignment(ctx)
    doubts = ctx.instruction.step.contract == "circular-doubt"
    setup = doubt_setup(ctx.journal) if doubts else work_setup(ctx.journal)
    context = rendered(setup.context if setup else assignment.base_context)
    if setup:
        assignment = assignment.model_copy(update={"prompt": setup.version.text})
    if PARTITION not in ctx.context:
        announce(ctx)
    states = states_of(ctx.journal)
    return {
        "iteration": ctx.iteration,
        "most": ctx.instruction.loop.loop.max_iterations if ctx.instruction.loop else 0,
        "base_context": "" if _has_placeholder(assignment.prompt) else context,
        "task": filled(assignment, context),
        "told": _history(ctx, states),
        "left": left_of(ctx.journal)[:MAX_LEFT],
        "failing": _failing(states),
        "evidence": _claim(ctx),
        "known": _known(ctx),
        "left_out": setup.left_out if setup else (),
        "rule": RULE,
        "refining": ctx.instruction.step.contract == "circular-refining",
        "partition": ctx.context.get(PARTITION),
        "again": tuple(f"{each.title}: {each.why}" for each in unmerged(ctx.journal)),
    }


def announce(ctx: StepContext, parts: Sequence[str] = ()) -> None:
    """Tell whoever watches how the thread that is due is set up, or those side by side."""
    assignment = assignment_of(ctx.journal)
    if assignment and (changed := notice(assignment)):
        ctx.observe(Note(changed))
    ctx.observe(_beginning(ctx, parts))


def _beginning(ctx: StepContext, parts: Sequence[str]) -> IterationStarted:
    doubts = ctx.instruction.step.contract == "circular-doubt"
    setup = doubt_setup(ctx.journal) if doubts else work_setup(ctx.journal)
    return IterationStarted(
        step=ctx.instruction.id,
        iteration=last_mark(ctx.journal).number if doubts else ctx.iteration,
        doubt=doubts,
        threshold=ctx.instruction.step.budget.threshold,
        model=setup.model if setup else "",
        prompt_version=setup.version.number if setup else 1,
        reasons=setup.reasons if setup else {},
        parts=tuple(parts),
    )


def plain_assignment(ctx: StepContext) -> Assignment:
    """The assignment of a run that was begun as any workflow is: its spec."""
    return assigned(ctx.start.spec, checked=bool(ctx.start.checks))


def rendered(context: BaseContext | None) -> str:
    """The base context in words."""
    if context is None:
        return ""
    project, history = context.project, context.history
    lines = [": ".join(each for each in ("Project", project.name, project.description) if each)]
    if project.tech_stack:
        lines.append(f"Stack: {', '.join(project.tech_stack)}")
    if history:
        way = " → ".join(each for each in (history.origin, history.target) if each)
        about = ", ".join(each for each in (way, history.completion, history.timestamp) if each)
        lines += [f"History: {about}"] if about else []
        lines += [f"- {note}" for note in history.notes]
    lines.append(f"Objective: {context.objective.primary}")
    if context.objective.secondary:
        lines.append(f"Also: {context.objective.secondary}")
    if context.constraints:
        lines += ["Constraints:", *(f"- {each}" for each in context.constraints)]
    for part in context.parts:
        where = f" ({', '.join(part.paths)})" if part.paths else ""
        lines.append(f"Part {part.id}: {part.title}{where}. {part.details}".rstrip(" ."))
    return "\n".join(lines)


def filled(assignment: Assignment, context: str) -> str:
    """The prompt with `{{base_context}}` and the context's own names filled in."""
    if "{{" not in assignment.prompt:
        return assignment.prompt
    base = assignment.base_context
    names = base.model_dump(mode="json", by_alias=True) if base else {}
    return fill(assignment.prompt, {**names, PLACEHOLDER: context}).text


def _has_placeholder(prompt: str) -> bool:
    return fill(prompt, {PLACEHOLDER: "x"}).text != prompt


def _history(ctx: StepContext, states: tuple[IterationState, ...]) -> str:
    """The iterations so far: the last ones with what they reported, the rest as a line each."""
    records = [r for r in ctx.records if (mark := mark_of(r)) and mark.report]
    listed = records[-LISTED:]
    near = {record.seq for record in records[-RECENT:]}
    reverted = reverted_of(ctx.journal)
    parts = [_told(record, reverted, full=record.seq in near) for record in listed]
    if left_out := len(records) - len(listed):
        parts.insert(0, f"({left_out} earlier threads: `git log` and .context-foundry/circular/)")
    return "\n".join(parts)


def _told(record: StepRecord, reverted: Collection[int], *, full: bool) -> str:
    mark = mark_of(record)
    assert mark and mark.report
    who = "doubt of iteration" if mark.report.kind == "doubt" else "iteration"
    how = mark.report.verdict or mark.report.ending.replace("_", " ")
    head = f"- {who} {mark.number}: {how}, {len(record.files)} files changed"
    if mark.number in reverted and mark.report.kind == "work":
        return f"{head}; a person took that work back: it is not in the project"
    if not full:
        return head
    files = f"  files: {', '.join(record.files[:20])}\n" if record.files else ""
    said = mark.report.evidence or mark.report.said
    done = "".join(f"\n- resolved: {each}" for each in mark.report.resolved)
    return f"{head}\n{files}{indent((said + done)[:MAX_REPORT], '  ')}"


def _claim(ctx: StepContext) -> str:
    """What the thread whose work was judged last gave as evidence, in its own words."""
    marks = (mark_of(record) for record in reversed(ctx.records))
    reports = (mark.report for mark in marks if mark and mark.report)
    report = next((each for each in reports if each.kind == "work"), None)
    return (report.evidence if report.verdict else report.said) if report else ""


def _failing(states: tuple[IterationState, ...]) -> str:
    """The checks that the last measured iteration left failing, with the end of their output."""
    last = work(states)[-1:]
    bad = [check for state in last for check in state.checks if not check.holds]
    return "\n\n".join(
        f"`{check.command.strip()}` ended with {check.verdict}\n"
        f"{check.output[-MAX_FAILURE:].strip()}"
        for check in bad
    )


def _known(ctx: StepContext) -> str:
    """What the thread before this one knew when its window was full enough.

    Where several had worked, what all of them knew; for a part what that of the same one did.
    """
    for record in reversed(ctx.records):
        mark = mark_of(record)
        if mark and mark.report and mark.report.kind == "work":
            talks = _talks(mark.report, ctx.context.get(PARTITION))
            names = talks or (record.spend.conversation,)
            return "\n\n".join(filter(None, (_left_by(ctx, name) for name in names)))[:MAX_KNOWN]
    return ""


def _talks(report: Report, partition: dict[str, Any] | None) -> tuple[str, ...]:
    same = [each for each in report.partitions if partition and each.id == partition["id"]]
    return tuple(each.conversation for each in same or report.partitions)


def _left_by(ctx: StepContext, conversation: str) -> str:
    path = ctx.project.known / f"{conversation}.md"
    try:
        return path.read_text(encoding="utf-8", errors="replace")[:MAX_KNOWN]
    except OSError:
        return ""
