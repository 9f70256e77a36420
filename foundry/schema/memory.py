"""What the memory holds: snapshots of turns and steps, their summaries, and what finds them.

A line of an export is a MemoryEntry; its JSON Schema is docs/memory.schema.json.
"""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field

from foundry.schema.base import Json, Value

RECALL = "recall_context"
"""The tool that gives a conversation back what is stored."""

EntryKind = Literal["turn", "step"]


def _in_utc(moment: datetime) -> datetime:
    """The time in UTC; at the ends of the calendar there is none."""
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("there is no such time in UTC") from error


Instant = Annotated[AwareDatetime, AfterValidator(_in_utc)]
Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
"""A number that a database can hold."""


class Touched(Value):
    """A file that a turn or step had to do with."""

    path: str
    """As the tool was given it."""
    deeds: str = ""
    """What was done to it, such as `read, edited x2`."""


class CallMade(Value):
    """A tool call with its result, whole."""

    tool: str
    """The tool's name."""
    arguments: Json = None
    """What it was called with."""
    result: str = ""
    """What it answered."""
    failed: bool = False
    """Whether the answer was an error."""


class ContextSnapshot(Value):
    """Everything that a turn or a step had and did: the original, which is never changed."""

    task: str = ""
    """What was to be done."""
    said: str = ""
    """The assistant's own words."""
    calls: tuple[CallMade, ...] = ()
    """The tool calls, in their order."""
    files: tuple[Touched, ...] = ()
    """The files that it had to do with."""
    state: dict[str, Json] = Field(default_factory=dict)
    """Where things stood: variables of the workflow, exit codes of checks."""
    decisions: tuple[str, ...] = ()
    """What was settled, and why."""


class Draft(Value):
    """A summary before it is stored."""

    text: str
    """In a sentence or two."""
    insights: tuple[str, ...] = ()
    """What is worth knowing later, a point each."""
    tokens: Count = 0
    """Of text and insights, estimated."""
    source: Literal["code", "model"] = "code"
    """Who wrote it: taken from the turn by code, or by a model and completed by code."""


class Moment(Value):
    """A turn or a step as it is handed to the memory."""

    kind: EntryKind = "turn"
    """A turn is one model call with the results of its tool calls; a step is a whole one."""
    run: str
    """The run's id."""
    phase: str = ""
    """The top-level step of the workflow."""
    step: str = ""
    """The step's id."""
    conversation: str = ""
    """The conversation's id; turn numbers count within it."""
    turn: Count = 0
    """The turn's number, from 1; of a step how many turns it took."""
    began: Instant
    """When it began."""
    ended: Instant
    """When it ended."""
    tokens: Count = 0
    """Of the snapshot: what sending it again would cost."""
    snapshot: ContextSnapshot
    """The original."""


class MemorySummary(Draft):
    """A stored summary."""

    id: str
    """Made from its content."""
    at: Instant
    """When it was written."""


class MemoryEntry(Moment):
    """A stored turn or step: a line of an export."""

    version: Literal[1] = 1
    """Of this format."""
    id: str = Field(pattern=r"^ctx_\d+_[0-9a-f]{16}$")
    """Made from what it holds: the same content has the same id everywhere."""
    summaries: tuple[MemorySummary, ...] = ()
    """Its summaries, the newest last; none is ever overwritten."""


class Head(Value):
    """An entry without its original: what lists, searches and accumulated summaries show."""

    number: int
    """The order in which this memory took it in."""
    id: str
    """The entry's id."""
    kind: EntryKind
    """Turn or step."""
    run: str
    """The run's id."""
    phase: str
    """The top-level step of the workflow."""
    step: str
    """The step's id."""
    conversation: str
    """The conversation's id."""
    turn: int
    """Its number within the conversation."""
    ended: datetime
    """When it ended."""
    tokens: int
    """Of the original."""
    summary: str = ""
    """The newest summary."""
    insights: tuple[str, ...] = ()
    """Of the newest summary."""
    summary_tokens: int = 0
    """Of the newest summary."""
    score: float = 0.0
    """From a search: how well it fits, from 0 to 1."""


class Filter(Value):
    """Which entries are meant; what is empty does not matter."""

    run: str = ""
    """Of this run."""
    phase: str = ""
    """Of this phase."""
    step: str = ""
    """Of this step."""
    conversation: str = ""
    """Of this conversation."""
    kind: EntryKind | None = None
    """Turns or steps only."""
    file: str = ""
    """That touched this path; a name or the end of a path is enough."""
    since: datetime | None = None
    """That ended then or later."""
    until: datetime | None = None
    """That ended before then."""


class Sought(Value):
    """What a search looks for.

    `text` is asked of everything; with `code` or `paths`, the code and the files at hand, the
    search asks which entries had to do with the same, not only which speak of it.
    """

    text: str = ""
    """Words of the question or the task."""
    code: str = ""
    """Code at hand: a diff, an excerpt, an error."""
    paths: tuple[str, ...] = ()
    """Files at hand."""
    recency: float | None = Field(None, ge=0)
    """What having happened just now is worth, against 1 for the best match; None: by what is
    sought."""


class MemoryStats(Value):
    """What a memory holds."""

    entries: int
    """Turns and steps."""
    turns: int
    """Turns."""
    steps: int
    """Steps."""
    runs: int
    """Runs that they are of."""
    files: int
    """Paths that they touched."""
    original_tokens: int
    """Of all originals."""
    summary_tokens: int
    """Of the newest summaries."""
    original_bytes: int
    """Of all originals, written out for each entry."""
    distinct_bytes: int
    """The same, equal content once."""
    stored_bytes: int
    """The same, as packed."""
    file_bytes: int
    """The database with its index."""
    first: datetime | None = None
    """When the oldest entry ended."""
    last: datetime | None = None
    """When the newest entry ended."""
