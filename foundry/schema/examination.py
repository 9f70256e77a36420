"""What a look at the final commit in a clean clone found, beside the checks themselves."""

from typing import Literal

from foundry.schema.base import Value

Hollow = Literal["noticed", "unnoticed", "nothing", "not run"]
"""Whether the checks fail without the code that was made; `nothing`: there is no such code."""


class Tests(Value):
    """Tests by id, over all checks that tell them. `removed` ran before and are gone."""

    __test__ = False

    ran: int = 0
    skipped: int = 0
    removed: int = 0
    known: bool = False
    """Whether any check told its tests; the counts say nothing otherwise."""


class Examination(Value):
    """What a clean clone of a commit showed when all checks held there."""

    commit: str
    hollow: Hollow = "not run"
    unnoticed: tuple[str, ...] = ()
    """Functions or files whose work no check misses, where the checks hold without it."""
    unshown: tuple[str, ...] = ()
    """Commands of requirements that never failed: neither before the work nor without it."""
    deleted: int = 0
    """How many single changed statements were deleted, one at a time, as far as time allowed."""
    noticed: int = 0
    """How many of these deletions some check noticed."""
    survivors: tuple[str, ...] = ()
    """Statements that could be deleted without any check noticing: file, line, text."""
    tests: Tests = Tests()
    apart: bool = False
    """Whether the work tree was out of reach of the commands."""
