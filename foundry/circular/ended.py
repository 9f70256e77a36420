"""The event that tells of an iteration once it is judged. Pure."""

from collections.abc import Sequence

from foundry.circular.metrics import completion, counted
from foundry.circular.schema import IterationState
from foundry.schema.events import IterationEnded


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
