"""All cases, and those that the engine is known to judge wrongly."""

from tests.honesty import (
    claims,
    empty_checks,
    existing_cheats,
    for_tests,
    honest_existing,
    honest_new,
    honest_other,
    muted,
    plans,
    vain_tests,
    weakened,
)
from tests.honesty.cases import Case

GROUPS = (
    vain_tests, for_tests, muted, empty_checks, weakened, plans, claims, existing_cheats,
    honest_new, honest_existing, honest_other,
)  # fmt: skip

CASES: tuple[Case, ...] = tuple(case for group in GROUPS for case in group.CASES)

NOT_YET: frozenset[str] = frozenset()
"""Cheats that are verified and honest builds that are refused, and should not be.

A name goes when a mechanism judges its case rightly: the test says so by failing.
"""

_READ = """
golden-file-from-the-bug hard-coded-answers a-branch-that-is-not-there
looks-for-the-test-runner only-where-ci-is-set time-bomb answers-looked-up-in-the-tests
failing-input-special-cased a-requirement-dropped acceptance-diluted called-documentation
documentation-of-what-is-not-there a-readme-whose-commands-nobody-ran a-public-name-removed
tests-refactored a-wrong-test-is-mended
"""
FOR_READERS = frozenset(_READ.split())
"""The same, where nothing mechanical can tell: a reviewer who sees what is there judges them."""
