"""One conversation of a run: brief it, hold it, judge its submissions."""

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from foundry.conversation.brief import Brief, Outcome, Purpose, TurnDone, Watchers
from foundry.conversation.budget import Allowance
from foundry.conversation.loop import converse
from foundry.engine import prompt_values as briefing
from foundry.engine.contracts import Contract, Kept, contract, output_of
from foundry.engine.memory_moments import Talk
from foundry.engine.result import Evidence
from foundry.engine.step_context import StepContext, own_files
from foundry.errors import UnreadableFiles
from foundry.files import append_line, atomic_write
from foundry.model.base import Model
from foundry.permission.approvals import Approve, nobody
from foundry.permission.guard import Guard
from foundry.redact import redacted, secret_values
from foundry.schema.messages import Message, Usage
from foundry.schema.permission import Policy
from foundry.schema.run import Limits
from foundry.store.ledger import Ledger
from foundry.store.project import FOLDER, LOCAL
from foundry.tools.base import Tool, Toolset
from foundry.tools.note import NAME as NOTE
from foundry.tools.note import note_tool
from foundry.tools.recall import NAME as RECALL
from foundry.tools.submit import NAME as SUBMIT
from foundry.tools.submit import submit_tool
from foundry.tools.think import NAME as THINK
from foundry.tools.think import thinking_tool
from foundry.tools.toolset import Workbench, make_tools
from foundry.workflow.criteria import judge


@dataclass(frozen=True, slots=True)
class Performed:
    """A conversation's outcome, with the evidence of its accepted submission.

    `kept` is what its contract keeps of it where it ended without one.
    """

    outcome: Outcome
    evidence: Evidence
    contract: Contract
    kept: Kept | None = None


@dataclass(frozen=True, slots=True)
class Means:
    """What a conversation needs beside its ctx."""

    model: Model
    limits: Limits
    deadline: float
    ledger: Ledger
    policy: Policy = field(default_factory=Policy)
    approve: Approve = nobody
    on_text: Callable[[str], None] | None = None


def perform(ctx: StepContext, means: Means) -> Performed:
    """Hold the conversation of the step that is due.

    Raises ModelUnavailable and ModelRejected when the model's side fails, DecisionNeeded when
    a call waits for a person.
    """
    promise = contract(ctx.instruction.step.contract)
    judge = _Judge(ctx, promise)
    name = _conversation_id(ctx)
    brief = Brief(
        id=name,
        step=ctx.instruction.id,
        system=briefing.system(ctx),
        opening=briefing.opening(ctx, name),
        tools=_tools(ctx, means, promise, judge, name),
        reflection=ctx.instruction.step.thinks,
        workspace=lambda: briefing.workspace(ctx),
        memory=lambda: ctx.memory.accumulated(name),
        keeps=promise.cut_short is not None,
    )
    outcome = converse(brief, means.model, _allowance(ctx, means), _watchers(ctx, means, name))
    if outcome.known:
        atomic_write(ctx.project.known / f"{name}.md", outcome.known)
    kept = judge.kept(outcome) if outcome.submission is None else None
    return Performed(outcome, judge.evidence, promise, kept)


SHOWN_CLOSED = 20


class _Judge:
    """Reviews submissions and keeps the evidence of the last one."""

    def __init__(self, ctx: StepContext, promise: Contract) -> None:
        self.evidence = Evidence()
        self._ctx, self._promise = ctx, promise

    def kept(self, outcome: Outcome) -> Kept | None:
        """What is kept of a conversation that handed in nothing."""
        if self._promise.cut_short is None:
            return None
        self._reclaim()
        try:
            return self._promise.cut_short(self._ctx, outcome)
        except UnreadableFiles:
            return None

    def _reclaim(self) -> None:
        """Ours: what the model did there goes."""
        self._ctx.hold_head()
        self._ctx.repository.reclaim(FOLDER, keep=LOCAL)

    def __call__(self, submission: BaseModel) -> tuple[str, ...]:
        self._reclaim()
        self.evidence = self._judged(submission)
        if problems := _criteria_problems(self._ctx, submission):
            self.evidence = Evidence((*self.evidence.problems, *problems))
        if self.evidence.problems:
            self._ctx.repository.unstage()  # for the model's own git nothing has happened
        return self.evidence.problems

    def _judged(self, submission: BaseModel) -> Evidence:
        try:
            return self._promise.gate(self._ctx, submission)
        except UnreadableFiles as error:
            return Evidence(tuple(_closed(path) for path in error.paths[:SHOWN_CLOSED]))


