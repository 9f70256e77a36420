"""How good a ranking is, in the terms of the retrieval benchmark."""

from dataclasses import dataclass

import numpy as np

from scripts.fitting.model import Floats
from scripts.fitting.samples import Samples

HEAD = (
    f"{'':34} {'cases':>6} {'P@1':>6} {'hit@5':>6} {'hit@10':>6} {'R@10':>6} {'unnamed':>8}"
    f" {'sure':>6} {'right':>6}"
)
LEGEND = """unnamed: P@1 of the cases that name nothing; sure: the share of cases whose first file
scores at least {threshold}; right: P@1 of these."""


@dataclass(frozen=True)
class Scored:
    """The scores of one case."""

    first: bool
    hit5: bool
    hit10: bool
    recall10: float
    chance: float
    """The score of the first file."""


def scored(samples: Samples, points: Floats, chances: Floats) -> list[Scored]:
    """The scores of all cases; only files that may be answers take part."""
    found = []
    for start, size, gold in zip(samples.starts, samples.sizes, samples.gold, strict=True):
        rows = np.arange(start, start + size)
        rows = rows[samples.counted[start : start + size]]
        order = rows[np.argsort(-points[rows], kind="stable")]
        right = samples.right[order]
        chance = float(chances[order[0]]) if len(order) else 0.0
        found.append(
            Scored(
                bool(right[:1].any()),
                bool(right[:5].any()),
                bool(right[:10].any()),
                float(right[:10].sum() / gold),
                chance,
            )
        )
    return found


def line(name: str, samples: Samples, points: Floats, chances: Floats, threshold: float) -> str:
    """One row of the table."""
    cases = scored(samples, points, chances)
    unnamed = [case for case, silent in zip(cases, samples.unnamed, strict=True) if silent]
    sure = [case.chance >= threshold for case in cases]
    answered = [case.first for case in cases if case.chance >= threshold]
    return (
        f"{name:34} {len(cases):6} {_percent([c.first for c in cases]):>6}"
        f" {_percent([c.hit5 for c in cases]):>6} {_percent([c.hit10 for c in cases]):>6}"
        f" {_percent([c.recall10 for c in cases]):>6} {_percent([c.first for c in unnamed]):>8}"
        f" {_percent(sure):>6} {_percent(answered):>6}"
    )


def _percent(values: list[bool] | list[float]) -> str:
    return f"{100 * sum(values) / len(values):.1f}" if values else "-"
