"""One conversation of a run: brief it, hold it, judge its submissions."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel

from foundry.conversation.budget import Allowance
from foundry.conversation.loop import Brief, Outcome, Watchers, converse
from foundry.engine import briefing
from foundry.engine.contracts import Contract, contract
from foundry.engine.desk import Desk, own_files
from foundry.engine.result import Evidence
from foundry.files import append_line
from foundry.model.base import Model
from foundry.schema.messages import Message, Usage
from foundry.schema.run import Limits
from foundry.store.ledger import Ledger
from foundry.store.project import FOLDER
from foundry.tools.base import Toolset
from foundry.tools.submit import NAME as SUBMIT
from foundry.tools.submit import submit_tool
from foundry.tools.toolset import project_tools


@dataclass(frozen=True, slots=True)
class Performed:
    """A conversation's outcome, with the evidence of its accepted submission."""

    outcome: Outcome
    evidence: Evidence
    contract: Contract


@dataclass(frozen=True, slots=True)
class Means:
    """What a conversation needs beside its desk."""

    model: Model
    limits: Limits
    deadline: float
    ledger: Ledger
    system: str
    on_text: Callable[[str], None] | None = None


def perform(desk: Desk, means: Means) -> Performed:
    """Hold the conversation of the step that is due.

    Raises ModelUnavailable and ModelRejected when the model's side fails.
    """
    promise = contract(desk.instruction.step.contract)
    judge = _Judge(desk, promise)
    name = _conversation_id(desk)
    brief = Brief(
        id=name,
        step=desk.instruction.id,
        system=briefing.system(means.system),
        opening=briefing.opening(desk),
        tools=_tools(desk, promise, judge),
    )
    outcome = converse(brief, means.model, _allowance(desk, means), _watchers(desk, means, name))
    return Performed(outcome, judge.evidence, promise)


class _Judge:
    """Reviews submissions and keeps the evidence of the last one."""

    def __init__(self, desk: Desk, promise: Contract) -> None:
        self.evidence = Evidence()
        self._desk, self._promise = desk, promise

    def __call__(self, submission: BaseModel) -> tuple[str, ...]:
        self._desk.hold_head()
        self._desk.repository.checkout(FOLDER)  # the artifacts are ours: the model's edits go
        self.evidence = self._promise.gate(self._desk, submission)
        if self.evidence.problems:
            self._desk.repository.unstage()  # for the model's own git nothing has happened
        return self.evidence.problems


def _tools(desk: Desk, promise: Contract, judge: _Judge) -> Toolset:
    available = project_tools(
        desk.project.root,
        desk.sandbox,
        list_paths=lambda: own_files(desk.repository.files()),
        grep=desk.repository.grep,
    )
    chosen = {name: available[name] for name in desk.instruction.step.tools}
    return Toolset({**chosen, SUBMIT: submit_tool(promise.schema, judge)})


def _allowance(desk: Desk, means: Means) -> Allowance:
    return Allowance(
        budget=desk.instruction.step.budget,
        usd_left=lambda: means.limits.max_usd - means.ledger.total.usd,
        deadline=means.deadline,
        now=time.monotonic,
    )


def _watchers(desk: Desk, means: Means, conversation: str) -> Watchers:
    transcript = desk.project.conversations / f"{conversation}.jsonl"

    def record(message: Message) -> None:
        append_line(transcript, json.dumps(message, ensure_ascii=False), sync=False)

    def spent(usage: Usage, usd: float | None) -> None:
        means.ledger.record(conversation, usage, usd)

    return Watchers(desk.observe, record, spent, means.on_text)


def _conversation_id(desk: Desk) -> str:
    step = desk.instruction.id.replace("/", "-").replace("[", "-").replace("]", "")
    name = f"{len(desk.journal) + 1:04d}-{step}"
    killed = len(list(desk.project.conversations.glob(f"{desk.start.run}-{name}*")))
    return f"{desk.start.run}-{name}" + (f"-again-{killed}" if killed else "")
