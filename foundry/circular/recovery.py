"""The seed's five errors and what the harness does about each. Pure.

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

from enum import StrEnum

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