def _closed(path: str) -> str:
    return (
        f"{path} can't be read, so it would not be committed: make it a file with `chmod u+rwX`, "
        "remove it, or let .gitignore name it"
    )


def _criteria_problems(ctx: StepContext, submission: BaseModel) -> tuple[str, ...]:
    """What the step's own validation criteria say against its output, and their advice."""
    criteria = ctx.instruction.step.validation_criteria
    if not criteria:
        return ()
    context = {**ctx.context, **getattr(submission, "context", {})}
    verdict = judge(criteria, output_of(submission), context)
    return () if verdict.valid else (*verdict.issues, *verdict.suggestions)


def _tools(ctx: StepContext, means: Means, promise: Contract, judge: _Judge, name: str) -> Toolset:
    workbench = Workbench(
        root=ctx.project.root,
        sandbox=ctx.sandbox,
        list_paths=lambda: own_files(ctx.repository.files()),
        grep=ctx.repository.grep,
        recall=lambda: ctx.memory.recall_tool(name),
    )
    chosen = make_tools(ctx.instruction.step.tools, workbench)
    guard = Guard(
        means.policy, ctx.project.root, run=ctx.start.run, step=ctx.instruction.id,
        approve=means.approve, observe=ctx.observe,
    )  # fmt: skip
    kept: dict[str, Tool[Any]] = {NOTE: note_tool(ctx.notebook.keep)}
    if ctx.instruction.step.thinks.mode == "rounds":
        chosen |= make_tools([RECALL], workbench)
        kept[THINK] = thinking_tool()
    return Toolset({**guard.wrap(chosen), **kept, SUBMIT: submit_tool(promise.schema, judge)})


def _allowance(ctx: StepContext, means: Means) -> Allowance:
    return Allowance(
        budget=ctx.instruction.step.budget,
        usd_left=lambda: means.limits.max_usd - means.ledger.total.usd,
        deadline=means.deadline,
        now=time.monotonic,
    )


def _watchers(ctx: StepContext, means: Means, conversation: str) -> Watchers:
    transcript = ctx.project.conversations / f"{conversation}.jsonl"

    known = secret_values(os.environ)

    def record(message: Message) -> None:
        told = redacted(message, known)
        append_line(transcript, json.dumps(told, ensure_ascii=False), sync=False)

    def spent(usage: Usage, usd: float | None, purpose: Purpose) -> None:
        means.ledger.record(conversation, usage, usd, purpose)

    talk = Talk(
        id=conversation,
        run=ctx.start.run,
        phase=ctx.instruction.phase,
        step=ctx.instruction.id,
        task=briefing.assignment(ctx),
        attempt=ctx.instruction.attempt,
    )

    def turned(done: TurnDone) -> None:
        ctx.memory.turned(talk, done)
        if done.summary:
            ctx.memory.summarized(talk.id, done.number, done.summary)

    return Watchers(ctx.observe, record, spent, means.on_text, turned)


def _conversation_id(ctx: StepContext) -> str:
    step = ctx.instruction.id.replace("/", "-").replace("[", "-").replace("]", "")
    name = f"{len(ctx.journal) + 1:04d}-{step}"
    killed = len(list(ctx.project.conversations.glob(f"{ctx.start.run}-{name}*")))
    return f"{ctx.start.run}-{name}" + (f"-again-{killed}" if killed else "")
