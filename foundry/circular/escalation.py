"""Several models: which one answers the next iteration, and why. Pure.

*Escalate* (models from the cheapest to the strongest): a model that gained nothing in `patience`
iterations in a row hands over to the next; the stronger one hands back when it gained something in
CALM iterations in a row, but never to a model that was stuck twice. *Rotate*: each in its turn.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from foundry.circular.metrics import gains
from foundry.circular.schema import IterationState

Mode = Literal["escalate", "rotate"]

CALM = 2
"""Iterations with gain after which a weaker model has its turn again."""

STUCK = 2
"""How often a model may be stuck and still be gone back to."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The model of the next iteration, and why."""

    model: str
    reason: str


def choose(
    models: Sequence[str],
    history: Sequence[IterationState],
    mode: Mode = "escalate",
    patience: int = 1,
) -> Choice:
    """The model of the next iteration; raises ValueError without any model."""
    if not models:
        raise ValueError("there is no model to choose from")
    if len(models) == 1:
        return Choice(models[0], "the only model")
    return (_rotated if mode == "rotate" else _escalated)(models, history, patience)


def _rotated(models: Sequence[str], history: Sequence[IterationState], _patience: int) -> Choice:
    known = [state.model for state in history if state.kind == "work" and state.model in models]
    if not known:
        return Choice(models[0], "the first in the rotation")
    place = (models.index(known[-1]) + 1) % len(models)
    return Choice(models[place], f"the next in the rotation after {known[-1]}")


def _escalated(models: Sequence[str], history: Sequence[IterationState], patience: int) -> Choice:
    place, reason = 0, "the first model, as nothing is stuck"
    idle = calm = 0
    stuck: Counter[int] = Counter()
    for state, gain in zip(history, gains(history), strict=True):
        if state.kind != "work" or state.model != models[place]:
            continue  # another model answered: it says nothing about this one
        idle, calm = (0, calm + 1) if gain else (idle + 1, 0)
        name = models[place]
        if idle >= patience and place + 1 < len(models):
            stuck[place] += 1
            place, idle, calm = place + 1, 0, 0
            reason = f"{name} gained nothing in {_iterations(patience)}"
        elif calm >= CALM and place and stuck[place - 1] < STUCK:
            place, idle, calm = place - 1, 0, 0
            reason = f"{name} gained something in {_iterations(CALM)}: back to the weaker model"
        elif idle >= patience:
            reason = f"{name} is stuck, and there is no stronger model"
    return Choice(models[place], reason)


def _iterations(count: int) -> str:
    return "an iteration" if count == 1 else f"{count} iterations in a row"
