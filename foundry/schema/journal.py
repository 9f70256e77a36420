"""The lines of journal.jsonl: append-only, each committed with what it tells of.

Beside them the session notes: what a conversation wants the next ones to know (seed 003).
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from foundry.schema.base import Json, Value
from foundry.schema.command import CheckResult
from foundry.schema.examination import Examination
from foundry.schema.flag import Flag
from foundry.schema.messages import Usage
from foundry.schema.run import Status


def step_slug(step: str, separator: str = "-") -> str:
    """A step's id as a part of a file's or a ref's name: of `loop[2]/step` `loop-2-step`."""
    return step.replace("]", "").replace("[", separator).replace("/", separator)


class Thought(Value):
    """What rounds of thinking used. It is part of what their conversation used."""

    rounds: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = 0.0

    def plus(self, usage: Usage, cost_usd: float | None, rounds: int = 1) -> "Thought":
        """With one more round, or with several."""
        costs = (self.cost_usd, cost_usd)
        return Thought(
            rounds=self.rounds + rounds,
            usage=self.usage + usage,
            cost_usd=None if None in costs else sum(each or 0.0 for each in costs),
        )

    @property
    def rounded(self) -> "Thought":
        """With its cost as it is written down."""
        cost = self.cost_usd
        return self.model_copy(update={"cost_usd": None if cost is None else round(cost, 6)})


class Spend(Value):
    """What one conversation used. Costs in US dollars; None where no price is known."""

    usage: Usage = Usage()
    cost_usd: float | None = None
    turns: int = 0
    seconds: float = 0
    peak_tokens: int = 0
    window: int = 0
    model: str = ""
    conversation: str = ""
    reflection: Thought = Thought()
    """Of all this, what the rounds of thinking before its turns used."""

    @property
    def context_share(self) -> float:
        """The fullest that the window was, from 0 to 1."""
        return self.peak_tokens / self.window if self.window else 0.0


class _Line(Value):
    """What every line has. `previous` is the SHA-256 of the line before it, in its exact bytes.

    Empty in the first line, and in lines of an earlier Foundry.
    """

    seq: int
    at: datetime
    run: str
    previous: str = ""


class Start(_Line):
    """A run begins. `base` is the commit that it builds on, empty in a new repository."""

    kind: Literal["start"] = "start"
    spec: str
    workflow: str
    workflow_hash: str
    context: dict[str, Json]
    skip: tuple[str, ...] = ()
    base: str = ""
    branch: str = ""
    checks: tuple[str, ...] = ()
    """Commands of the person's own that have to hold at the end (`--check`)."""


class StepRecord(_Line):
    """An accepted step. `tree` is the git tree of its result without this line."""

    kind: Literal["step"] = "step"
    step: str
    phase: str
    attempt: int = 1
    summary: str = ""
    patch: dict[str, Json] = Field(default_factory=dict)
    artifacts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    flags: tuple[Flag, ...] = ()
    examination: Examination | None = None
    rejections: tuple[str, ...] = ()
    spend: Spend = Spend()
    message: str = ""
    tree: str = ""


class Attempt(_Line):
    """A step that was tried and not accepted; its work is in local/salvage/."""

    kind: Literal["attempt"] = "attempt"
    step: str
    phase: str
    attempt: int
    reason: str
    detail: str = ""
    salvage: str = ""
    flags: tuple[Flag, ...] = ()
    spend: Spend = Spend()
    message: str = ""
    tree: str = ""


class Intent(_Line):
    """Something that can't be undone is about to be done."""

    kind: Literal["intent"] = "intent"
    step: str
    what: str
    message: str = ""
    tree: str = ""


class Stop(_Line):
    """The run ended or paused on purpose: the tree is clean at this line."""

    kind: Literal["stop"] = "stop"
    status: Status
    reason: str
    confirm: str = ""
    """The step that a person has to agree to: taking the run up again is their word for it."""
    flags: tuple[Flag, ...] = ()
    message: str = ""
    tree: str = ""


class Resume(_Line):
    """A person took the run up again; `changes` are the files that they edited meanwhile."""

    kind: Literal["resume"] = "resume"
    changes: tuple[str, ...] = ()
    patch: dict[str, Json] = Field(default_factory=dict)
    message: str = ""
    tree: str = ""


Entry = Annotated[
    Start | StepRecord | Attempt | Intent | Stop | Resume, Field(discriminator="kind")
]
ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


NoteKind = Literal["goal", "decision", "failure", "issue", "closed", "pattern"]
"""`closed` ends an issue by its number."""


class SessionNote(Value):
    """One note. Notes are only ever added; what no longer holds is said by a later one."""

    number: int = Field(ge=1)
    at: datetime
    run: str
    step: str
    kind: NoteKind
    text: str = Field(min_length=1, max_length=1000)
    path: str = ""
    """The file that it is about."""
    closes: int | None = None
    """The number of the issue that is no longer open."""
