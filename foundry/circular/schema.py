"""The values of circular prompting (seed 000), from what a person gives to state.json.

What a thread submits; issues and failures; an iteration; the base context; what the run's journal
lines carry; and its state.json.
"""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import ConfigDict, Field, model_validator

from foundry.schema.base import Value
from foundry.schema.command import CheckResult, TestCounts

Verdict = Literal["done", "more", "blocked"]
"""What a thread says of the task when it submits."""

IterationReason = Literal["threshold", "completion", "limit", "error", "interrupted"]
"""Why a thread ended: its window was full enough, it submitted, a limit of turns or time, ..."""

CompletionStatus = Literal["in_progress", "complete", "blocked"]


class IterationStatus(StrEnum):
    """How the harness settled an iteration; only SUCCESS is a success."""

    SUCCESS = "success"
    CONTINUE = "continue"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"


class Submission(Value):
    """What a thread of circular prompting hands in."""

    verdict: Verdict = Field(
        description="done: nothing of the task is left; more: work is left; blocked: a person "
        "has to do something first"
    )
    evidence: str = Field(
        min_length=1, description="what shows it: commands with their results, files and lines"
    )
    remaining: tuple[str, ...] = Field((), description="what is left to do; empty only when done")
    resolved: tuple[str, ...] = Field((), description="what this conversation resolved")
    found: tuple[str, ...] = Field(
        (), description="problems of the kind that the task asks about, seen and not mended yet"
    )
    parts_done: tuple[str, ...] = Field(
        (), description="ids of parts of the task in which nothing is left; only where it has parts"
    )


class RefiningSubmission(Submission):
    """... of a thread that may propose another wording of its prompt."""

    better_prompt: str = Field(
        "",
        max_length=100_000,
        description="the whole text of the task, worded so that the next conversation gets further "
        "with it: order, hints, what to look at first. What the task is stays word for word. Leave "
        "it out where you know nothing better",
    )
    better_because: str = Field("", description="what the new wording mends, in a sentence")


class PartitionReport(Value):
    """What one of several threads came to that worked side by side."""

    id: str
    title: str = ""
    parts: tuple[str, ...] = ()
    """The ids of the parts that it was given."""
    ending: str
    verdict: Verdict | None = None
    files: tuple[str, ...] = ()
    tokens: int = Field(0, ge=0)
    peak_context: float = Field(0, ge=0)
    conversation: str = ""
    merged: bool = False
    why: str = ""
    """Why its work is not in the result."""
    ref: str = ""
    """The git ref that keeps what was not merged."""


class Issue(Value):
    """Something that is not as the task wants it.

    `test` and `check` were measured by the harness; `reported` is what a model said.
    """

    id: str
    description: str
    file: str = ""
    kind: Literal["test", "check", "reported"] = "reported"
    count: int = Field(1, ge=1)
    """How many it stands for: a check without test ids tells only a number."""


class Failure(Value):
    """A check that fails, as far as it can be compared with itself after another iteration."""

    check: str
    ids: tuple[str, ...] = ()
    """The failing tests, where a JUnit report names them."""
    count: int | None = None
    """How much it finds wrong; None where its output does not tell."""
    digest: str = ""
    """Of its output, without times and addresses; empty where there is no output."""
    cut: bool = False
    """Only the end of its output was kept: that it is the same says nothing."""

    @property
    def extent(self) -> int:
        """How many issues it stands for, as far as it tells."""
        return len(self.ids) or self.count or 1

    @property
    def is_opaque(self) -> bool:
        """Whether it says only that it fails, and neither what nor how much."""
        return not self.ids and self.count is None


