"""What an accepted step leaves: its commit's words, variables, and artifacts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


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
    effect: Callable[[], None] | None = None
