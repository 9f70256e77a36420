"""The files of a project that matter for a task: a linear model whose weights are data.

Each feature counts as a share of its best value among the candidates, so that weights hold in any
repository; by the root of that share, which tells a little from nothing; by the logarithm of its
value as it is, since the best of nothing much is not much; and by that again for every bit of the
query's length, since what decides for three words does not for a page. Any two features also count
together, by the root of the product of their shares: what both say is not the sum of what each
says.
`weights.json` is fitted by `scripts/fit-retrieval` on commits of other projects.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from foundry.context.retrieval.cache import current_index
from foundry.context.retrieval.features import collect, traits
from foundry.context.retrieval.files import Kind, read
from foundry.context.retrieval.index import Index, Scores
from foundry.context.retrieval.query import Query, parse


class Found(NamedTuple):
    """A file by its path from the project's root; `score` in [0, 1] is how likely it matters."""

    path: str
    score: float


def find(root: Path, text: str, limit: int = 10) -> tuple[Found, ...]:
    """The files that matter for what a text asks, best first; none when nothing speaks for any."""
    query = parse(text)
    if not query.terms:
        return ()
    index = current_index(root)
    order, features = collect(
        index, query, lambda path: read(root, path).decode("utf-8", "replace")
    )
    ranked = rank(index, query, order, features)
    return tuple(Found(index.paths[number], round(score, 3)) for number, score in ranked[:limit])


WEIGHTS = Path(__file__).with_name("weights.json")
CANDIDATES = 150
"""So many source files compete, and as many others after them."""
_SPOKEN = {
    Kind.TEST: "test",
    Kind.PROSE: "doc",
    Kind.AUXILIARY: "example",
    Kind.SETTINGS: "settings",
}
_UNASKED, _SPOKEN_OF = 0.3, 0.8
"""What the score of a file that is not source counts, and what when the text speaks of such."""
_NAMED = 3.0
"""Points of a file that is not source, but whose path the text writes out."""
_LEAST = 1e-9
"""Added to probabilities of which a logarithm is taken."""


def rank(
    index: Index, query: Query, order: Sequence[int], features: Mapping[str, Scores]
) -> list[tuple[int, float]]:
    """The candidates, best first, with the probability that each is one that matters."""
    model = json.loads(WEIGHTS.read_text())
    source = sources(index, order)
    others = [n for n in order if index.kinds[n] != Kind.SOURCE][:CANDIDATES]
    points = _points(index, query, model, source, [*source, *others], features)
    named = [n for n in others if features["written_path"].get(n)]
    chances = _chances(model, points, [*source, *named] or others)
    for number in others:
        chances[number] *= _standing(index, query, number, features)
    return sorted(chances.items(), key=lambda each: (-each[1], index.paths[each[0]]))


def sources(index: Index, order: Iterable[int]) -> list[int]:
    """The source files that compete, of all files in a rough order."""
    return [number for number in order if index.kinds[number] == Kind.SOURCE][:CANDIDATES]


def shares(values: Scores, source: Sequence[int], candidates: Sequence[int]) -> list[float]:
    """A feature of each candidate as a share of its best among the sources, or else among all."""
    top = max((values.get(number, 0.0) for number in source), default=0.0)
    top = top or max((values.get(number, 0.0) for number in candidates), default=0.0)
    if top <= 0:
        return [0.0] * len(candidates)
    return [min(1.0, values.get(number, 0.0) / top) for number in candidates]


def length(query: Query) -> float:
    """How much a query says, as the model counts it."""
    return math.log1p(len(query.terms))


def log_odds(share: float) -> float:
    """The logarithm of a probability's odds, finite for 0 and 1 too."""
    return math.log((share + _LEAST) / (1 - share + _LEAST))


def _points(
    index: Index,
    query: Query,
    model: Mapping[str, Any],
    source: Sequence[int],
    candidates: Sequence[int],
    features: Mapping[str, Scores],
) -> Scores:
    points = dict.fromkeys(candidates, 0.0)
    long = length(query)
    roots: dict[int, list[tuple[str, float]]] = {number: [] for number in candidates}
    for name, (plain, root, amount, longer) in model["features"].items():
        values = features[name]
        of_candidates = shares(values, source, candidates)
        for number, share in zip(candidates, of_candidates, strict=True):
            if share:
                roots[number].append((name, math.sqrt(share)))
                points[number] += plain * share + root * math.sqrt(share)
                points[number] += (amount + longer * long) * math.log1p(values[number])
    pairs = model["pairs"]
    for number, of in roots.items():
        for place, (name, share) in enumerate(of):
            with_later = pairs[name]
            points[number] += share * sum(with_later[b] * other for b, other in of[place + 1 :])
    for number in candidates:
        own = traits(index, number)
        points[number] += sum(weight * own[name] for name, weight in model["traits"].items())
        if index.kinds[number] != Kind.SOURCE:
            points[number] += _NAMED * features["written_path"].get(number, 0.0)
    return points


def _chances(model: Mapping[str, Any], points: Scores, leaders: Sequence[int]) -> Scores:
    """Points as probabilities: the softmax among the leaders, calibrated."""
    top = max((points[number] for number in leaders), default=0.0)
    whole = sum(math.exp(points[number] - top) for number in leaders) or 1.0
    slope, shift = model["calibration"]
    found = {}
    for number, score in points.items():
        share = min(1.0, math.exp(min(0.0, score - top)) / whole)
        found[number] = 1 / (1 + math.exp(-shift - slope * log_odds(share)))
    return found


def _standing(index: Index, query: Query, number: int, features: Mapping[str, Scores]) -> float:
    if features["written_path"].get(number):
        return 1.0
    about = _SPOKEN.get(Kind(index.kinds[number]))
    return _SPOKEN_OF if about in query.speaks_of else _UNASKED
