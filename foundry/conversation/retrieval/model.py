"""From features to a ranking with scores: a linear model whose weights are data.

Each signal counts as a share of its best value among the candidates, so that weights hold in any
repository; it counts twice, as it is and by its square root, which tells a little from nothing.
`weights.json` was fitted (listwise softmax regression) on commits of other projects, and chosen by
leaving whole repositories out.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foundry.conversation.retrieval.features import of_file
from foundry.conversation.retrieval.index import Index
from foundry.conversation.retrieval.kinds import Kind
from foundry.conversation.retrieval.query import Query
from foundry.conversation.retrieval.signals import Scores

CANDIDATES = 150
"""So many source files compete."""
_SPOKEN = {Kind.TEST: "test", Kind.PROSE: "doc", Kind.ASIDE: "example", Kind.SETTINGS: "settings"}
_ASIDE = 0.3
"""What the score of a file that is not source counts, unless the text speaks of such files."""

_NAMED = 3.0
"""Points of a file that is not source, but whose path the text writes out."""


def rank(
    index: Index, query: Query, order: Sequence[int], features: Mapping[str, Scores]
) -> list[tuple[int, float]]:
    """The candidates, best first, with the probability that each is one that matters."""
    model = json.loads(Path(__file__).with_name("weights.json").read_text())
    source = [n for n in order if index.kinds[n] == Kind.SOURCE][:CANDIDATES]
    others = [n for n in order if index.kinds[n] != Kind.SOURCE][:CANDIDATES]
    points = _points(index, model, source, [*source, *others], features)
    named = [n for n in others if features["exact_path"].get(n)]
    chances = _chances(model, points, [*source, *named] or others)
    for number in others:
        chances[number] *= _standing(index, query, number, features)
    return sorted(chances.items(), key=lambda each: (-each[1], index.paths[each[0]]))


def _points(
    index: Index,
    model: Mapping[str, Any],
    source: Sequence[int],
    candidates: Sequence[int],
    features: Mapping[str, Scores],
) -> Scores:
    points = dict.fromkeys(candidates, 0.0)
    for name, (plain, root) in model["signals"].items():
        values = features[name]
        top = max((values.get(number, 0.0) for number in source), default=0.0)
        top = top or max((values.get(number, 0.0) for number in candidates), default=0.0)
        for number in candidates if top > 0 else ():
            share = min(1.0, values.get(number, 0.0) / top)
            points[number] += plain * share + root * math.sqrt(share)
    for number in candidates:
        traits = of_file(index, number)
        points[number] += sum(weight * traits[name] for name, weight in model["traits"].items())
        if index.kinds[number] != Kind.SOURCE:
            points[number] += _NAMED * features["exact_path"].get(number, 0.0)
    return points


def _chances(model: Mapping[str, Any], points: Scores, leaders: Sequence[int]) -> Scores:
    """Points as probabilities."""
    top = max((points[number] for number in leaders), default=0.0)
    whole = sum(math.exp(points[number] - top) for number in leaders) or 1.0
    slope, shift = model["calibration"]
    found = {}
    for number, score in points.items():
        share = min(1.0, math.exp(min(0.0, score - top)) / whole)
        odds = shift + slope * math.log((share + 1e-9) / (1 - share + 1e-9))
        found[number] = 1 / (1 + math.exp(-odds))
    return found


def _standing(index: Index, query: Query, number: int, features: Mapping[str, Scores]) -> float:
    if features["exact_path"].get(number):
        return 1.0
    about = _SPOKEN.get(Kind(index.kinds[number]))
    return 0.8 if about in query.speaks_of else _ASIDE
