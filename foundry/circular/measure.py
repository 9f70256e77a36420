"""What the harness finds after an iteration: checks, tree, change; and what follows from it.

A claim that nothing measured speaks against is left for the doubting threads. The breaker, two
threads that are blocked and two endings that nobody can read end the loop, or ask a person.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from foundry.circular.breaker import Trip, TripKind, tripped
from foundry.circular.diff_stats import summarise
from foundry.circular.failures import issues_between, read_failures, reported
from foundry.circular.history import ASSIGNMENT, MARK, last_mark, last_work, mark_of, states_of
from foundry.circular.metrics import completion, counted, work
from foundry.circular.schema import Failure, IterationState, IterationStatus, Mark, Measure, Report
from foundry.circular.verdicts import ErrorType, Settled, Verification, claim_of, error_line, settle
from foundry.engine.evidence.look import look
from foundry.engine.step_context import StepContext
from foundry.engine.step_kind import Acted, GateResult, Result
from foundry.errors import DecisionNeeded, WorkflowError
from foundry.schema.command import CheckResult
from foundry.schema.events import IterationEnded
from foundry.schema.journal import Entry, Resume
from foundry.store.git.repository import Repository
from foundry.store.project import FOLDER

UNCLEAR = 2
"""So many endings in a row that tell nothing, or threads that are blocked, ask for a person."""

DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M")


def measure(ctx: StepContext) -> Acted:
    """One iteration judged.

    Raises WorkflowError where none comes before it, and DecisionNeeded when a person has to say
    how to go on.
    """
    mark, last_worked = last_mark(ctx.journal), last_work(ctx.journal)
    if last_worked is None or mark.report is None or mark.report.kind != "work":
        raise WorkflowError(
            f"{ctx.instruction.id}: there is no iteration to measure",
            hint="Put a step with the contract `circular` before the action `measure`",
        )
    record, report = last_worked
    silent = report.verdict is None and report.reason == "completion"
    checks = look(ctx, record.step, again=silent or report.verdict == "done", closely=False).checks
    commits = {each.step: each.sha for each in ctx.repository.commits(ctx.start.run)}
    sha = commits.get(record.step, "")
    settled = settle(claim_of(report, checks), _verification(ctx, checks, sha))
    *before, last = states_of(ctx.journal)
    state = _state(ctx, before, last, report, checks, settled, sha)
    history = (*before, state)
    trip = tripped(history, watch=_watched(history) if settled.doubted else tuple(TripKind))
    if trip is None and not settled.doubted:
        _ask_where_unclear(ctx, history)
    event = iteration_ended(ctx.instruction.id, state, history, trip.kind if trip else "")
    result = _result(ctx, state, settled, trip)
    return replace(result, event=lambda _record: event), GateResult(checks=checks)


def own_tree(repository: Repository, revision: str = "HEAD") -> str:
    """A hash of all files of a commit but our own, which differ with every step."""
    lines = repository.run("ls-tree", revision).splitlines()
    kept = "\n".join(line for line in lines if not line.endswith(f"\t{FOLDER}"))
    return sha256(kept.encode(errors="surrogateescape")).hexdigest()[:40]


def iteration_ended(
    step: str, state: IterationState, history: Sequence[IterationState], trip: str = ""
) -> IterationEnded:
    """An iteration, or a thread that doubted one, with what it came to."""
    return IterationEnded(
        step=step,
        iteration=state.number,
        doubt=state.kind == "doubt",
        status=state.status,
        reason=state.ending or state.reason,
        context_share=state.peak_context,
        files_changed=len(state.files_modified),
        resolved=counted(state.issues_resolved),
        discovered=counted(state.issues_discovered),
        checks=len(state.checks),
        failing=sum(1 for check in state.checks if not check.holds),
        tokens=state.tokens,
        seconds=state.seconds,
        progress=round(completion(history), 4),
        trip=trip,
    )


def _verification(ctx: StepContext, checks: tuple[CheckResult, ...], sha: str) -> Verification:
    head = own_tree(ctx.repository)
    return Verification(
        checks=all(check.holds for check in checks) if checks else None,
        clean=not ctx.repository.changes(),
        committed=bool(sha) and own_tree(ctx.repository, sha) == head,
        needed=1 + (ctx.context.get(ASSIGNMENT) or {}).get("confirmations", 1),
    )


def _watched(history: tuple[IterationState, ...]) -> tuple[TripKind, ...]:
    """What ends a run whose last thread claims that it is done. Whatever went before, a claim is
    worth a doubt; but not the same claim again, about a project that a doubt has refuted it of."""
    doubted = {state.number for state in history if state.kind == "doubt"}
    refuted = {state.tree for state in work(history[:-1]) if state.number in doubted}
    return tuple(TripKind) if history[-1].tree in refuted else (TripKind.SHRINKING_TESTS,)


def _state(
    ctx: StepContext,
    before: Sequence[IterationState],
    state: IterationState,
    report: Report,
    checks: tuple[CheckResult, ...],
    settled: Settled,
    sha: str,
) -> IterationState:
    """The iteration with all that was measured."""
    diff = ctx.repository.run(*DIFF, f"{sha}~1", sha, "--", ".", f":(exclude){FOLDER}")
    failures = read_failures(checks)
    resolved, discovered = issues_between(failures_before(ctx, before) or (), failures)
    mended = {issue.id for issue in resolved}
    known = {issue.id for each in work(before) for issue in each.issues_discovered}
    said_resolved = [each for each in reported(report.resolved) if each.id not in mended]
    left = [each for each in reported((*report.found, *report.remaining)) if each.id not in known]
    return state.model_copy(
        update={
            "status": settled.status,
            "checks": checks,
            "failures": failures,
            "issues_resolved": (*resolved, *said_resolved),
            "issues_discovered": (*discovered, *left),
            "change": summarise(diff),
            "tree": own_tree(ctx.repository, sha),
            "commit": sha,
        }
    )


def failures_before(
    ctx: StepContext, states: Sequence[IterationState]
) -> tuple[Failure, ...] | None:
    """What failed after the last iteration, or before the first; None where nobody looked."""
    if worked := work(states):
        return worked[-1].failures
    baseline = ctx.last("baseline")
    return read_failures(baseline.checks) if baseline else None


def _ask_where_unclear(ctx: StepContext, history: Sequence[IterationState]) -> None:
    """Ask a person when the last threads were blocked, or ended so that nobody can tell.

    Who resumes the run has answered: what came before that counts no more.
    """
    if _since_a_person(ctx.journal) < UNCLEAR:
        return
    statuses = {state.status for state in work(history)[-UNCLEAR:]}
    if statuses == {IterationStatus.BLOCKED}:
        report = last_mark(ctx.journal).report
        evidence = (report.evidence if report else "").strip()[:300].rstrip(".")
        what = f"{UNCLEAR} threads in a row are blocked: {evidence}"
    elif statuses == {IterationStatus.UNKNOWN}:
        detail = f"{UNCLEAR} threads in a row ended without a verdict"
        what = error_line(ErrorType.TERMINATION_AMBIGUITY, detail)
    else:
        return
    if not ctx.ask(f"{what}. Go on all the same?"):
        raise DecisionNeeded(what, hint="`foundry circular resume` goes on all the same")


def _since_a_person(journal: tuple[Entry, ...]) -> int:
    """How many threads worked since the run began or a person took it up again."""
    count = 0
    for entry in reversed(journal):
        if isinstance(entry, Resume):
            break
        report = mark.report if (mark := mark_of(entry)) else None
        count += report is not None and report.kind == "work"
    return count


def _result(ctx: StepContext, state: IterationState, settled: Settled, trip: Trip | None) -> Result:
    """The journal line of a measured iteration."""
    why = str(trip) if trip else settled.reason
    found = Measure(
        status=settled.status,
        why=why,
        failures=state.failures,
        resolved=state.issues_resolved,
        discovered=state.issues_discovered,
        change=state.change,
        tree=state.tree,
        trip=trip.kind if trip else "",
    )
    over = trip is not None
    mark = Mark(number=state.number, claimed=settled.doubted and not over, over=over, measure=found)
    failing = sum(1 for check in state.checks if not check.holds)
    verdict = "all checks hold" if state.checks else "no check to run"
    if failing:
        verdict = f"{failing} of {len(state.checks)} checks failing"
    return Result(
        f"test: measure iteration {state.number}, {verdict}",
        f"{verdict}; {why}",
        patch={
            MARK: mark.model_dump(mode="json", exclude_none=True),
            "tests": {"passed": bool(state.checks) and not failing, "settled": over,
                      "iterations": state.number},
            "unproven": why if over else _not_yet(ctx, state, why),
        },
    )  # fmt: skip


def _not_yet(ctx: StepContext, state: IterationState, why: str) -> str:
    """Why the run would not be verified if it ended here."""
    most = ctx.instruction.loop.loop.max_iterations if ctx.instruction.loop else 0
    if most and state.number >= most:
        return f"not done after {state.number} of {most} iterations: {why}"
    return why or f"iteration {state.number} is not verified"
