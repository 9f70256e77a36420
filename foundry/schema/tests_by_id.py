"""What the tests of one command came to, by id where the runner names them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from pydantic import Field

from foundry.schema.base import Value
from foundry.schema.command import TestCounts

Outcome = Literal["passed", "failed", "error", "skipped", "xfailed"]

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
FAILING = frozenset(("failed", "error"))
WORST_FIRST: tuple[Outcome, ...] = ("failed", "error", "passed", "xfailed", "skipped")
"""Which of two outcomes speaks for a test that ran twice at once."""
MUTED = frozenset(("skipped", "xfailed"))

MAX_TESTS = 100_000
"""Ids that a report keeps."""


class TestReport(Value):
    """What ran, and what became of it.

    `counts` is what the runner counted; with `ids_known` every one of them stands in `outcomes` by
    an id that is the same in every run and folder. Without, `outcomes` may still name failures.
    `deselected` counts tests that were collected and left out by an option. `incomplete` says why
    the report is not a whole one ("" when it is). `promised_found` says whether the JUnit file that
    was promised was there, new and readable.
    """

    runner: str
    outcomes: dict[str, Outcome] = Field(default_factory=dict)
    counts: TestCounts = TestCounts()
    ids_known: bool = False
    deselected: int = 0
    incomplete: str = ""
    promised_found: bool = False

    __test__ = False  # a value, not a pytest class

    @property
    def failing(self) -> tuple[str, ...]:
        """The ids that failed or errored, sorted."""
        return tuple(sorted(each for each, is_ in self.outcomes.items() if is_ in FAILING))

    @property
    def nothing_ran(self) -> bool:
        """Whether no test was run at all, skipped ones included."""
        return self.counts.ran == 0


def counted(outcomes: Iterable[Outcome]) -> TestCounts:
    """The counts of these outcomes."""
    each = Counter(outcomes)
    return TestCounts(
        total=each.total(),
        failed=each["failed"] + each["error"],
        skipped=each["skipped"] + each["xfailed"],
        errors=each["error"],
        xfailed=each["xfailed"],
    )


def by_id(runner: str, outcomes: Mapping[str, Outcome], **more: object) -> TestReport:
    """A report whose every test has an id; `more` are fields of the report."""
    return TestReport.model_validate(
        {
            "runner": runner,
            "outcomes": dict(outcomes),
            "counts": counted(outcomes.values()),
            "ids_known": True,
            **more,
        }
    )
