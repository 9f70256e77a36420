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
from foundry.circular.history import ASSIGNMENT, MARK, last_mark, mark_of, states_of
from foundry.circular.metrics import completion, counted, work
from foundry.circular.schema import (
    Issue,
    IterationState,
    IterationStatus,
    Mark,
    Measure,
    Report,
    Submission,
)
from foundry.circular.verdicts import (
    Claim,
    ErrorType,
    Settled,
    Verification,
    claim_in_words,
    claim_of,
    recovery,
    settle,
)
from foundry.engine.checks import checked
from foundry.engine.deploy import Ask
from foundry.engine.result import Result
from foundry.engine.step_context import StepContext
from foundry.errors import DecisionNeeded, WorkflowError
from foundry.schema.checks import CheckResult
from foundry.schema.events import IterationEnded
from foundry.schema.journal import Entry, Resume
from foundry.store.git.repository import Repository
from foundry.store.project import FOLDER

UNCLEAR = 2
"""So many endings in a row that tell nothing, or threads that are blocked, ask for a person."""

DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M")


def measure(ctx: StepContext, ask: Ask) -> tuple[Result, tuple[CheckResult, ...]]:
    """One iteration judged; raises DecisionNeeded when a person has to say how to go on."""
    report = last_mark(ctx.journal).report
    if report is None or report.kind != "work":
        raise WorkflowError(
            f"{ctx.instruction.id}: there is no iteration to measure",
            hint="Put a step with the contract `circular` before the action `measure`",
        )
    claim = claim_in(report)
    checks, _ = checked(ctx, again=claim.kind == "done")
    history = states_of(ctx.journal)
    settled, claimed = _settled(ctx, claim, checks)
    state = _state(ctx, history, report, checks, settled)
    history = (*history[:-1], state)
    trip = tripped(history, watch=_watched(history) if claimed else tuple(TripKind))
    claimed = claimed and trip is None
    over = trip is not None
    if not (over or claimed):
        _ask_where_unclear(ctx, ask, history)
    result = _result(ctx, state, checks, settled, claimed=claimed, trip=trip)
    event = ended(ctx.instruction.id, state, history, trip.kind if trip else "")
    return replace(result, told=lambda _record: event), checks


def own_tree(repository: Repository, revision: str = "HEAD") -> str:
    """A hash of all files of a commit but our own, which differ with every step."""
    lines = repository.run("ls-tree", revision).splitlines()
    kept = "\n".join(line for line in lines if not line.endswith(f"\t{FOLDER}"))
    return sha256(kept.encode(errors="surrogateescape")).hexdigest()[:40]


