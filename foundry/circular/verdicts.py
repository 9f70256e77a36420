"""How a thread ended: what its verdict is worth, or its error and what is done about it. Pure.

A claim comes from a submission, or from closing words where the model would not call tools. Words
can only ever say "looks done: verify"; they neither end a run nor block it. An end takes passed
checks, a clean and committed tree, and threads enough that agree.

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

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from foundry.circular.phrases import Reading, read_closing
from foundry.circular.schema import IterationStatus, Submission
from foundry.schema.base import Value


class ErrorType(StrEnum):
    """What can go wrong with an iteration."""

    CONTEXT_OVERFLOW = "context_overflow"
    MODEL_RATE_LIMIT = "model_rate_limit"
    EXECUTION_FAILURE = "execution_failure"
    INCONSISTENT_STATE = "inconsistent_state"
    TERMINATION_AMBIGUITY = "termination_ambiguity"


class RecoveryAction(StrEnum):
    """What is done about it."""

    IMMEDIATE_RESTART = "immediate_restart"
    WAIT_AND_RETRY = "wait_and_retry"
    ROLLBACK_AND_RETRY = "rollback_and_retry"
    REBUILD_STATE = "rebuild_state"
    ASK = "ask"


RECOVERIES: dict[ErrorType, RecoveryAction] = {
    ErrorType.CONTEXT_OVERFLOW: RecoveryAction.IMMEDIATE_RESTART,
    ErrorType.MODEL_RATE_LIMIT: RecoveryAction.WAIT_AND_RETRY,
    ErrorType.EXECUTION_FAILURE: RecoveryAction.ROLLBACK_AND_RETRY,
    ErrorType.INCONSISTENT_STATE: RecoveryAction.REBUILD_STATE,
    ErrorType.TERMINATION_AMBIGUITY: RecoveryAction.ASK,
}

_ERRORS = {
    "context_full": ErrorType.CONTEXT_OVERFLOW,
    "unavailable": ErrorType.MODEL_RATE_LIMIT,
    "refused": ErrorType.EXECUTION_FAILURE,
    "rejected": ErrorType.EXECUTION_FAILURE,
    "not_submitted": ErrorType.TERMINATION_AMBIGUITY,
}
"""By the reason with which a conversation ended."""

MAX_DETAIL = 300


class Recovered(Value):
    """An error with what was done about it."""

    error: ErrorType
    action: RecoveryAction
    detail: str = ""

    @property
    def told(self) -> str:
        """For the history: `execution_failure (rollback_and_retry): the model refused`."""
        return f"{self.error} ({self.action}): {self.detail}"


def error_of(ending: str) -> ErrorType | None:
    """The error that a conversation's reason to end stands for; None where it is none."""
    return _ERRORS.get(ending)


def recovered(ending: str, detail: str) -> Recovered:
    """What is done about a thread that failed and left nothing that could be kept."""
    error = error_of(ending) or ErrorType.EXECUTION_FAILURE
    return recovery(error, detail)


def recovery(error: ErrorType, detail: str) -> Recovered:
    """An error with its recovery."""
    words = " ".join(detail.split())[:MAX_DETAIL]
    return Recovered(error=error, action=RECOVERIES[error], detail=words)


AGREEING = 2
"""Threads that have to find it done, the one that claims it included."""

LOOKS_DONE = "looks done: verify"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a thread says of the task."""

    kind: Literal["done", "more", "blocked", "unclear"]
    source: Literal["submission", "words"]
    reason: str
    remaining: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """What the harness found when it looked whether a claim holds."""

    checks: bool | None
    """Whether every check passes; None: there is no check."""
    clean: bool
    """Nothing in the tree is uncommitted."""
    committed: bool
    """The work is in a commit."""
    agreeing: int
    """Fresh threads that say the same, the claimant included."""
    needed: int = AGREEING


@dataclass(frozen=True, slots=True)
class Settled:
    """The status of an iteration, whether the run ends with it, and why."""

    status: IterationStatus
    ends: bool
    reason: str


def claim_of(submission: Submission) -> Claim:
    """What a submission claims; done with something left is more."""
    remaining = tuple(each for each in submission.remaining if each.strip())
    if submission.verdict == "done" and remaining:
        reason = f"it says done, and that {len(remaining)} things are left"
        return Claim("more", "submission", reason, remaining)
    return Claim(submission.verdict, "submission", submission.evidence, remaining)


def claim_in_words(text: str) -> Claim:
    """What the closing words of a thread come to: at most that it looks done."""
    reading: Reading = read_closing(text)
    return Claim(reading.kind, "words", reading.reason)


def settle(claim: Claim, verification: Verification | None = None) -> Settled:
    """The status that a claim leads to, with what the harness verified of it so far."""
    match claim.kind:
        case "more":
            return Settled(IterationStatus.CONTINUE, False, claim.reason or "work is left")
        case "blocked" if claim.source == "submission":
            return _blocked(claim, verification)
        case "done":
            return _done(verification)
    return Settled(IterationStatus.UNKNOWN, False, f"no verdict: {claim.reason}")


def _blocked(claim: Claim, verification: Verification | None) -> Settled:
    """Being blocked is only a claim, too: as many threads have to agree."""
    agreed = verification is not None and verification.agreeing >= verification.needed
    return Settled(IterationStatus.BLOCKED, agreed, claim.reason)


def _done(verification: Verification | None) -> Settled:
    if verification is None:
        return Settled(IterationStatus.UNKNOWN, False, LOOKS_DONE)
    missing = _missing(verification)
    if missing:
        return Settled(IterationStatus.CONTINUE, False, f"it is not done: {missing}")
    if verification.agreeing < verification.needed:
        what = f"{verification.agreeing} of {verification.needed} threads find it done"
        return Settled(IterationStatus.UNKNOWN, False, what)
    if verification.checks is None:
        what = f"{verification.agreeing} threads find it done, and no check shows it"
        return Settled(IterationStatus.UNKNOWN, True, what)
    what = f"every check passes, and {verification.agreeing} threads find it done"
    return Settled(IterationStatus.SUCCESS, True, what)


def _missing(verification: Verification) -> str:
    if verification.checks is False:
        return "a check fails"
    if not verification.committed:
        return "the work is not committed"
    return "" if verification.clean else "the tree has changes that are not committed"
