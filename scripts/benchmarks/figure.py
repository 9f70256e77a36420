"""A measured figure beside its goal."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """`goal` is the most that `value` may be, or with `least` the least; None: only reported."""

    name: str
    value: float
    unit: str = ""
    goal: float | None = None
    least: bool = False
    detail: str = ""

    @property
    def met(self) -> bool:
        if self.goal is None:
            return True
        return self.value >= self.goal if self.least else self.value <= self.goal

    @property
    def verdict(self) -> str:
        return "" if self.goal is None else "met" if self.met else "MISSED"

    @property
    def shown(self) -> str:
        return (
            f"{self.value:.3g}{self.unit}" if self.value < 1000 else f"{self.value:,.0f}{self.unit}"
        )

    @property
    def goal_shown(self) -> str:
        if self.goal is None:
            return ""
        return f"{'≥' if self.least else '≤'} {self.goal:g}{self.unit}"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "met": self.met}
