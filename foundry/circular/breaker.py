"""The breaker: when iterations are not getting anywhere, and why. Pure.

`k` is how many iterations may pass without progress. Every rule trips at the k-th iteration without
any (the one that they are compared with comes before them, so: within k + 1). What a model claims
plays no part; what the harness measured does:

- the tree came back to what it was k or more iterations ago (same tree, or an oscillation);
- checks fail, and for k iterations none of their failures was mended for the first time and none
  was new. A check that only says that it fails can't tell, as long as the work moves on to other
  files, and one whose output was too long to be kept can't, as long as code changes;
- the work itself ended in the same errors k times, and nothing was gained;
- k changes in a row were comments, formatting or documents, or none, and nothing was gained, unless
  they are the task: what a check without figures says changes with each, or the whole run only
  writes documents and goes on to others;
- tests shrank in k iterations without growing between them, or once so that failures went with it.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from foundry.circular.failures import steady
from foundry.circular.metrics import balances, gains, grew, hides_failures, shrank, work
from foundry.circular.schema import Failure, IterationState

ITERATIONS = 3
"""`k`, where nobody chose one."""

SHOWN = 3
"""Failures and errors that the evidence lists."""


class TripKind(StrEnum):
    """Why the breaker tripped."""

    SHRINKING_TESTS = "shrinking tests"
    SAME_TREE = "same tree"
    OSCILLATION = "oscillation"
    SAME_ERRORS = "same errors"
    SAME_FAILURES = "same failures"
    COSMETIC = "cosmetic changes"


ADVICE = {
    TripKind.SHRINKING_TESTS: (
        "Look at what was taken from the tests; revert the iteration, or say in the constraints "
        "which tests may go"
    ),
    TripKind.SAME_TREE: (
        "The thread sees nothing to do or can't do it: read its last report, and say in the prompt "
        "what is left"
    ),
    TripKind.OSCILLATION: (
        "Two goals pull against each other, or threads disagree: settle it in the constraints"
    ),
    TripKind.SAME_ERRORS: ("Mend what the errors tell of, then begin it again"),
    TripKind.SAME_FAILURES: (
        "Look at one of the failures: mend it by hand, try a stronger model (--model A,B), or take "
        "the check away if it can't pass here"
    ),
    TripKind.COSMETIC: (
        "What is left is polish: if that is what you want, give a --check that measures it; else "
        "the work is probably done"
    ),
}
"""What a person can do."""


@dataclass(frozen=True, slots=True)
class Trip:
    """The breaker tripped: what shows it, and in which iterations."""

    kind: TripKind
    evidence: str
    iterations: tuple[int, ...]

    @property
    def advice(self) -> str:
        """What a person can do."""
        return ADVICE[self.kind]

    def __str__(self) -> str:
        return f"no progress ({self.kind}): {self.evidence}. {self.advice}"


def tripped(
    history: Sequence[IterationState],
    k: int = ITERATIONS,
    watch: Collection[TripKind] = tuple(TripKind),
) -> Trip | None:
    """The first rule that the history breaks at its end, or None: ask after every iteration.

    Raises ValueError when `k` is no number of iterations.
    """
    if k < 1:
        raise ValueError(f"k is {k}: at least one iteration has to pass without progress")
    states = work(history)
    found = (rule(states, k) for rule in _RULES)
    return next((trip for trip in found if trip and trip.kind in watch), None)


def _shrinking(states: Sequence[IterationState], k: int) -> Trip | None:
    """Tests shrank and failures went with it, or they shrank k times."""
    earlier = (None, *states)
    if states and (how := hides_failures(states[-1], earlier[-2])):
        what = f"iteration {states[-1].number} has {_and(how)}, and with them failures went away"
        return Trip(TripKind.SHRINKING_TESTS, what, (states[-1].number,))
    numbers: list[int] = []
    last: tuple[str, ...] = ()
    for before, state in reversed(list(zip(earlier, states, strict=False))):
        if grew(state):
            break
        if how := shrank(state, before):
            numbers, last = [state.number, *numbers], last or how
    if len(numbers) < k or states[-1].number != numbers[-1]:
        return None
    what = f"{len(numbers)} iterations shrank the tests, the last has {_and(last)}"
    return Trip(TripKind.SHRINKING_TESTS, what, tuple(numbers))


def _returned(states: Sequence[IterationState], k: int) -> Trip | None:
    """The last iterations brought only trees that were there before, the oldest k or more ago."""
    known = [state for state in states if state.tree]
    first: dict[str, int] = {}
    for index, state in enumerate(known):
        first.setdefault(state.tree, index)
    back = len(known)  # where the iterations without a new tree begin
    while back and first[known[back - 1].tree] < back - 1:
        back -= 1
    if back == len(known):
        return None
    start = min(first[state.tree] for state in known[back:])
    if len(known) - 1 - start < k:
        return None
    numbers = tuple(state.number for state in known[start:])
    trees = len({state.tree for state in known[start:]})
    if trees == 1:
        what = f"iterations {_range(numbers[1:])} left the project as iteration {numbers[0]} had it"
        return Trip(TripKind.SAME_TREE, what, numbers)
    what = f"iterations {_range(numbers)} went back and forth between {trees} states of the project"
    return Trip(TripKind.OSCILLATION, what, numbers)


def _same_failures(states: Sequence[IterationState], k: int) -> Trip | None:
    """Checks fail throughout, and for k iterations no failure was mended or new."""
    last = states[-k - 1 :]
    if len(last) <= k or not all(state.failures for state in last):
        return None
    if any(each.gain or each.found for each in balances(states)[-k:]):
        return None
    if _may_move(states, k, _by_check(last).values()):
        return None
    numbers = tuple(state.number for state in last)
    failing = [each for f in last[-1].failures for each in (f.ids or (f.check,))]
    what = (
        f"in iterations {_range(numbers)} nothing that fails was mended for the first time; "
        f"failures left: {sum(each.extent for each in last[-1].failures)}, {_some(failing)}"
    )
    return Trip(TripKind.SAME_FAILURES, what, numbers)


def _same_errors(states: Sequence[IterationState], k: int) -> Trip | None:
    """k iterations ended in the same errors, and gained nothing."""
    last = states[-k:]
    errors = {steady(state.errors) for state in last}
    if len(last) < k or len(errors) > 1 or not last[-1].errors or any(gains(states)[-k:]):
        return None
    numbers = tuple(state.number for state in last)
    what = f"iterations {_range(numbers)} ended in the same errors: {_some(last[-1].errors)}"
    return Trip(TripKind.SAME_ERRORS, what, numbers)


def _cosmetic(states: Sequence[IterationState], k: int) -> Trip | None:
    """k changes were comments, formatting, documents or nothing, and gained nothing."""
    last = states[-k:]
    changes = [state.change for state in last]
    if len(last) < k or any(change.substantive for change in changes) or any(gains(states)[-k:]):
        return None
    if not any(change.is_cosmetic for change in changes) or _are_the_task(states, k):
        return None
    lines = sum(change.cosmetic for change in changes)
    documents = sum(change.documentation for change in changes)
    numbers = tuple(state.number for state in last)
    what = (
        f"iterations {_range(numbers)} changed {lines} lines of comments and formatting and "
        f"{documents} of documents, and nothing that the code does"
    )
    return Trip(TripKind.COSMETIC, what, numbers)


_RULES: tuple[Callable[[Sequence[IterationState], int], Trip | None], ...] = (
    _shrinking,
    _returned,
    _same_errors,
    _same_failures,
    _cosmetic,
)


def _by_check(states: Sequence[IterationState]) -> dict[str, list[Failure]]:
    found: dict[str, list[Failure]] = {}
    for failure in (each for state in states for each in state.failures):
        found.setdefault(failure.check, []).append(failure)
    return found


def _may_move(
    states: Sequence[IterationState], k: int, checks: Iterable[Sequence[Failure]]
) -> bool:
    """Whether the code changes in a way that no failing check could show."""
    opaque = [failures for failures in checks if all(each.is_opaque for each in failures)]
    if any(all(failure.cut for failure in failures) for failures in opaque):
        return any(state.change.substantive for state in states[-k:])
    return _moves_on(states, k) and any(map(_cannot_tell, opaque))


def _cannot_tell(failures: Sequence[Failure]) -> bool:
    """Whether an opaque check does not even show the same output."""
    digests = {failure.digest for failure in failures}
    return len(digests) > 1 or "" in digests


def _are_the_task(states: Sequence[IterationState], k: int) -> bool:
    """Whether comments, formatting or documents are what the run is about, as far as shows."""
    last = states[-k:]
    checks = _by_check(last).values()
    if not all(each.is_opaque for failures in checks for each in failures):
        return False  # figures that did not move
    if any(len({each.digest for each in failures} - {""}) == k for failures in checks):
        return True
    wrote = any(state.change.documentation for state in last)
    return wrote and _only_writes(states) and _moves_on(states, k)


def _only_writes(states: Sequence[IterationState]) -> bool:
    """Whether the run never changed what code does."""
    return not any(state.change.substantive for state in states)


def _moves_on(states: Sequence[IterationState], k: int) -> bool:
    """Whether the last k iterations changed code in files that none before had touched; comments
    and documents, where the run only writes those."""
    only_writes = _only_writes(states)
    before = {path for state in states[:-k] for path in state.change.files}
    changes = [state.change for state in states[-k:]]
    files = {p for each in changes if only_writes or each.substantive for p in each.files}
    return bool(files - before)


def _and(parts: Sequence[str]) -> str:
    return " and ".join(parts)


def _range(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
