"""What a thread is told beside its prompt: what was done, what is left, what fails. Pure views.

The base context and the prompt are the same for every thread, and stand first; the history after
them is bounded, so that the hundredth iteration is told as much as the tenth.
"""

from collections.abc import Collection, Sequence
from textwrap import indent
from typing import Any

from foundry.circular.adaptation import HALF, MOST, setup_of
from foundry.circular.assignment import assigned, changes_notice, context_text, intact
from foundry.circular.history import (
    PARTITION,
    assignment_of,
    last_mark,
    last_work,
    left_of,
    mark_of,
    reverted_of,
    states_of,
)
from foundry.circular.metrics import work
from foundry.circular.partitions import unmerged
from foundry.circular.schema import Assignment, IterationState
from foundry.engine.evidence.diffs import diff_since
from foundry.engine.step_context import StepContext
from foundry.files import read_bounded
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
    """The values of the templates in prompts/circular/.

    Raises ArtifactError when prompt or base context are not what was journalled.
    """
    assignment = _assignment(ctx)
    setup = setup_of(ctx.journal, doubts=_doubts(ctx))
    context = context_text(setup.context if setup else assignment.base_context)
    if setup:
        assignment = assignment.model_copy(update={"prompt": setup.version.text})
    if PARTITION not in ctx.context:
        announce(ctx)
    states = states_of(ctx.journal)
    with_placeholder = fill(assignment.prompt, {PLACEHOLDER: "x"}).text != assignment.prompt
    return {
        "iteration": ctx.iteration,
        "most": ctx.instruction.loop.loop.max_iterations if ctx.instruction.loop else 0,
        "base_context": "" if with_placeholder else context,
        "task": _filled(assignment, context),
        "told": _earlier(ctx),
        "left": left_of(ctx.journal)[:MAX_LEFT],
        "failing": _failing(states),
        "evidence": _evidence(ctx),
        "doubted": _doubted(ctx) if _doubts(ctx) else {},
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
    if assignment and (changed := changes_notice(assignment)):
        ctx.observe(Note(changed))
    doubts = _doubts(ctx)
    setup = setup_of(ctx.journal, doubts=doubts)
    ctx.observe(
        IterationStarted(
            step=ctx.instruction.id,
            iteration=last_mark(ctx.journal).number if doubts else ctx.iteration,
            doubt=doubts,
            threshold=ctx.instruction.step.budget.threshold,
            model=setup.model if setup else "",
            prompt_version=setup.version.number if setup else 1,
            reasons=setup.reasons if setup else {},
            parts=tuple(parts),
        )
    )


def _doubts(ctx: StepContext) -> bool:
    return ctx.instruction.step.contract == "circular-doubt"


def _assignment(ctx: StepContext) -> Assignment:
    """What every thread is told; of a run that was begun as any workflow is, its spec."""
    given = assignment_of(ctx.journal)
    return intact(given) if given else assigned(ctx.start.spec, checked=bool(ctx.start.checks))


def _filled(assignment: Assignment, context: str) -> str:
    """The prompt with `{{base_context}}` and the context's own names filled in."""
    if "{{" not in assignment.prompt:
        return assignment.prompt
    base = assignment.base_context
    names = base.model_dump(mode="json", by_alias=True) if base else {}
    return fill(assignment.prompt, {**names, PLACEHOLDER: context}).text


def _earlier(ctx: StepContext) -> str:
    """The threads so far: the last ones with what they reported, the rest as a line each."""
    records = [r for r in ctx.records if (mark := mark_of(r)) and mark.report]
    listed = records[-LISTED:]
    near = {record.seq for record in records[-RECENT:]}
    reverted = reverted_of(ctx.journal)
    entries = [_thread(record, reverted, full=record.seq in near) for record in listed]
    if left_out := len(records) - len(listed):
        entries.insert(0, f"({left_out} earlier threads: `git log` and .context-foundry/circular/)")
    return "\n".join(entries)


def _thread(record: StepRecord, reverted: Collection[int], *, full: bool) -> str:
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


def _evidence(ctx: StepContext) -> str:
    """What the thread whose work was judged last gave as evidence, in its own words."""
    last = last_work(ctx.journal)
    if last is None:
        return ""
    _, report = last
    return report.evidence if report.verdict else report.said


def _doubted(ctx: StepContext) -> dict[str, str]:
    """The change that is doubted and the commit before it: of the last iteration, or of the whole
    run where that changed nothing; and the commit at which the run began."""
    last = last_work(ctx.journal)
    made = last is not None and last[0].files
    commits = {each.step: each.sha for each in ctx.repository.commits(ctx.start.run)}
    before = f"{commits[last[0].step]}~1" if last and made else ctx.base
    since = ctx.repository.ref(before)
    return {"began": ctx.base, "since": since, "diff": diff_since(ctx.repository, since)}


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
    last = last_work(ctx.journal)
    if last is None:
        return ""
    record, report = last
    partition = ctx.context.get(PARTITION)
    same = [each for each in report.partitions if partition and each.id == partition["id"]]
    names = [each.conversation for each in same or report.partitions]
    paths = (ctx.project.known / f"{name}.md" for name in names or [record.spend.conversation])
    texts = (read_bounded(path, MAX_KNOWN) for path in paths)
    return "\n\n".join(filter(None, texts))[:MAX_KNOWN]
