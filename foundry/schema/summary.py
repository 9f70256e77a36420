"""session-summary.json and evidence.json.

Their JSON Schemas, made from these classes, are in docs/; `version` changes when a field changes
its meaning or goes away.
"""

from datetime import datetime
from typing import Literal

from foundry.schema.base import Value
from foundry.schema.command import CheckStatus, CommandEnding, TestCounts
from foundry.schema.examination import Hollow, Tests
from foundry.schema.flag import Flag, Ruling
from foundry.schema.messages import Usage
from foundry.schema.run import Status


class PhaseSummary(Value):
    """One phase: accepted steps, and what they used."""

    phase: str
    """The phase's name."""
    state: Literal["done", "skipped", "pending"]
    """`skipped` when it was passed over."""
    steps: int = 0
    """Accepted steps."""
    failed_attempts: int = 0
    """Attempts that were not accepted."""
    seconds: float = 0
    """Time in its steps, failed attempts included."""
    tokens: int = 0
    """Sent and received."""
    cost_usd: float | None = 0.0
    """US dollars; null when a model without a known price was used."""


class TaskSummary(Value):
    """One Builder task."""

    id: str
    """As in tasks.json."""
    title: str
    """As in tasks.json."""
    state: Literal["done", "pending"]
    """Whether it was accepted."""
    attempts: int = 0
    """The attempt that was accepted, from 1."""
    commit: str = ""
    """The commit that holds it."""
    seconds: float = 0
    """Time in its accepted conversation."""


class CommitSummary(Value):
    """One commit of the run."""

    sha: str
    """The whole hash."""
    subject: str
    """The first line of its message."""
    step: str = ""
    """The step that it accepted, if any."""


class TestSummary(Value):
    """The last test iteration."""

    __test__ = False

    passed: bool
    """Whether every check held in the last iteration."""
    iterations: int
    """How often the checks were run."""
    checks: int = 0
    """Checks in the last iteration."""
    failing: int = 0
    """Those that do not hold."""
    preexisting: int = 0
    """Those that failed in the same way before the run began."""
    tests: TestCounts | None = None
    """Counts from JUnit reports, where checks write some."""


class ConversationSummary(Value):
    """One accepted or failed conversation. `context_share` is its fullest, from 0 to 1."""

    id: str
    """Its transcript is local/conversations/<id>.jsonl."""
    step: str
    """The step that it worked on."""
    model: str
    """The model that answered."""
    turns: int
    """Model calls."""
    tokens: int
    """Sent and received, over all turns."""
    seconds: float
    """From its first call to its end."""
    peak_tokens: int
    """The most tokens that its window held."""
    context_share: float
    """`peak_tokens` as a share of the working window, from 0 to 1."""
    cost_usd: float | None
    """US dollars; null where no price is known."""
    rounds: int = 0
    """Rounds of thinking before its turns."""


class ReflectionSummary(Value):
    """The rounds of thinking before turns. What they used is part of all other figures, too."""

    rounds: int = 0
    """How many there were."""
    tokens: int = 0
    """Sent and received in them."""
    cost_usd: float | None = 0.0
    """US dollars; null when a model without a known price was used."""


class Counts(Value):
    """The figures of a verdict. Screen, status, summary and evidence tell these."""

    requirements: int = 0
    """In the plan."""
    proven: int = 0
    """Requirements whose command failed without the work."""
    tested: int = 0
    """Requirements whose command was never seen to fail."""
    claimed: int = 0
    """Requirements for which only an author speaks."""
    missing: int = 0
    """Requirements that are not met."""
    checks: int = 0
    """Checks in the last run of them."""
    tests: Tests = Tests()
    """Tests by id in that run."""
    apart: bool = True
    """Whether the work tree was out of reach of the checks in the clean clone."""
    hollow: Hollow = "not run"
    """Whether the checks noticed that the new code was taken away."""
    deleted: int = 0
    """Single statements that were deleted, one at a time, to see whether a check notices."""
    noticed: int = 0
    """Those that some check noticed."""
    reviewed: bool = False
    """Whether a reviewer looked at the result."""
    findings: int = 0
    """Faults that a reviewer found and another conversation reproduced."""
    open: int = 0
    """Those that are not healed."""
    unreproduced: int = 0
    """What a reviewer found and nobody could reproduce."""