class ChangeSummary(Value):
    """What the diff of an iteration comes to. Signed figures are added minus removed."""

    files: tuple[str, ...] = ()
    added: int = Field(0, ge=0)
    """Lines."""
    removed: int = Field(0, ge=0)
    """Lines."""
    substantive: int = Field(0, ge=0)
    """Changed lines, or whole binary and renamed files, that may change what the code does."""
    cosmetic: int = Field(0, ge=0)
    """Changed lines of white space, formatting and comments."""
    documentation: int = Field(0, ge=0)
    """Changed lines in documents."""
    code_lines: int = 0
    """Lines of code that is no test, signed."""
    test_lines: int = 0
    """Lines of test files, signed."""
    test_functions: int = 0
    """Signed."""
    assertions: int = 0
    """Signed; assertions that can't fail are none."""
    skips: int = 0
    """Marks that keep a test from running or from failing, signed."""

    def __add__(self, other: "ChangeSummary") -> "ChangeSummary":
        return ChangeSummary(
            **{name: getattr(self, name) + getattr(other, name) for name in type(self).model_fields}
        )

    @property
    def is_cosmetic(self) -> bool:
        """Whether it changed something, and nothing that code does."""
        return not self.substantive and bool(self.cosmetic or self.documentation)


class IterationState(Value):
    """One fresh thread over the unchanged prompt, and what it came to."""

    number: int = Field(ge=1)
    """Of the work; a doubt has the number of the work that it doubts."""
    kind: Literal["work", "doubt"] = "work"
    """`doubt` tried to prove an end wrong: it changes nothing, and is judged by no policy."""
    started_at: datetime
    ended_at: datetime | None = None
    model: str = ""
    threshold: float = Field(0.60, gt=0, le=1)
    """The share of the window at which this thread had to end."""
    prompt_version: int = Field(1, ge=1)
    partition: str = ""
    reasons: dict[str, str] = Field(default_factory=dict)
    """Why it was set up as it was, by what was decided: threshold, model, context, prompt,
    partitions. What a person fixed has no reason here."""
    partitions: tuple[PartitionReport, ...] = ()
    """The threads that worked side by side in this iteration; none where it was one."""
    files_modified: tuple[str, ...] = ()
    issues_resolved: tuple[Issue, ...] = ()
    issues_discovered: tuple[Issue, ...] = ()
    tokens: int = Field(0, ge=0)
    """Sent and received, over all its calls."""
    cost_usd: float | None = None
    peak_context: float = Field(0, ge=0)
    """The fullest that the window was, as a share of it."""
    reason: IterationReason
    ending: str = ""
    """The conversation's own word for it: submitted, restart, turns, minutes, ..."""
    verdict: Verdict | None = None
    status: IterationStatus = IterationStatus.UNKNOWN
    checks: tuple[CheckResult, ...] = ()
    failures: tuple[Failure, ...] = ()
    change: ChangeSummary = ChangeSummary()
    tree: str = ""
    """The git tree that it left, without `.context-foundry/`, which differs every time."""
    commit: str = ""
    errors: tuple[str, ...] = ()
    """What went wrong in the work itself; a rate limit or a full window is none."""

    @property
    def seconds(self) -> float:
        """How long it took; 0 while it runs."""
        return (self.ended_at - self.started_at).total_seconds() if self.ended_at else 0.0

    @property
    def tests(self) -> TestCounts | None:
        """All tests that its checks counted; None where no check counts tests."""
        counted = [check.tests for check in self.checks if check.tests is not None]
        return sum(counted, start=TestCounts()) if counted else None


class ProjectContext(Value):
    """What is worked on."""

    name: str = Field(min_length=1)
    description: str = ""
    tech_stack: tuple[str, ...] = ()


class History(Value):
    """What happened before: the migration, the refactoring, the decision that left the work."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    origin: str = Field("", alias="from")
    target: str = Field("", alias="to")
    completion: str = ""
    timestamp: str = ""
    notes: tuple[str, ...] = ()


class Objective(Value):
    """What the work is for."""

    primary: str = Field(min_length=1)
    secondary: str = ""


class Part(Value):
    """A part of the work that can be done, and be done with, on its own."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,47}$")
    title: str = Field(min_length=1)
    paths: tuple[str, ...] = ()
    """Globs of the files that it is about."""
    details: str = ""
    """What a thread has to know for it, and for nothing else."""


class BaseContext(Value):
    """What every thread is told before the prompt."""

    project: ProjectContext
    history: History | None = None
    objective: Objective
    constraints: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()

    @model_validator(mode="after")
    def _ids_once(self) -> "BaseContext":
        ids = [part.id for part in self.parts]
        twice = sorted({each for each in ids if ids.count(each) > 1})
        if twice:
            raise ValueError(f"the part id {twice[0]!r} is used twice")
        return self


