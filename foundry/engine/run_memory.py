"""The memory of a run: filled while it goes on, told of in its prompts, asked by its models.

It lies beside the run and is no part of it. Where it can't be read or written (a full disk, a file
of somebody else's), that is said once, and the run goes on without it.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple, TypeVar

from foundry.conversation.brief import TurnDone
from foundry.conversation.compaction.key_facts import KeyFacts, one_line
from foundry.conversation.memory.accumulate import BUDGET, accumulated
from foundry.conversation.memory.summarise import summary, tokens
from foundry.conversation.memory.turns import (
    facts_of,
    said,
    size,
    step_snapshot,
    turn_snapshot,
)
from foundry.errors import InputError, ProjectError, ToolError
from foundry.schema.base import Json
from foundry.schema.events import Note, Observer
from foundry.schema.journal import Attempt, Entry, StepRecord
from foundry.schema.memory import Draft, Filter, Moment, Touched
from foundry.schema.messages import Message
from foundry.store.memory.store import ContextMemoryStore, memory_path
from foundry.store.project import Project
from foundry.store.transcripts import read_transcript
from foundry.tools.base import Tool, ToolResult
from foundry.tools.recall import Heard, RecallArguments, recall_tool

R = TypeVar("R")

PATIENCE = 60.0
"""Seconds for which a memory that failed is left alone."""

RELEVANT = 2
"""Earlier steps that stand in full because they fit the task at hand."""

STEPS = Filter(kind="step")

STEP_SUMMARY, POINT, POINTS = 400, 140, 3
"""Characters of a step's summary and of one of its insights, and how many of those."""

MAX_TASK = 4_000
"""Characters of what a step was told to do."""


class Talk(NamedTuple):
    """A conversation, and the step that it is about."""

    id: str
    run: str
    phase: str
    step: str
    task: str = ""
    attempt: int = 1