def ended(
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


def claim_in(report: Report) -> Claim:
    """What a thread claims: by its verdict, or by closing words; a thread that was cut off, that
    there is more to do."""
    if report.verdict is None and report.reason != "completion":
        how = report.ending.replace("_", " ")
        return Claim("more", "words", f"the thread ended at its {report.reason} ({how})")
    if report.verdict is None:
        return claim_in_words(report.said)
    fields = {name: getattr(report, name) for name in Submission.model_fields}
    return claim_of(Submission.model_validate(fields))


def _settled(
    ctx: StepContext, claim: Claim, checks: tuple[CheckResult, ...]
) -> tuple[Settled, bool]:
    """The status of the iteration, and whether its claim is worth a doubt."""
    if claim.kind != "done":
        return settle(claim, None), False
    found = Verification(
        checks=all(check.holds for check in checks) if checks else None,
        clean=not ctx.repository.changes(),
        committed=_is_committed(ctx),
        agreeing=1,
        needed=1 + _confirmations(ctx),
    )
    settled = settle(claim, found)
    return settled, settled.status is IterationStatus.UNKNOWN


def _watched(history: tuple[IterationState, ...]) -> tuple[TripKind, ...]:
    """What ends a run whose last thread claims that it is done. Whatever went before, a claim is
    worth a doubt; but not the same claim again, about a project that a doubt has refuted it of."""
    doubted = {state.number for state in history if state.kind == "doubt"}
    refuted = {state.tree for state in work(history[:-1]) if state.number in doubted}
    return tuple(TripKind) if history[-1].tree in refuted else (TripKind.SHRINKING_TESTS,)


def _confirmations(ctx: StepContext) -> int:
    return int((ctx.context.get(ASSIGNMENT) or {}).get("confirmations", 1))


def _is_committed(ctx: StepContext) -> bool:
    """Whether the work that is judged is in a commit of this run, and HEAD holds it."""
    sha = _commits(ctx).get(_work_step(ctx), "")
    return bool(sha) and own_tree(ctx.repository, sha) == own_tree(ctx.repository)


def _commits(ctx: StepContext) -> dict[str, str]:
    run = ctx.start.run
    return {each.step: each.sha for each in ctx.repository.commits(run) if each.step}


def _work_step(ctx: StepContext) -> str:
    return next(r.step for r in reversed(ctx.records) if (r.patch.get(MARK) or {}).get("report"))


def _state(
    ctx: StepContext,
    history: tuple[IterationState, ...],
    report: Report,
    checks: tuple[CheckResult, ...],
    settled: Settled,
) -> IterationState:
    """The iteration with all that was measured."""
    sha = _commits(ctx).get(_work_step(ctx), "")
    diff = ctx.repository.run(*DIFF, f"{sha}~1", sha, "--", ".", f":(exclude){FOLDER}")
    before = work(history[:-1])
    failures = read_failures(checks)
    failed_before = before[-1].failures if before else read_failures(_baseline(ctx))
    resolved, discovered = issues_between(failed_before, failures)
    known = {issue.id for state in before for issue in state.issues_discovered}
    told = reported((*report.found, *report.remaining))
    return history[-1].model_copy(
        update={
            "status": settled.status,
            "checks": checks,
            "failures": failures,
            "issues_resolved": (*resolved, *_unique(reported(report.resolved), resolved)),
            "issues_discovered": (*discovered, *(each for each in told if each.id not in known)),
            "change": summarise(diff),
            "tree": own_tree(ctx.repository, sha),
            "commit": sha,
        }
    )


def _unique(issues: tuple[Issue, ...], beside: tuple[Issue, ...]) -> tuple[Issue, ...]:
    ids = {issue.id for issue in beside}
    return tuple(issue for issue in issues if issue.id not in ids)


def _baseline(ctx: StepContext) -> tuple[CheckResult, ...]:
    """The checks as they were before the first iteration."""
    found = ctx.last("baseline")
    return found.checks if found else ()


def _ask_where_unclear(ctx: StepContext, ask: Ask, history: tuple[IterationState, ...]) -> None:
    """Ask a person when the last threads were blocked, or ended so that nobody can tell.

    Who resumes the run has answered: what came before that counts no more.
    """
    if _since_a_person(ctx.journal) < UNCLEAR:
        return
    recent = work(history)[-UNCLEAR:]
    statuses = {state.status for state in recent}
    if statuses == {IterationStatus.BLOCKED}:
        what = f"{UNCLEAR} threads in a row are blocked: {_last_evidence(ctx)}"
    elif statuses == {IterationStatus.UNKNOWN}:
        error = recovery(ErrorType.TERMINATION_AMBIGUITY, f"{UNCLEAR} threads in a row ended "
                         "without a verdict")  # fmt: skip
        what = error.told
    else:
        return
    if not ask(f"{what}. Go on all the same?"):
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


def _last_evidence(ctx: StepContext) -> str:
    report = last_mark(ctx.journal).report
    return (report.evidence if report else "").strip()[:300].rstrip(".")


def _result(
    ctx: StepContext,
    state: IterationState,
    checks: tuple[CheckResult, ...],
    settled: Settled,
    *,
    claimed: bool,
    trip: Trip | None,
) -> Result:
    words = str(trip) if trip else settled.reason
    found = Measure(
        status=settled.status,
        why=words,
        failures=state.failures,
        resolved=state.issues_resolved,
        discovered=state.issues_discovered,
        change=state.change,
        tree=state.tree,
        trip=trip.kind if trip else "",
    )
    over = trip is not None
    mark = Mark(number=state.number, claimed=claimed, over=over, measure=found)
    failing = sum(1 for check in checks if not check.holds)
    verdict = "no check to run" if not checks else "all checks hold"
    if failing:
        verdict = f"{failing} of {len(checks)} checks failing"
    return Result(
        f"test: measure iteration {state.number}, {verdict}",
        f"{verdict}; {words}",
        patch={
            MARK: mark.model_dump(mode="json", exclude_none=True),
            "tests": {"passed": bool(checks) and not failing, "settled": over,
                      "iterations": state.number},
            "unproven": words if over else _not_yet(ctx, state, words),
        },
    )  # fmt: skip


def _not_yet(ctx: StepContext, state: IterationState, words: str) -> str:
    """Why the run would not be verified if it ended here."""
    most = ctx.instruction.loop.loop.max_iterations if ctx.instruction.loop else 0
    if most and state.number >= most:
        return f"not done after {state.number} of {most} iterations: {words}"
    return words or f"iteration {state.number} is not verified"
