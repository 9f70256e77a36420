"""What a circular run begins with, what its journal lines carry, and its state.json (seed 000)."""

from typing import Literal

from pydantic import Field

from foundry.circular.schema import (
    BaseContext,
    ChangeSummary,
    CompletionStatus,
    Failure,
    Issue,
    IterationReason,
    IterationState,
    IterationStatus,
    PartitionReport,
    Verdict,
)
from foundry.schema.base import Value

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


class Progress(Value):
    """The seed's ProgressState in figures; the iterations themselves are the history."""

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
    progress_state: Progress
    iteration_history: tuple[IterationState, ...]
    base_context_hash: str
    circular_prompt_hash: str
