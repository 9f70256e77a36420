"""session-summary.json and evidence.json. Documented in README; `version` changes with them."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from foundry.schema.base import Value
from foundry.schema.checks import CheckStatus, TestCounts
from foundry.schema.messages import Usage
from foundry.schema.run import Status


class PhaseSummary(Value):
    """One phase: accepted steps, and what they used."""

    phase: str
    state: Literal["done", "skipped", "pending"]
    steps: int = 0
    failed_attempts: int = 0
    seconds: float = 0
    tokens: int = 0
    cost_usd: float | None = 0.0


class TaskSummary(Value):
    """One Builder task."""

    id: str
    title: str
    state: Literal["done", "pending"]
    attempts: int = 0
    commit: str = ""
    seconds: float = 0


class CommitSummary(Value):
    """One commit of the run."""

    sha: str
    subject: str
    step: str = ""


class TestSummary(Value):
    """The last test iteration."""

    __test__ = False

    passed: bool
    iterations: int
    checks: int = 0
    failing: int = 0
    preexisting: int = 0
    tests: TestCounts | None = None


class ConversationSummary(Value):
    """One accepted or failed conversation. `context_share` is its fullest, from 0 to 1."""

    id: str
    step: str
    model: str
    turns: int
    tokens: int
    seconds: float
    peak_tokens: int
    context_share: float
    cost_usd: float | None


class SessionSummary(Value):
    """session-summary.json: what happened, counted by code."""

    version: Literal[1] = 1
    run: str
    spec: str
    workflow: str
    status: Status
    reason: str
    place: Literal["new folder", "worktree"]
    branch: str
    started_at: datetime
    ended_at: datetime
    active_seconds: float = Field(description="time in steps, without pauses")
    project_type: str = ""
    tech_stack: tuple[str, ...] = ()
    phases: tuple[PhaseSummary, ...] = ()
    tasks: tuple[TaskSummary, ...] = ()
    commits: tuple[CommitSummary, ...] = ()
    tests: TestSummary
    tokens: Usage
    cost_usd: float | None = Field(description="None when a model without a known price was used")
    peak_context_share: float
    conversations: tuple[ConversationSummary, ...] = ()
    deployed: str = ""
    warnings: tuple[str, ...] = ()


class CheckEvidence(Value):
    """A command that the harness ran, and how it ended."""

    name: str
    command: str
    status: CheckStatus
    exit_code: int | None


class CriterionEvidence(Value):
    """A criterion, the task that met it, the check that showed it and the commit that holds it."""

    criterion: str
    task: str
    check: CheckEvidence | None
    commit: str = ""


class RequirementEvidence(Value):
    """proven: all its tasks were accepted and the final checks hold; built: only the former."""

    id: str
    text: str
    quote: str
    state: Literal["proven", "built", "open"]
    criteria: tuple[CriterionEvidence, ...]


class Evidence(Value):
    """evidence.json: requirement → task → check → exit code → commit."""

    version: Literal[1] = 1
    run: str
    status: Status
    requirements: tuple[RequirementEvidence, ...] = ()
    final_checks: tuple[CheckEvidence, ...] = ()
    documentation: tuple[CheckEvidence, ...] = ()
