"""The memory of a run: filled while it goes on, told of in its prompts, asked by its models.

It lies beside the run and is no part of it. Where it can't be read or written (a full disk, a file
of somebody else's), that is said once, and the run goes on without it.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from foundry.conversation.brief import TurnDone
from foundry.conversation.memory.accumulate import BUDGET, accumulated
from foundry.engine.memory_moments import Talk, step_moment, turn_moment
from foundry.errors import InputError, ProjectError, ToolError
from foundry.schema.events import Note, Observer
from foundry.schema.journal import Attempt, Entry, StepRecord
from foundry.schema.memory import Draft, Filter
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


class Memories:
    """What one run stores and reads. A context manager that lets go of the file."""

    def __init__(self, project: Project, run: str, observe: Observer) -> None:
        self._project, self._run, self._observe = project, run, observe
        self._store = ContextMemoryStore(memory_path(project.root), tell=self._say)
        self._said = set[str]()
        self._again = 0.0

    def __enter__(self) -> "Memories":
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
