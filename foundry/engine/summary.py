"""session-summary.json and evidence.json from journal, plan and git. Pure but for its inputs."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import Literal

from foundry.engine.counts import counts, told
from foundry.engine.findings import reviewed
from foundry.engine.requirements import (
    built_tasks,
    check_evidence,
    last_look,
    requirements,
)
from foundry.engine.verdict import flags_of, last_checks, last_tests, reasons
from foundry.schema.command import TestCounts
from foundry.schema.journal import Attempt, Entry, Start, StepRecord, Thought
from foundry.schema.messages import Usage
from foundry.schema.plan import Plan
from foundry.schema.run import Status
from foundry.schema.summary import (
    CommitSummary,
    ConversationSummary,
    Counts,
    Evidence,
    PhaseSummary,
    ReflectionSummary,
    SessionSummary,
    TaskSummary,
    TestSummary,
)
from foundry.schema.workflow import Workflow
from foundry.store.git.query import Commit
from foundry.store.ledger import Spent
from foundry.workflow.cursor import Cursor


@dataclass(frozen=True)
class Facts:
    """What a summary is made from."""

    workflow: Workflow
    journal: tuple[Entry, ...]
    cursor: Cursor
    plan: Plan | None
    commits: tuple[Commit, ...]
    branch: str
    spent_in_all: Spent

    @property
    def start(self) -> Start:
        """How the run began."""
        return next(entry for entry in self.journal if isinstance(entry, Start))

    @property
    def records(self) -> list[StepRecord]:
        """The accepted steps."""
        return [entry for entry in self.journal if isinstance(entry, StepRecord)]

    @property
    def spent(self) -> list[StepRecord | Attempt]:
        """Everything that cost something."""
        return [entry for entry in self.journal if isinstance(entry, StepRecord | Attempt)]


def session_summary(facts: Facts, status: Status, reason: str, ended: datetime) -> SessionSummary:
    """The summary of a run as it stands."""
    context, start, spent = facts.cursor.context, facts.start, facts.spent
    usage = sum((entry.spend.usage for entry in spent), Usage())
    cost = _sum_cost(entry.spend.cost_usd for entry in spent)
    thought = reduce(_both, (entry.spend.reflection for entry in spent), Thought())
    if facts.spent_in_all.calls:  # cut-off conversations cost money too
        paid = facts.spent_in_all
        usage, cost = paid.usage, None if paid.unpriced else round(paid.usd, 6)
        thought = paid.reflection
    thought = thought.rounded
    return SessionSummary(
        run=start.run,
        spec=start.spec,
        workflow=start.workflow,
        status=status,
        reason=reason,
        place="worktree" if start.base else "new folder",
        branch=facts.branch,
        started_at=start.at,
        ended_at=ended,
        active_seconds=round(sum(entry.spend.seconds for entry in spent), 3),
        project_type=str(context.get("project_type", "")),
        tech_stack=tuple(context.get("tech_stack", ())),
        phases=tuple(_phase(facts, phase) for phase in facts.workflow.phases),
        tasks=tuple(_tasks(facts)),
        commits=tuple(CommitSummary(sha=c.sha, subject=c.subject, step=c.step)
                      for c in facts.commits),
        tests=_tests(facts),
        tokens=usage,
        cost_usd=cost,
        reflection=ReflectionSummary(
            rounds=thought.rounds, tokens=thought.usage.context_tokens, cost_usd=thought.cost_usd
        ),
        peak_context_share=round(max((e.spend.context_share for e in spent), default=0.0), 4),
        conversations=tuple(_conversations(spent)),
        deployed=str(context.get("deployed", "")),
        warnings=facts.cursor.warnings,
        counts=(figures := counted(facts)),
        proof=told(figures),
        flags=tuple(flag.words for flag in flags_of(facts.journal)),
    )  # fmt: skip


def evidence(facts: Facts, status: Status) -> Evidence:
    """The chain from every requirement to the commit and exit code that prove it."""
    records, look = facts.records, last_look(facts.records)
    checks = look.checks if look else ()
    found = look.examination if look else None
    built = built_tasks(facts.workflow, facts.journal)
    met = requirements(facts.plan, built, _shas(facts.commits), checks, found)
    docs = [each for record in records for each in record.checks if each.kind == "docs"]
    review = reviewed(records)
    return Evidence(
        run=facts.start.run,
        status=status,
        reasons=_reasons(facts) if status.over and status is not Status.FAILED else (),
        commit=found.commit if found else "",
        counts=counts(records, met),
        requirements=met,
        final_checks=tuple(map(check_evidence, checks)),
        documentation=tuple(map(check_evidence, docs)),
        flags=flags_of(facts.journal),
        rulings=review.rulings,
        remarks=review.remarks,
        unnoticed=found.unnoticed if found else (),
        survivors=found.survivors if found else (),
    )


def _reasons(facts: Facts) -> tuple[str, ...]:
    return tuple(reasons(facts.workflow, facts.journal, facts.cursor.warnings, facts.plan))


def counted(facts: Facts) -> Counts:
    """The figures of the verdict as the run stands."""
    look = last_look(facts.records)
    checks, found = (look.checks, look.examination) if look else ((), None)
    built = built_tasks(facts.workflow, facts.journal)
    return counts(facts.records, requirements(facts.plan, built, {}, checks, found))


def _phase(facts: Facts, phase: str) -> PhaseSummary:
    mine = [entry for entry in facts.spent if entry.phase == phase]
    accepted = [entry for entry in mine if isinstance(entry, StepRecord)]
    passed = facts.cursor.position >= len(facts.workflow.steps) or phase not in {
        step.phase or step.id for step in facts.workflow.steps[facts.cursor.position :]
    }
    state: Literal["done", "skipped", "pending"] = (
        "pending" if not passed else "done" if accepted else "skipped"
    )
    return PhaseSummary(
        phase=phase,
        state=state,
        steps=len(accepted),
        failed_attempts=len(mine) - len(accepted),
        seconds=round(sum(entry.spend.seconds for entry in mine), 3),
        tokens=sum(entry.spend.usage.context_tokens for entry in mine),
        cost_usd=_sum_cost(entry.spend.cost_usd for entry in mine),
    )


def _tasks(facts: Facts) -> Iterable[TaskSummary]:
    shas = _shas(facts.commits)
    done = built_tasks(facts.workflow, facts.journal)
    for task in facts.cursor.context.get("tasks", []):
        record = done.get(task["id"])
        yield TaskSummary(
            id=task["id"],
            title=task["title"],
            state="done" if record else "pending",
            attempts=record.attempt if record else 0,
            commit=shas.get(record.step, "") if record else "",
            seconds=record.spend.seconds if record else 0,
        )


def _tests(facts: Facts) -> TestSummary:
    tests, checks = last_tests(facts.records), last_checks(facts.records)
    counted = [check.tests for check in checks if check.tests and check.kind == "test"]
    return TestSummary(
        passed=bool(tests.get("passed")),
        iterations=int(tests.get("iterations", 0)),
        checks=len(checks),
        failing=sum(1 for check in checks if not check.holds),
        preexisting=sum(1 for check in checks if check.status == "preexisting"),
        tests=sum(counted, TestCounts()) if counted else None,
    )


def _conversations(spent: Iterable[StepRecord | Attempt]) -> Iterable[ConversationSummary]:
    for entry in spent:
        if entry.spend.turns:
            yield ConversationSummary(
                id=entry.spend.conversation,
                step=entry.step,
                model=entry.spend.model,
                turns=entry.spend.turns,
                tokens=entry.spend.usage.context_tokens,
                seconds=entry.spend.seconds,
                peak_tokens=entry.spend.peak_tokens,
                context_share=round(entry.spend.context_share, 4),
                cost_usd=entry.spend.cost_usd,
                rounds=entry.spend.reflection.rounds,
            )


def _both(one: Thought, other: Thought) -> Thought:
    return one.plus(other.usage, other.cost_usd, other.rounds)


def _shas(commits: Iterable[Commit]) -> dict[str, str]:
    return {commit.step: commit.sha for commit in commits if commit.step}


def _sum_cost(costs: Iterable[float | None]) -> float | None:
    total = 0.0
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return round(total, 6)