class SessionSummary(Value):
    """session-summary.json: what happened, counted by code."""

    version: Literal[1] = 1
    """Of this schema."""
    run: str
    """The run's id."""
    spec: str
    """What was asked for."""
    workflow: str
    """The workflow's id."""
    status: Status
    """Only `verified` means that every gate passed."""
    reason: str
    """Why the run has this status."""
    place: Literal["new folder", "worktree"]
    """Where the build happened."""
    branch: str
    """The branch that holds the result."""
    started_at: datetime
    """UTC."""
    ended_at: datetime
    """UTC."""
    active_seconds: float
    """Time in steps, without pauses."""
    project_type: str = ""
    """As Scout found it."""
    tech_stack: tuple[str, ...] = ()
    """As Scout found it."""
    phases: tuple[PhaseSummary, ...] = ()
    """In the workflow's order."""
    tasks: tuple[TaskSummary, ...] = ()
    """In the order in which they are built."""
    commits: tuple[CommitSummary, ...] = ()
    """Oldest first, without the one that holds this file."""
    tests: TestSummary
    """The Test phase."""
    tokens: Usage
    """Over all calls, those of cut-off conversations included."""
    cost_usd: float | None
    """US dollars; null when a model without a known price was used."""
    reflection: ReflectionSummary = ReflectionSummary()
    """What thinking in rounds used of that."""
    peak_context_share: float
    """The fullest that any conversation was, from 0 to 1."""
    conversations: tuple[ConversationSummary, ...] = ()
    """Accepted and failed ones, in their order."""
    deployed: str = ""
    """Where the branch was pushed to, if it was."""
    warnings: tuple[str, ...] = ()
    """What keeps a finished run from being verified."""
    counts: Counts = Counts()
    """The figures of the verdict."""
    proof: str = ""
    """The same figures in one line."""
    flags: tuple[str, ...] = ()
    """What a person should know before they trust the result."""


class CheckEvidence(Value):
    """A command that the harness ran, and how it ended."""

    name: str
    """The check's name."""
    command: str
    """What was run."""
    status: CheckStatus
    """`preexisting`: the same tests failed before the run began."""
    exit_code: int | None
    """Null when the command was stopped or not run."""
    tests: TestCounts | None = None
    """What its test runner counted, where one told."""


State = Literal["proven", "tested", "claimed", "missing"]
"""proven: its command failed without the work and passes with it, at the final commit; tested: it
passes there and was never seen to fail; claimed: only an author says so; missing: it is not done,
or its command fails."""


class CriterionEvidence(Value):
    """A criterion, the task that met it, the command that shows it and the commit that holds it."""

    criterion: str
    """As in tasks.json."""
    task: str
    """The task's id."""
    state: State
    """What the criterion has for it."""
    before: CommandEnding | None = None
    """How its command ended over the code before the task, with the task's tests."""
    check: CheckEvidence | None
    """The command that shows it, as it ran at the final commit."""
    commit: str = ""
    """The commit of the task; empty while it is not accepted."""


class RequirementEvidence(Value):
    """A requirement, with the least that one of its criteria has."""

    id: str
    """As in tasks.json."""
    text: str
    """What is required."""
    quote: str
    """The words of the spec that ask for it."""
    testable: bool = True
    """False for what no command can tell, such as wording and looks."""
    state: State
    """How far it is shown."""
    criteria: tuple[CriterionEvidence, ...]
    """All criteria that serve it."""


class Evidence(Value):
    """evidence.json: requirement → task → command → exit codes → commit."""

    version: Literal[2] = 2
    """Of this schema."""
    run: str
    """The run's id."""
    status: Status
    """The run's status."""
    reasons: tuple[str, ...] = ()
    """What keeps it from being verified."""
    commit: str = ""
    """The commit that the final checks ran at; those after it hold artifacts only."""
    counts: Counts = Counts()
    """The figures of the verdict."""
    requirements: tuple[RequirementEvidence, ...] = ()
    """In the plan's order."""
    final_checks: tuple[CheckEvidence, ...] = ()
    """The last run of the checks, in a clean clone where all of them held."""
    documentation: tuple[CheckEvidence, ...] = ()
    """The command blocks of the documentation, as they were run."""
    flags: tuple[Flag, ...] = ()
    """What a person should know before they trust the result."""
    rulings: tuple[Ruling, ...] = ()
    """What the reviewer said of changed tests."""
    remarks: tuple[str, ...] = ()
    """What the reviewer said without a command that shows it."""
    unnoticed: tuple[str, ...] = ()
    """Functions or files whose work no check misses."""
    survivors: tuple[str, ...] = ()
    """Statements that could be deleted without any check noticing."""
    chain: str = ""
    """The SHA-256 of the journal's last line before the one that ends the run."""
    follows: str = ""
    """The run's last commit before the one that holds this file."""
    foundry: str = ""
    """The version of Foundry that wrote it."""
