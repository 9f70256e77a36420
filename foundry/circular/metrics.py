"""What iterations achieved, measured by the harness, and what that cost (seed 000, metrics). Pure.

*Gain* is the currency of every policy: the issues that an iteration resolved for the first time in
the run. Breaking something and mending it again is no gain, and neither is a failure that went
away with its test. Only where no check ever tells anything is a model's own word counted, and then
only in an iteration that changed what the code does.

An iteration *shrank* the tests with fewer test functions, fewer assertions, more skips (by the
diff), or fewer tests run (by the reports of the test runner). It is excused when more code than
tests went away: tests of code that is gone go with it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from foundry.circular.schema import ChangeSummary, Issue, IterationState, IterationStatus
from foundry.schema.base import Value

PER_TOKENS = 1_000_000
"""Tokens that progress is told per."""

NEARLY = 0.99
"""The most that progress may be before an end is verified."""


@dataclass(frozen=True, slots=True)
class Balance:
    """What one iteration did to the known issues, each counted the first time only."""

    gain: int
    """Resolved."""
    found: int = 0
    """Discovered."""


class IterationMetrics(Value):
    """The seed's `per_iteration`."""

    number: int
    kind: str
    context_window_usage: float
    """Of the window, at its fullest."""
    tokens_consumed: int
    files_modified: int
    issues_resolved: int
    issues_discovered: int
    gain: int
    execution_duration: float
    """Seconds."""
    reason: str
    model: str


class OverallMetrics(Value):
    """The seed's `overall`."""

    total_iterations: int
    total_tokens_consumed: int
    total_execution_time: float
    """Seconds."""
    completion_rate: float
    """The share of the known issues that is resolved, from 0 to 1."""
    error_rate: float
    """The share of the iterations that ended with an error, from 0 to 1."""
    progress_per_token: float
    """Gain per million tokens."""
    total_cost_usd: float | None
    """None when the price of any iteration is unknown."""


class CircularMetrics(Value):
    """The figures of a whole run."""

    status: IterationStatus
    per_iteration: tuple[IterationMetrics, ...]
    overall: OverallMetrics


def work(history: Sequence[IterationState]) -> tuple[IterationState, ...]:
    """The iterations that worked on the task; those that only doubted an end are left out."""
    return tuple(state for state in history if state.kind == "work")


def counted(issues: Sequence[Issue]) -> int:
    """How many issues these are: what a check measured is not counted again by a model's word."""
    measured = [issue.count for issue in issues if issue.kind != "reported"]
    return sum(measured) if measured else len(issues)


def gains(history: Sequence[IterationState]) -> tuple[int, ...]:
    """The gain of every iteration, in the order of the history."""
    return tuple(each.gain for each in balances(history))


def balances(history: Sequence[IterationState]) -> tuple[Balance, ...]:
    """What every iteration gained and found, in the order of the history."""
    return (_measured if is_measured(history) else _claimed)(history)


def is_measured(history: Sequence[IterationState]) -> bool:
    """Whether any check ever told of an issue, so that gains need no one's word."""
    return any(
        state.failures
        or _of(state.issues_resolved, "test", "check")
        or _of(state.issues_discovered, "test", "check")
        for state in history
    )


def progress_per_token(history: Sequence[IterationState]) -> float:
    """Gain per million tokens; 0 where nothing was spent."""
    tokens = sum(state.tokens for state in history)
    return sum(gains(history)) * PER_TOKENS / tokens if tokens else 0.0


def completion(history: Sequence[IterationState]) -> float:
    """The share of the known issues that is resolved; 0 while none is known."""
    resolved, left = _resolved(history), _open(history)
    return resolved / (resolved + left) if resolved + left else 0.0


def overall_progress(history: Sequence[IterationState], *, complete: bool = False) -> float:
    """The share of the known issues that is resolved; 1 only where the end is verified."""
    return 1.0 if complete else round(min(completion(history), NEARLY), 4)


def final_metrics(history: Sequence[IterationState], *, complete: bool) -> CircularMetrics:
    """The seed's metrics of a run; no run is a success that is not `complete`."""
    last = work(history)[-1].status if work(history) else IterationStatus.UNKNOWN
    if complete:
        last = IterationStatus.SUCCESS
    elif last is IterationStatus.SUCCESS:
        last = IterationStatus.UNKNOWN
    rows = tuple(_row(state, gain) for state, gain in zip(history, gains(history), strict=True))
    costs = [state.cost_usd for state in history]
    known = [cost for cost in costs if cost is not None]
    failed = sum(1 for state in history if state.reason == "error" or state.errors)
    overall = OverallMetrics(
        total_iterations=len(history),
        total_tokens_consumed=sum(state.tokens for state in history),
        total_execution_time=sum(state.seconds for state in history),
        completion_rate=1.0 if complete else round(completion(history), 4),
        error_rate=round(failed / len(history), 4) if history else 0.0,
        progress_per_token=round(progress_per_token(history), 3),
        total_cost_usd=sum(known) if len(known) == len(costs) else None,
    )
    return CircularMetrics(status=last, per_iteration=rows, overall=overall)


def _row(state: IterationState, gain: int) -> IterationMetrics:
    return IterationMetrics(
        number=state.number,
        kind=state.kind,
        context_window_usage=round(state.peak_context, 4),
        tokens_consumed=state.tokens,
        files_modified=len(state.files_modified),
        issues_resolved=counted(state.issues_resolved),
        issues_discovered=counted(state.issues_discovered),
        gain=gain,
        execution_duration=round(state.seconds, 3),
        reason=state.reason,
        model=state.model,
    )


