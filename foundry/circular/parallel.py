"""An iteration as several conversations side by side, each on parts of its own (`--parallel`).

Each has a work tree of its own and an equal share of the money that is left; they run in threads.
When all have ended, their work is merged into the run's work tree (merge.py), and the iteration
is one step of the journal and one commit like any other. What could not be merged is kept in a ref
and is due in the next iteration, alone, on what the others made.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

from foundry.circular.history import MARK, PARTITION, assignment_of
from foundry.circular.merge import joint_outcome, joint_report, merge
from foundry.circular.partitions import Partition, Partitioning, alone, done_parts, partitions
from foundry.circular.prompt_values import announce
from foundry.circular.schema import Mark, PartitionReport, Report
from foundry.conversation.brief import Outcome
from foundry.engine.notes import Notebook
from foundry.engine.perform import perform
from foundry.engine.scratch_worktree import Aside, cleared, put_away, set_up
from foundry.engine.step_context import StepContext, own_files
from foundry.engine.step_kind import Performed, kind_of
from foundry.errors import FoundryError, ProjectError
from foundry.sandbox.orphans import reap_orphans
from foundry.schema.events import Event, Note, PartEnded
from foundry.schema.journal import Spend, step_slug
from foundry.schema.messages import Usage
from foundry.schema.permission import Answer, Question
from foundry.store import runs
from foundry.store.ledger import TURN, Ledger, Spent

PATIENCE = 10.0
"""Seconds that conversations are given to end when a person stops the run."""
BETWEEN = 0.1
"""Seconds between two looks at what they run meanwhile."""


class Share(Ledger):
    """A share of a run's money: counts its own calls, and notes them in the run's ledger."""

    def __init__(self, whole: Ledger, lock: threading.Lock, stop: threading.Event) -> None:
        self._whole, self._lock, self._stop = whole, lock, stop
        self.total = Spent()

    def record(
        self, conversation: str, usage: Usage, usd: float | None, purpose: str = TURN
    ) -> None:
        """Note one call; raises Stopped when the run is to end before anything follows from it."""
        with self._lock:
            self._whole.record(conversation, usage, usd, purpose)
        self.total = self.total.plus(usage, usd, purpose)
        if self._stop.is_set():
            raise Stopped("the run is being stopped")


class Stopped(FoundryError):
    """A conversation beside others was ended, because the run is."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation that ended: where it worked, what it came to, or the error that cut it off.

    `work` is the commit of what it changed, empty where that is nothing, or gone.
    """

    partition: Partition
    worktree: Aside
    ctx: StepContext
    work: str
    spend: Spend
    done: Performed | None = None
    error: FoundryError | None = None

    @property
    def report(self) -> Report | None:
        """What it reported; None where nothing of it can be kept."""
        if self.done is None or self.error:
            return None
        done, kept = self.done, self.done.kept
        if done.outcome.submission is not None:
            result = kind_of(self.ctx.instruction.step).result(
                self.ctx, done.outcome.submission, done.evidence
            )
            kept = (result, done.evidence)
        return Mark.model_validate(kept[0].patch[MARK]).report if kept else None

    @property
    def failure(self) -> str:
        """Why nothing of it can be kept."""
        return str(self.error) if self.error else self.done.outcome.detail if self.done else ""


def side_by_side(ctx: StepContext) -> tuple[Outcome, Report | None] | None:
    """The iteration that is due, by several conversations; None where it is the work of one.

    Without a report where nothing of any of them can be kept. Raises what perform raises, when it
    kept all of them from coming to an end.
    """
    split = _split(ctx)
    left = ctx.usd_left()
    if split.reason and not split.partitions and ctx.iteration == 1:
        ctx.observe(Note(f"nothing is worked on side by side: {split.reason}"))
    if not split.partitions or left <= 0:
        return None
    announce(ctx, [each.title for each in split.partitions])
    try:
        return _joined(ctx, _held(ctx, split.partitions, left), split.reason)
    finally:
        for kept in cleared(ctx.project, ctx.repository, ctx.start.run):
            ctx.observe(Note(f"work beside the run's own is kept in {kept}"))


def _split(ctx: StepContext) -> Partitioning:
    """What there is to do side by side in this iteration."""
    instruction, assignment = ctx.instruction, assignment_of(ctx.journal)
    if (
        assignment is None
        or assignment.settings.parallel < 2
        or instruction.attempt > 1
        or alone(ctx.journal)
    ):
        return Partitioning((), "")
    files, done = own_files(ctx.repository.files()), done_parts(ctx.journal)
    most = assignment.settings.parallel
    return partitions(assignment.base_context, assignment.prompt, files, most, done)


def _held(ctx: StepContext, found: Sequence[Partition], left: float) -> tuple[Thread, ...]:
    """Hold the conversations, each in a thread of its own, until the last one has ended."""
    run, stop, lock = ctx.start.run, threading.Event(), threading.Lock()

    def approve(question: Question) -> Answer | None:
        with lock:
            return ctx.approve(question)

    def observe(event: Event) -> None:
        if stop.is_set():  # before the next command of a turn begins
            raise Stopped("the run is being stopped")
        ctx.observe(event)

    def warn(text: str) -> None:
        ctx.observe(Note(text))

    numbers = range(1, len(found) + 1)
    worktrees = [set_up(ctx.project, ctx.repository, run, number, warn) for number in numbers]
    model, share = ctx.model(ctx.instruction.step.role), left / len(found)
    shared = replace(
        ctx, model=lambda _role: model, max_usd=share, on_text=None, approve=approve,
        observe=observe,
    )  # fmt: skip
    shares = [Share(ctx.ledger, lock, stop) for _ in found]
    contexts = [_context(shared, *each) for each in zip(found, worktrees, shares, strict=True)]
    pool = ThreadPoolExecutor(len(found), thread_name_prefix="part")
    ends = [pool.submit(perform, each) for each in contexts]
    try:
        wait(ends)
    finally:  # at Ctrl-C none of them may go on behind our back
        stop.set()
        _end_commands(run, ends)
        pool.shutdown(wait=False, cancel_futures=True)
    return tuple(
        _ended(*each) for each in zip(found, worktrees, contexts, shares, ends, strict=True)
    )


def _end_commands(run: str, ends: Sequence["Future[Performed]"]) -> None:
    """End the commands of conversations that are to stop, also those that a turn still begins."""
    until = time.monotonic() + PATIENCE
    while not all(each.done() for each in ends) and time.monotonic() < until:
        reap_orphans(runs.running_command(run))
        wait(ends, BETWEEN)


def _ended(
    partition: Partition, worktree: Aside, ctx: StepContext, share: Share, end: "Future[Performed]"
) -> Thread:
    work, done, cut = "", None, None
    try:
        done = end.result()
    except FoundryError as error:
        cut = error
    try:
        work = worktree.work(f"part: {partition.title}")
    except ProjectError as error:
        cut = cut or error
    spend = done.outcome.spend if done else _spend(share.total)
    return Thread(partition, worktree, ctx, work, spend, done, cut)


def _spend(spent: Spent) -> Spend:
    """What a conversation used that an error cut off, as its share of the money knows it."""
    return Spend(
        usage=spent.usage,
        cost_usd=None if spent.unpriced else round(spent.usd, 6),
        turns=spent.calls - spent.reflection.rounds,
        reflection=spent.reflection.rounded,
    )


def _context(ctx: StepContext, partition: Partition, worktree: Aside, share: Share) -> StepContext:
    """What one of the conversations has before it."""
    due = ctx.instruction
    values = {"id": partition.id, "items": list(partition.items), "paths": list(partition.paths)}
    own = replace(due, id=f"{due.id}/{partition.id}", context={**due.context, PARTITION: values})
    return replace(
        ctx,
        project=worktree.project,
        repository=worktree.repository,
        instruction=own,
        hold_head=worktree.hold_head,
        ledger=share,
        notebook=Notebook(ctx.notebook.all, ctx.start.run, own.id, ctx.now()),
    )


def _joined(
    ctx: StepContext, ends: Sequence[Thread], reason: str
) -> tuple[Outcome, Report | None] | None:
    """Merge what the conversations made, and make one iteration of them.

    None where the shares of the money pay for no call: one conversation may have all that is left.
    """
    outcomes = [end.done.outcome for end in ends if end.done]
    if not outcomes:
        raise next(end.error for end in ends if end.error)
    if not any(outcome.spend.turns for outcome in outcomes):
        return None
    reports = [end.report for end in ends]
    ctx.hold_head()
    works = {
        end.partition.id: end.work for end, report in zip(ends, reports, strict=True) if report
    }
    left_out = {end.partition.id: end.failure for end in ends if end.partition.id not in works}
    left_out |= merge(ctx, works)
    parts = [_part(ctx, end, report, left_out) for end, report in zip(ends, reports, strict=True)]
    known = len(ctx.notebook.all)
    for end, part in zip(ends, parts, strict=True):
        _tell(ctx, end, part, known)
        put_away(ctx.repository, end.worktree)
    outcome = joint_outcome(outcomes, [end.spend for end in ends if not end.done])
    if not any(reports):
        return outcome, None
    whole = joint_report(list(zip(parts, reports, strict=True)), reason)
    return replace(outcome, reason="submitted"), whole


def _part(
    ctx: StepContext, end: Thread, report: Report | None, left_out: Mapping[str, str]
) -> PartitionReport:
    """What became of a conversation; what is not in the result is kept in a ref."""
    partition, work, spend = end.partition, end.work, end.spend
    merged = partition.id not in left_out
    name = f"{ctx.start.run}/{step_slug(ctx.instruction.id)}-{partition.id}"
    if work and not merged:
        ctx.repository.pin(name, work)
    return PartitionReport(
        id=partition.id,
        title=partition.title,
        parts=tuple(part.id for part in partition.parts),
        ending=end.done.outcome.reason if end.done else "error",
        verdict=report.verdict if report else None,
        files=own_files(ctx.repository.changed_between(end.worktree.base, work)) if work else (),
        tokens=spend.usage.context_tokens,
        peak_context=spend.context_share,
        conversation=spend.conversation,
        merged=merged,
        why=" ".join(left_out.get(partition.id, "").split())[:300],
        ref=f"refs/foundry/{name}" if work and not merged else "",
    )


def _tell(ctx: StepContext, end: Thread, part: PartitionReport, known: int) -> None:
    """Tell of a conversation, and take over what it noted after the `known` notes."""
    for note in end.ctx.notebook.all[known:]:
        ctx.notebook.add(note.kind, note.text, note.path, note.closes)
    ctx.observe(
        PartEnded(
            step=ctx.instruction.id,
            part=part.title,
            merged=part.merged,
            why=part.why,
            reason=part.verdict or part.ending,
            context_share=part.peak_context,
            files_changed=len(part.files),
            tokens=part.tokens,
        )
    )
