"""What a run has spent, call by call: it survives a kill, so that no restart resets a budget."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from foundry.files import append_line
from foundry.schema.journal import Thought
from foundry.schema.messages import Usage

TURN, REFLECTION = "turn", "reflection"
"""What a call is made for."""


@dataclass(frozen=True, slots=True)
class Spent:
    """A run's total. `usd` counts the calls with a known price, `unpriced` those without."""

    usage: Usage = field(default_factory=Usage)
    usd: float = 0.0
    calls: int = 0
    unpriced: int = 0
    reflection: Thought = field(default_factory=Thought)
    """The rounds of thinking among the calls."""

    def plus(self, usage: Usage, usd: float | None, purpose: str = TURN) -> "Spent":
        """The total with one more call."""
        thought = self.reflection
        return Spent(
            self.usage + usage,
            self.usd + (usd or 0.0),
            self.calls + 1,
            self.unpriced + (usd is None),
            thought.plus(usage, usd) if purpose == REFLECTION else thought,
        )


class Ledger:
    """A run's calls on disk, and their total."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.total = _read(path)

    def record(
        self, conversation: str, usage: Usage, usd: float | None, purpose: str = TURN
    ) -> None:
        """Note one call. Not synced: a power cut may lose the last calls, a kill loses none."""
        line = {"conversation": conversation, "purpose": purpose, "usd": usd, **usage.model_dump()}
        append_line(self._path, json.dumps(line), sync=False)
        self.total = self.total.plus(usage, usd, purpose)


def _read(path: Path) -> Spent:
    """The total so far; the torn line of a killed process counts nothing."""
    spent = Spent()
    if not path.exists():
        return spent
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            call = json.loads(line)
            usd = call.pop("usd")
            call.pop("conversation")
            purpose = call.pop("purpose", TURN)
            spent = spent.plus(Usage.model_validate(call), usd, purpose)
        except (ValueError, KeyError, AttributeError, TypeError, ValidationError):
            continue
    return spent
