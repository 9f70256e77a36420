"""What stands behind a verdict: what the checks noticed when the code was taken away."""

from typing import Literal

from foundry.schema.base import Value

HollowMode = Literal["raises", "returns", "emptied"]
"""What became of the code: its functions raise, or return nothing, or its files are empty."""

HollowState = Literal["noticed", "unnoticed", "nothing"]
"""`nothing`: there was nothing to take away, as in a build of documents. No accusation."""

SHOWN_NAMES = 20
"""Names or survivors that a result keeps; it counts them all."""


class HollowRun(Value):
    """One run of the checks over code that does nothing.

    `noticed_by`: the checks that no longer held. `names`: what was hollowed, `path:function` or a
    path, the first SHOWN_NAMES of `count`.
    """

    mode: HollowMode
    noticed_by: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    count: int = 0


class HollowResult(Value):
    """Whether the checks can fail. `unnoticed`: in at least one of the runs all of them held."""

    state: HollowState
    runs: tuple[HollowRun, ...] = ()

    @property
    def noticed(self) -> tuple[HollowMode, ...]:
        """The ways of hollowing that at least one check noticed."""
        return tuple(run.mode for run in self.runs if run.noticed_by)

    @property
    def unnoticed(self) -> tuple[HollowRun, ...]:
        """The runs that every check passed: their names are what nobody notices."""
        return tuple(run for run in self.runs if not run.noticed_by)


class Survivor(Value):
    """A statement that no check misses. `line` counts from 1 in the final version."""

    path: str
    line: int
    statement: str


class DeletionResult(Value):
    """What came of deleting single statements: of `candidates` as many as there was time for.

    `survivors`: the first SHOWN_NAMES of those tried that nobody noticed. It informs; it is no
    verdict, since a statement that logs or caches is rightly missed by nobody.
    """

    candidates: int = 0
    tried: int = 0
    noticed: int = 0
    survivors: tuple[Survivor, ...] = ()

    @property
    def share(self) -> float | None:
        """The share of the tried deletions that was noticed, or None where none was tried."""
        return self.noticed / self.tried if self.tried else None
