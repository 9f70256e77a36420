"""How a thread ended: what its verdict is worth, or its error and what is done about it. Pure.

A verdict is a claim, and decides nothing before it is verified. What a thread writes is not read
for one: a thread that stops without handing in a verdict looks done where every check holds, has
more to do where one fails, and tells nothing where there is none. An end takes passed checks, a
clean and committed tree, and further threads that find nothing left.

The seed's five errors and what the harness does about each:

context_overflow       immediate_restart   The conversation no longer fits its window: its work is
                                           kept, and the next thread begins.
model_rate_limit       wait_and_retry      The model's server throttles or fails: the conversation
                                           waits, as long as the run may, and goes on. Where
                                           that is not enough its work is kept, the run pauses.
execution_failure      rollback_and_retry  A thread was refused, or left what can't be committed:
                                           its work goes into a ref, and a fresh thread tries.
inconsistent_state     rebuild_state       Journal, HEAD and state file disagree: the journal in
                                           HEAD decides, and the rest is made anew.
termination_ambiguity  ask                 Threads end, and nobody can tell whether it is done: a
                                           person decides, or the run pauses until one does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from foundry.circular.schema import IterationStatus, Report
from foundry.schema.command import CheckResult


@dataclass(frozen=True, slots=True)
class Claim:
    """What the end of a thread says of the task."""

    kind: Literal["done", "more", "blocked", "unclear"]
    reason: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What the harness found when it looked whether a claim holds."""

    checks: bool | None
    """Whether every check passes; None: there is no check."""
    clean: bool
    """Nothing in the tree is uncommitted."""
    committed: bool
    """The work is in a commit."""
    needed: int
    """Threads that have to find it done, the one that claims it included."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The status of an iteration, why, and whether its claim is worth a doubt."""

    status: IterationStatus
    reason: str
    doubted: bool = False


def claim_of(report: Report, checks: Sequence[CheckResult]) -> Claim:
    """What a thread claims: by its verdict; without one by how it ended, and by the checks."""
    if report.verdict is not None:
        return Claim(report.verdict, report.evidence)
    if report.reason != "completion":
        how = report.ending.replace("_", " ")
        return Claim("more", f"the thread ended at its {report.reason} ({how})")
    if not checks:
        return Claim("unclear", "it stopped without one, and there is no check")
    if all(check.holds for check in checks):
        return Claim("done", "it stopped without a verdict, and every check holds")
    return Claim("more", "it stopped without a verdict, and a check fails")


def settle(claim: Claim, found: Verification) -> Settled:
    """The status that a claim leads to. No claim is a success before other threads doubted it."""
    match claim.kind:
        case "more":
            return Settled(IterationStatus.CONTINUE, claim.reason or "work is left")
        case "blocked":
            return Settled(IterationStatus.BLOCKED, claim.reason)
        case "unclear":
            return Settled(IterationStatus.UNKNOWN, f"no verdict: {claim.reason}")
    if missing := _missing(found):
        return Settled(IterationStatus.CONTINUE, f"it is not done: {missing}")
    what = f"1 of {found.needed} threads find it done"
    return Settled(IterationStatus.UNKNOWN, what, doubted=True)


def _missing(found: Verification) -> str:
    if found.checks is False:
        return "a check fails"
    if not found.committed:
        return "the work is not committed"
    return "" if found.clean else "the tree has changes that are not committed"


# -- errors ----------------------------------------------------------------------------------------


class ErrorType(StrEnum):
    """What can go wrong with an iteration."""

    CONTEXT_OVERFLOW = "context_overflow"
    MODEL_RATE_LIMIT = "model_rate_limit"
    EXECUTION_FAILURE = "execution_failure"
    INCONSISTENT_STATE = "inconsistent_state"
    TERMINATION_AMBIGUITY = "termination_ambiguity"


RECOVERIES = {
    ErrorType.CONTEXT_OVERFLOW: "immediate_restart",
    ErrorType.MODEL_RATE_LIMIT: "wait_and_retry",
    ErrorType.EXECUTION_FAILURE: "rollback_and_retry",
    ErrorType.INCONSISTENT_STATE: "rebuild_state",
    ErrorType.TERMINATION_AMBIGUITY: "ask",
}
"""What is done about each."""

_BY_ENDING = {
    "context_full": ErrorType.CONTEXT_OVERFLOW,
    "unavailable": ErrorType.MODEL_RATE_LIMIT,
    "refused": ErrorType.EXECUTION_FAILURE,
    "rejected": ErrorType.EXECUTION_FAILURE,
    "not_submitted": ErrorType.TERMINATION_AMBIGUITY,
}

MAX_DETAIL = 300


def error_of(ending: str) -> ErrorType | None:
    """The error that a conversation's reason to end stands for; None where it is none."""
    return _BY_ENDING.get(ending)


def error_line(error: ErrorType, detail: str) -> str:
    """For the history: `execution_failure (rollback_and_retry): the model refused`."""
    return f"{error} ({RECOVERIES[error]}): {' '.join(detail.split())[:MAX_DETAIL]}"
