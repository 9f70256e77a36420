"""A conversation that may think, over a real socket, with a real memory."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from foundry.conversation.brief import Allowance, Brief, Outcome, TurnDone
from foundry.conversation.loop import converse
from foundry.engine.steps.summary import SummarySubmission
from foundry.model.anthropic import AnthropicModel
from foundry.model.base import Model
from foundry.model.rehearsal.script import Turn, asked_round, call, say, turn
from foundry.model.rehearsal.server import RehearsalServer
from foundry.schema.events import Event
from foundry.schema.memory import Draft
from foundry.schema.messages import Usage, text_block
from foundry.schema.workflow import Budget, Reflection
from foundry.store.memory.store import ContextMemoryStore
from foundry.tools.base import Arguments, Tool, ToolResult, Toolset, submit_tool
from foundry.tools.recall import recall_tool
from foundry.tools.think import thinking_tool
from tests.support.builds import FAST, MODEL, serve
from tests.support.moments import call as made
from tests.support.moments import moment

DONE = turn(call("submit", summary="done"))


class Command(Arguments):
    command: str


def on(text: str = "", *more: Any, **decision: Any) -> Turn:
    """A round that wants another one."""
    said = [say(text)] if text else []
    return turn(*said, *more, call("continue_thinking", continueThinking=True, **decision))


def enough(text: str = "That will do.", *more: Any, **decision: Any) -> Turn:
    """The last round."""
    return turn(say(text), *more, call("continue_thinking", continueThinking=False, **decision))


def recall(**what: Any) -> Any:
    return call("recall_context", **what)


class Stage:
    """`rounds` answers what asks for a round, `turns` all else; a tool `run_command` echoes."""

    def __init__(self, folder: Path, rounds: Iterable[Turn] = (), turns: Iterable[Turn] = (DONE,)):
        self.rounds, self.turns = iter(rounds), iter(turns)
        self.memory = ContextMemoryStore(folder / "memory.db")
        self.ids = [
            self.memory.store(
                moment(1, "The file is TOML.", calls=(
                    made(path="conf.toml", result="[http]\nretries = 3 # ünïcode\t\n"),)),
                Draft(text="Read conf.toml."),
            ),
            self.memory.store(moment(2, "It failed.", calls=(
                made("run_command", "E  KeyError: 'timeout'", True, command="pytest"),))),
        ]  # fmt: skip
        self.told = f"[{self.ids[0]}] Turn 1: Read conf.toml."
        self.problems: list[str] = []
        self.answer: Callable[[str], ToolResult | str] = lambda command: f"ran {command}"
        self.name = MODEL
        self.window = 200_000
        self.events: list[Event] = []
        self.recorded: list[Any] = []
        self.done: list[TurnDone] = []
        self.paid: list[tuple[Usage, str]] = []
        self.server: RehearsalServer | None = None

    def hold(self, reflection: Reflection | None = None, **allowed: Any) -> Outcome:
        limits: dict[str, Any] = {
            "budget": Budget(turns=40), "usd_left": lambda: 10.0, "deadline": 100.0,
            "now": lambda: 0.0, **allowed,
        }  # fmt: skip
        with self.memory, serve(self._script) as self.server:
            model = AnthropicModel(
                self.name, base_url=self.server.url, retry=FAST, read_timeout=5, window=self.window
            )
            try:
                return converse(self._brief(reflection or Reflection(), model, Allowance(**limits)))
            finally:
                model.close()

    @property
    def asked(self) -> list[Any]:
        """The bodies of all requests."""
        assert self.server is not None
        return [each.body for each in self.server.requests]

    @property
    def asked_rounds(self) -> list[Any]:
        return [body for body in self.asked if asked_round(body)]

    def of(self, kind: type[Any]) -> list[Any]:
        """The events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]

    def _script(self, request: Any) -> Turn:
        return next(self.rounds if asked_round(request) else self.turns)

    def _brief(self, reflection: Reflection, model: Model, allowance: Allowance) -> Brief:
        tools: dict[str, Tool[Any]] = {
            "run_command": Tool("run_command", "Run.", Command, lambda a: self.answer(a.command)),
            "recall_context": recall_tool(self.memory, "talk"),
            "continue_thinking": thinking_tool(),
            "submit": submit_tool(SummarySubmission, self._review),
        }
        opening = (text_block("The ground. " * 400, cache=True), text_block("# Step: it\nDo it."))
        return Brief(
            "talk", "it", (text_block("System.", cache=True),), opening, Toolset(tools),
            model, allowance, observe=self.events.append, record=self.recorded.append,
            spent=lambda usage, _usd, purpose: self.paid.append((usage, purpose)),
            turned=self.done.append, reflection=reflection,
            workspace=lambda: "3 files", memory=lambda: self.told,
        )  # fmt: skip

    def _review(self, _submission: Any) -> list[str]:
        return [self.problems.pop(0)] if self.problems else []


def texts(body: Any) -> list[str]:
    """The text blocks of a request's last message."""
    blocks = body["messages"][-1]["content"]
    return [block["text"] for block in blocks if block["type"] == "text"]