MESSAGE = "chore: iteration {iteration} of the task (files: {files}, issues resolved: {issues})"
"""The commit of an iteration, where the person gives no template of their own."""


class Source(Value):
    """A text that a person gave: where it stood (empty: on the command line), and its hash."""

    file: str = ""
    sha256: str


ModelsBy = Literal["escalate", "rotate"]


class Settings(Value):
    """How the iterations adapt to what the ones before them achieved; by default not at all."""

    threshold: float = Field(0.60, gt=0, le=1)
    """The share of the window at which a thread ends; where it adapts, the first one's."""
    adaptive: bool = False
    parallel: int = Field(1, ge=1, le=8)
    """Threads that work side by side, each in its own work tree on parts of its own."""
    progressive: bool = False
    refine: bool = False
    models: tuple[str, ...] = ()
    """Names as they were given, where there are several."""
    models_by: ModelsBy = "escalate"


class Proposal(Value):
    """Another wording of the prompt, as a thread proposed it."""

    text: str = Field(min_length=1)
    sha256: str
    because: str = ""


class Assignment(Value):
    """What every iteration is told, and how the run was asked to go about it.

    It is journalled when the run begins and again when a person accepts a change. Nothing that a
    model writes reaches it.
    """

    prompt: str = Field(min_length=1)
    prompt_source: Source
    base_context: BaseContext | None = None
    context_source: Source | None = None
    confirmations: int = Field(1, ge=1, le=5)
    """Threads that have to find nothing left, beside the one that says that it is done."""
    commit: bool = True
    """False: a verified result is put into the person's checkout, uncommitted."""
    message: str = MESSAGE
    checked: bool = False
    """Whether the person gave a command that decides."""
    settings: Settings = Settings()


class Report(Value):
    """What a thread came to, by its own words and by how it ended."""

    kind: Literal["work", "doubt"]
    ending: str
    """The conversation's own reason: submitted, restart, turns, not_submitted, ..."""
    reason: IterationReason
    verdict: Verdict | None = None
    evidence: str = ""
    remaining: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    said: str = ""
    """Its last words, where it submitted nothing."""
    threshold: float = 0.60
    """The share of the window at which it had to end."""
    errors: tuple[str, ...] = ()
    model: str = ""
    """Its name as it was given, where there are several."""
    prompt_version: int = Field(1, ge=1)
    reasons: dict[str, str] = Field(default_factory=dict)
    """Why it was set up as it was."""
    parts_done: tuple[str, ...] = ()
    proposal: Proposal | None = None
    partitions: tuple[PartitionReport, ...] = ()


class Measure(Value):
    """What the harness found after an iteration."""

    status: IterationStatus
    why: str = ""
    failures: tuple[Failure, ...] = ()
    resolved: tuple[Issue, ...] = ()
    discovered: tuple[Issue, ...] = ()
    change: ChangeSummary = ChangeSummary()
    tree: str = ""
    trip: str = ""
    """Why a breaker ended the run."""


class Mark(Value):
    """The variable `circular`: set by the harness alone, with every step of an iteration."""

    number: int = Field(ge=0)
    claimed: bool = False
    """A thread says that it is done, and nothing measured speaks against it."""
    agreed: int = 0
    """Threads that tried to prove the claim wrong and found nothing."""
    over: bool = False
    report: Report | None = None
    measure: Measure | None = None


class ProgressState(Value):
    """How far a run is; the iterations themselves are the history."""

    total_iterations: int
    """The most that there may be."""
    completed_iterations: int
    overall_progress: float
    """The share of the known issues that is resolved; 1 only when the end is verified."""
    completion_status: CompletionStatus


class CircularState(Value):
    """circular/state.json: rendered from the journal with every step, and never read back."""

    version: Literal[1] = 1
    run: str
    progress_state: ProgressState
    iteration_history: tuple[IterationState, ...]
    base_context_hash: str
    circular_prompt_hash: str