class RunMemory:
    """What one run stores and reads. A context manager that lets go of the file."""

    def __init__(self, project: Project, run: str, observe: Observer) -> None:
        self._project, self._run, self._observe = project, run, observe
        self._store = ContextMemoryStore(memory_path(project.root), tell=self._say)
        self._said = set[str]()
        self._again = 0.0

    def __enter__(self) -> "RunMemory":
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    # -- filling ---------------------------------------------------------------------------------

    def turned(self, talk: Talk, done: TurnDone) -> str:
        """Store a turn with its summary; returns its id, or nothing where that failed."""
        return self._tried(lambda: self._store.store(*turn_moment(talk, done)), "")

    def summarized(self, conversation: str, turn: int, written: Draft) -> None:
        """Add a summary to a stored turn: it counts from now on."""

        def add() -> None:
            for entry in self._store.turns([turn], conversation):
                self._store.summarize(entry.id, written)

        self._tried(add, None)

    def finished(
        self, entry: StepRecord | Attempt, task: str, decisions: Iterable[str] = ()
    ) -> str:
        """Store a step that was accepted or failed; returns its id, or nothing."""

        def store() -> str:
            messages = self._messages(entry.spend.conversation)
            return self._store.store(*step_moment(entry, task, messages, decisions))

        return self._tried(store, "")

    def catch_up(self, journal: Sequence[Entry]) -> None:
        """Store the last step of a journal, unless it is there: a kill may have come between."""
        last = next((e for e in reversed(journal) if isinstance(e, StepRecord | Attempt)), None)

        def known(entry: StepRecord | Attempt) -> bool:
            which = Filter(run=entry.run, step=entry.step, kind="step")
            return any(head.ended == entry.at for head in self._store.heads(which))

        if last is not None and not self._tried(lambda: known(last), True):
            self.finished(last, self._task(last.spend.conversation))

    # -- reading ---------------------------------------------------------------------------------

    def accumulated(
        self,
        conversation: str,
        *,
        about: str = "",
        beside: str = "",
        recall: bool = True,
        budget: int = BUDGET,
    ) -> str:
        """What a conversation is told of all that was done before, in `budget` tokens at most.

        Steps that fit `about`, the task at hand, stand in full however old they are; what stands
        in `beside`, the rest of the prompt, is not told again. `recall`: whether the conversation
        has the tool. Empty where there is nothing.
        """

        def read() -> str:
            heads = self._store.past(conversation)
            found = self._store.search(about, STEPS, RELEVANT) if about and heads else []
            return accumulated(heads, budget=budget, relevant=[head.id for head in found],
                               beside=beside, run=self._run, recall=recall)  # fmt: skip

        return self._tried(read, "")

    def recall_tool(
        self, conversation: str, heard: Heard = lambda _: None
    ) -> Tool[RecallArguments]:
        """The tool `recall_context` for a conversation; without a memory it says so."""
        tool = recall_tool(self._store, conversation, heard=heard)

        def call(arguments: RecallArguments) -> str | ToolResult:
            try:
                return tool.call(arguments)
            except ProjectError as error:
                self._say_without(error)
                raise ToolError("the memory can't be read now: go on without it") from error

        return replace(tool, call=call)

    # -- when it fails ---------------------------------------------------------------------------

    def _tried(self, what: Callable[[], R], otherwise: R) -> R:
        """What the memory gives; where it fails, `otherwise`, and a rest before the next try."""
        if time.monotonic() < self._again:
            return otherwise
        try:
            return what()
        except ProjectError as error:
            self._again = time.monotonic() + PATIENCE
            self._say_without(error)
            return otherwise

    def _say_without(self, error: ProjectError) -> None:
        self._say(f"the run goes on without its memory: {error.message}")

    def _say(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._observe(Note(text))

    def _messages(self, conversation: str) -> tuple[Message, ...]:
        """A conversation's transcript; of a step without one, nothing."""
        path = self._project.conversations / f"{conversation}.jsonl"
        try:
            return read_transcript(path).messages if conversation and path.is_file() else ()
        except InputError:
            return ()

    def _task(self, conversation: str) -> str:
        """What a conversation was about, as its first turn was stored."""

        def read() -> str:
            first = self._store.turns([1], conversation) if conversation else []
            return first[0].snapshot.task if first else ""

        return self._tried(read, "")


def turn_moment(talk: Talk, done: TurnDone) -> tuple[Moment, Draft]:
    """A turn with the summary that code makes of it."""
    state: dict[str, Json] = {"attempt": talk.attempt, "context_tokens": done.tokens}
    if done.thoughts:
        state["thoughts"] = done.thoughts
    snapshot = turn_snapshot(done.messages, task=talk.task[:MAX_TASK], state=state)
    moment = Moment(
        kind="turn", run=talk.run, phase=talk.phase, step=talk.step, conversation=talk.id,
        turn=done.number, began=done.began, ended=done.ended, tokens=size(snapshot),
        snapshot=snapshot,
    )  # fmt: skip
    called = [call.tool for call in snapshot.calls]
    return moment, summary(said(done.messages), facts_of(done.messages), called=called)


def step_moment(
    entry: StepRecord | Attempt,
    task: str,
    messages: Sequence[Message],
    decisions: Iterable[str] = (),
) -> tuple[Moment, Draft]:
    """A step that was accepted or failed, with its summary; `messages` are its conversation's."""
    settled, told = tuple(decisions), _outcome(entry)
    snapshot = step_snapshot(
        messages, task=task[:MAX_TASK], result=told, state=_state(entry), decisions=settled
    )
    known = {each.path for each in snapshot.files}
    changed = (path for path in _changed(entry) if path not in known)
    files = (*snapshot.files, *(Touched(path=path, deeds="changed") for path in changed))
    snapshot = snapshot.model_copy(update={"files": files})
    moment = Moment(
        kind="step", run=entry.run, phase=entry.phase, step=entry.step,
        conversation=entry.spend.conversation, turn=entry.spend.turns,
        began=entry.at - timedelta(seconds=entry.spend.seconds), ended=entry.at,
        tokens=size(snapshot), snapshot=snapshot,
    )  # fmt: skip
    return moment, _draft(entry, told, settled, facts_of(messages))


def _outcome(entry: StepRecord | Attempt) -> str:
    """What came of a step; of one that failed in the words of the note that tells of it."""
    if isinstance(entry, StepRecord):
        return entry.summary or entry.message.split("\n", 1)[0]
    return f"attempt {entry.attempt} failed ({entry.reason}): {entry.detail}"


def _state(entry: StepRecord | Attempt) -> Mapping[str, Any]:
    """How the step ended, by what code knows of it."""
    if isinstance(entry, Attempt):
        return {"attempt": entry.attempt, "failed": entry.reason, "salvage": entry.salvage}
    return {
        "attempt": entry.attempt,
        "checks": {check.name: check.status for check in entry.checks},
        "rejections": list(entry.rejections),
        "set": entry.patch,
    }


def _draft(
    entry: StepRecord | Attempt, told: str, decisions: Sequence[str], facts: KeyFacts
) -> Draft:
    """The step's own words; then what failed, what was settled and what was changed."""
    points = dict.fromkeys(one_line(each, POINT) for each in _points(entry, decisions, facts))
    draft = Draft(text=one_line(told, STEP_SUMMARY), insights=tuple(points)[:POINTS])
    return draft.model_copy(update={"tokens": tokens(draft)})


def _points(
    entry: StepRecord | Attempt, decisions: Sequence[str], facts: KeyFacts
) -> Iterator[str]:
    if isinstance(entry, StepRecord):
        yield from (f"failing: {each.name} (`{each.command}`)"
                    for each in entry.checks if not each.holds)  # fmt: skip
        yield from (f"refused at first: {each}" for each in entry.rejections[-1:])
    else:
        yield from list(reversed(facts.errors))[:1]
    yield from (each for each in decisions if each not in _outcome(entry))
    if changed := _changed(entry):
        yield f"changed: {', '.join(changed)}"


def _changed(entry: StepRecord | Attempt) -> tuple[str, ...]:
    return entry.files if isinstance(entry, StepRecord) else ()
