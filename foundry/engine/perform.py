"""One conversation of a run: brief it, hold it, judge its submissions."""

import json
import os
import time
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from foundry.conversation.brief import Allowance, Brief, Outcome, Purpose, TurnDone
from foundry.conversation.loop import converse
from foundry.engine import prompt_values
from foundry.engine.run_memory import Talk
from foundry.engine.step_context import StepContext, own_files
from foundry.engine.step_kind import GateResult, Kept, Performed, StepKind, kind_of
from foundry.errors import UnreadableFiles
from foundry.files import append_line, atomic_write
from foundry.permission.guard import Guard
from foundry.redact import redacted, secret_values
from foundry.schema.journal import step_slug
from foundry.schema.messages import Message, Usage
from foundry.store.project import FOLDER, LOCAL
from foundry.tools.base import SUBMIT, Tool, Toolset, submit_tool
from foundry.tools.note import NAME as NOTE
from foundry.tools.note import note_tool
from foundry.tools.recall import NAME as RECALL
from foundry.tools.think import NAME as THINK
from foundry.tools.think import thinking_tool
from foundry.tools.toolset import Workbench, make_tools
from foundry.workflow.criteria import judge


def perform(ctx: StepContext) -> Performed:
    """Hold the conversation of the step that is due.

    Raises ModelUnavailable and ModelRejected when the model's side fails, DecisionNeeded when
    a call waits for a person.
    """
    kind = kind_of(ctx.instruction.step)
    ctx = replace(ctx, conversation=_conversation_id(ctx))
    gate = _Gate(ctx, kind)
    outcome = converse(_brief(ctx, kind, gate))
    if outcome.known:
        atomic_write(ctx.project.known / f"{ctx.conversation}.md", outcome.known)
    kept = gate.cut_short(outcome) if outcome.submission is None else None
    return Performed(outcome, gate.evidence, kept)


def _brief(ctx: StepContext, kind: StepKind, gate: "_Gate") -> Brief:
    step = ctx.instruction.step
    known = secret_values(os.environ)
    transcript = ctx.project.conversations / f"{ctx.conversation}.jsonl"
    talk = Talk(
        id=ctx.conversation,
        run=ctx.start.run,
        phase=ctx.instruction.phase,
        step=ctx.instruction.id,
        task=prompt_values.assignment(ctx),
        attempt=ctx.instruction.attempt,
    )

    def record(message: Message) -> None:
        line = json.dumps(redacted(message, known), ensure_ascii=False)
        append_line(transcript, line, sync=False)

    def spent(usage: Usage, usd: float | None, purpose: Purpose) -> None:
        ctx.ledger.record(ctx.conversation, usage, usd, purpose)

    def turned(done: TurnDone) -> None:
        ctx.memory.turned(talk, done)
        if done.summary:
            ctx.memory.summarized(talk.id, done.number, done.summary)

    return Brief(
        id=ctx.conversation,
        step=ctx.instruction.id,
        system=prompt_values.system(ctx),
        opening=prompt_values.opening(ctx),
        tools=_tools(ctx, kind, gate),
        model=ctx.model(step.role),
        allowance=Allowance(step.budget, ctx.usd_left, ctx.deadline, time.monotonic),
        observe=ctx.observe,
        record=record,
        spent=spent,
        on_text=ctx.on_text,
        turned=turned,
        reflection=step.thinks,
        workspace=lambda: prompt_values.workspace(ctx),
        memory=lambda: ctx.memory.accumulated(ctx.conversation),
        keeps=kind.cut_short is not None,
    )


SHOWN_CLOSED = 20
SHOWN_CHANGED = 5


class _Gate:
    """Judges submissions as the step's kind does, and keeps the evidence of the last."""

    def __init__(self, ctx: StepContext, kind: StepKind) -> None:
        self.evidence = GateResult()
        self._ctx, self._kind = ctx, kind

    def cut_short(self, outcome: Outcome) -> Kept | None:
        """What is kept of a conversation that handed in nothing."""
        if self._kind.cut_short is None:
            return None
        self._reclaim()
        try:
            return self._kind.cut_short(self._ctx, outcome)
        except UnreadableFiles:
            return None

    def _reclaim(self) -> None:
        """Undo what the model did to HEAD and to .context-foundry, which is the harness's own."""
        self._ctx.hold_head()
        if changed := self._ctx.repository.changed_in(FOLDER):
            named = ", ".join(changed[:SHOWN_CHANGED])
            self._ctx.tampered(named, f"of {self._ctx.instruction.id} changed {named}")
        self._ctx.repository.reclaim(FOLDER, keep=LOCAL)

    def __call__(self, submission: BaseModel) -> tuple[str, ...]:
        self._reclaim()
        self.evidence = self._judged(submission)
        if problems := _criteria_problems(self._ctx, self._kind, submission):
            self.evidence = GateResult((*self.evidence.problems, *problems))
        if self.evidence.problems:
            self._ctx.repository.unstage()  # for the model's own git nothing has happened
        return self.evidence.problems

    def _judged(self, submission: BaseModel) -> GateResult:
        try:
            return self._kind.gate(self._ctx, submission)
        except UnreadableFiles as error:
            return GateResult(tuple(_closed(path) for path in error.paths[:SHOWN_CLOSED]))


def _closed(path: str) -> str:
    return (
        f"{path} can't be read, so it would not be committed: make it a file with `chmod u+rwX`, "
        "remove it, or let .gitignore name it"
    )


def _criteria_problems(ctx: StepContext, kind: StepKind, submission: BaseModel) -> tuple[str, ...]:
    """What the step's own validation criteria say against its output, and their advice."""
    criteria = ctx.instruction.step.validation_criteria
    if not criteria:
        return ()
    context = {**ctx.context, **getattr(submission, "context", {})}
    verdict = judge(criteria, kind.judged(submission), context)
    return () if verdict.valid else (*verdict.issues, *verdict.suggestions)


def _tools(ctx: StepContext, kind: StepKind, gate: _Gate) -> Toolset:
    workbench = Workbench(
        root=ctx.project.root,
        sandbox=ctx.sandbox,
        list_paths=lambda: own_files(ctx.repository.files()),
        grep=ctx.repository.grep,
        recall=lambda: ctx.memory.recall_tool(ctx.conversation),
    )
    chosen = make_tools(ctx.instruction.step.tools, workbench)
    guard = Guard(
        ctx.policy, ctx.project.root, run=ctx.start.run, step=ctx.instruction.id,
        approve=ctx.approve, observe=ctx.observe,
    )  # fmt: skip
    always: dict[str, Tool[Any]] = {NOTE: note_tool(ctx.notebook.keep)}
    if ctx.instruction.step.thinks.mode == "rounds":
        chosen |= make_tools([RECALL], workbench)
        always[THINK] = thinking_tool()
    return Toolset({**guard.wrap(chosen), **always, SUBMIT: submit_tool(kind.submission, gate)})


def _conversation_id(ctx: StepContext) -> str:
    name = f"{len(ctx.journal) + 1:04d}-{step_slug(ctx.instruction.id)}"
    killed = len(list(ctx.project.conversations.glob(f"{ctx.start.run}-{name}*")))
    return f"{ctx.start.run}-{name}" + (f"-again-{killed}" if killed else "")