def _measured(history: Sequence[IterationState]) -> tuple[Balance, ...]:
    fixed: set[str] = set()
    found: set[str] = set()
    levels: dict[str, _Level] = {}
    result = []
    before: IterationState | None = None
    for state in history:
        tests = {each.id for each in _of(state.issues_resolved, "test")} - fixed
        new = {each.id for each in _of(state.issues_discovered, "test")} - found
        steps = [levels.setdefault(name, _Level()).move(by) for name, by in _net(state).items()]
        gain = len(tests) + sum(max(0, -step) for step in steps)
        more = len(new) + sum(max(0, step) for step in steps)
        hidden = state.kind == "doubt" or hides_failures(state, before)
        result.append(Balance(0 if hidden else gain, more))
        fixed |= tests
        found |= new
        before = state if state.kind == "work" else before
    return tuple(result)


@dataclass(slots=True)
class _Level:
    """The level of a check that only counts, against the beginning: now, lowest and highest."""

    level: int = 0
    low: int = 0
    high: int = 0

    def move(self, by: int) -> int:
        """How far it went below its low or (positive) above its high: the rest was there before.

        A new high begins a new low: what was found then can be gained.
        """
        self.level += by
        if self.level > self.high:
            step = self.level - self.high
            self.high = self.low = self.level
        else:
            step = min(0, self.level - self.low)
            self.low += step
        return step


def _net(state: IterationState) -> Counter[str]:
    """How much more each check that only counts found."""
    net: Counter[str] = Counter()
    net.update({each.id: each.count for each in _of(state.issues_discovered, "check")})
    net.subtract({each.id: each.count for each in _of(state.issues_resolved, "check")})
    return net


def _claimed(history: Sequence[IterationState]) -> tuple[Balance, ...]:
    known: set[str] = set()
    trees: set[str] = set()
    result = []
    for state in history:
        claims = {issue.id for issue in state.issues_resolved} - known
        counts = state.kind == "work" and state.change.substantive and state.tree not in trees
        result.append(Balance(len(claims) if counts else 0))
        known |= claims
        trees.add(state.tree)
    return tuple(result)


def _of(issues: Sequence[Issue], *kinds: str) -> list[Issue]:
    return [issue for issue in issues if issue.kind in kinds]


def _resolved(history: Sequence[IterationState]) -> int:
    """Distinct issues that were resolved and did not come back."""
    if not is_measured(history):
        return len({issue.id for state in history for issue in state.issues_resolved})
    failing = {name for failure in history[-1].failures for name in failure.ids}
    tests = {each.id for state in history for each in _of(state.issues_resolved, "test")}
    total: Counter[str] = Counter()
    for state in history:
        total.update(_net(state))
    return len(tests - failing) - sum(min(0, each) for each in total.values())


def _open(history: Sequence[IterationState]) -> int:
    if not history:
        return 0
    if is_measured(history):
        return sum(failure.extent for failure in history[-1].failures)
    said = {issue.id for issue in history[-1].issues_discovered}
    done = {issue.id for state in history for issue in state.issues_resolved}
    return len(said - done)


# -- tests that shrink -----------------------------------------------------------------------------


def shrank(state: IterationState, before: IterationState | None) -> tuple[str, ...]:
    """How an iteration shrank the tests, in words; empty when it did not, or is excused."""
    gone = -state.change.code_lines
    if gone > 0 and gone >= -state.change.test_lines and state.change.skips <= 0:
        return ()
    return (*_by_diff(state.change), *_by_count(state, before))


def hides_failures(state: IterationState, before: IterationState | None) -> tuple[str, ...]:
    """The same, when failures went away with it: then what is green shows nothing."""
    then = None if before is None else _failing(before)
    went = bool(state.issues_resolved) if then is None else _failing(state) < then
    return shrank(state, before) if went else ()


def grew(state: IterationState) -> bool:
    """Whether an iteration added tests and took none away."""
    change = state.change
    return change.test_functions > 0 and change.assertions >= 0 and change.skips <= 0


def _by_diff(change: ChangeSummary) -> tuple[str, ...]:
    found = []
    if change.test_functions < 0:
        found.append(f"{-change.test_functions} test functions fewer")
    if change.assertions < 0:
        found.append(f"{-change.assertions} assertions fewer")
    if change.skips > 0:
        found.append(f"{change.skips} tests more that are skipped or may fail")
    return tuple(found)


def _by_count(state: IterationState, before: IterationState | None) -> tuple[str, ...]:
    """By the reports, where both iterations ran the same checks to their end."""
    if before is None or not _comparable(state, before):
        return ()
    now, then = state.tests, before.tests
    if now is None or then is None:
        return ()
    fewer = (then.total - then.skipped) - (now.total - now.skipped)
    return (f"{fewer} tests fewer were run",) if fewer > 0 else ()


def _comparable(state: IterationState, before: IterationState) -> bool:
    """A runner that crashed, or was not run, counts fewer tests and shrank none."""
    counting = [{c.name for c in s.checks if c.tests and c.tests.total} for s in (state, before)]
    return counting[0] == counting[1]


def _failing(state: IterationState) -> int:
    return sum(failure.extent for failure in state.failures)
