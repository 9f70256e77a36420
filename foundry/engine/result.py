"""What a gate found, and what an accepted step leaves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from foundry.schema.command import CheckResult
from foundry.schema.events import Event
from foundry.schema.journal import StepRecord


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a gate found: problems go back to the model, the rest into the journal."""

    problems: tuple[str, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """The effect of a step, ready for the transaction. `subject` is a conventional commit line.

    `effect` runs between the gate and the commit: something outside the project that may safely
    happen twice.
    """

    subject: str
    summary: str
    patch: Mapping[str, Any] = field(default_factory=dict)
    artifacts: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    decisions: tuple[str, ...] = ()
    """What was settled and later steps have to know: goes into the session notes."""
    effect: Callable[[], None] | None = None
    told: Callable[[StepRecord], Event] | None = None
    """What to tell whoever watches once the step is committed, beside that it ended."""
