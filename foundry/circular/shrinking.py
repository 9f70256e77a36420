"""Whether an iteration shrank the tests: removed them, skipped them, took their assertions. Pure.

The rule: fewer test functions, fewer assertions, more skips (by the diff), or fewer tests run (by
the reports of the test runner). It is excused when more code than tests went away: tests of code
that is gone go with it.
"""

from foundry.circular.failures import extent
from foundry.circular.schema import ChangeSummary, IterationState


def shrank(state: IterationState, before: IterationState | None) -> tuple[str, ...]:
    """How an iteration shrank the tests, in words; empty when it did not, or is excused."""
    if _is_excused(state.change):
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


def _is_excused(change: ChangeSummary) -> bool:
    gone = -change.code_lines
    return gone > 0 and gone >= -change.test_lines and change.skips <= 0


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
    return sum(extent(failure) for failure in state.failures)
