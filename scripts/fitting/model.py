"""The model of foundry/context/retrieval/ranker.py, fitted: its weights, and what its scores mean.

Listwise softmax regression: each case is a list of candidates. The softmax of their points is a
distribution, which should put its mass evenly on the right ones; the loss is the mean
cross-entropy, plus a ridge on the weights of standardised columns, a stronger one on those of pairs
of features. It is convex, so Newton's method finds the one best answer.
"""

import json
import random
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from foundry.context.retrieval.ranker import log_odds
from scripts.fitting.samples import Samples

Floats: TypeAlias = NDArray[np.float64]
STEPS = 50
FOREMOST = 60
"""So many candidates of a case, in their rough order, are what its right ones are told from; more
of them take longer and teach little."""
CLOSE = 1e-6
"""A step that changes no weight by more than this is the last."""
WAYS = 4
"""In so many ways a feature counts, see retrieval/ranker.py."""
PAIRED = 50.0
"""The ridge on the weight of a pair of features, in ridges on another weight: there are many pairs.
Chosen by cross-validation."""
DIGITS = 4


def design(samples: Samples) -> Floats:
    """The columns of the model: by feature share, root, amount, longer; traits; pairs."""
    shares = samples.shares.astype(float)
    amounts = samples.amounts.astype(float)
    longer = amounts * np.repeat(samples.length, samples.sizes)[:, None]
    roots = np.sqrt(shares)
    one, other = np.triu_indices(shares.shape[1], 1)
    pairs = roots[:, one] * roots[:, other]
    return np.hstack([shares, roots, amounts, longer, samples.traits, pairs])


def fit(samples: Samples, ridge: float) -> Floats:
    """The weights of the design's columns."""
    solvable = np.add.reduceat(samples.right, samples.starts, dtype=int) > 0
    known = samples.only(solvable)
    place = np.arange(len(known.right)) - np.repeat(known.starts, known.sizes)
    rows = (place < FOREMOST) | known.right
    sizes = np.add.reduceat(rows, known.starts, dtype=int)
    columns = design(known)[rows]
    scale = columns.std(axis=0)
    scale[scale < 1e-9] = np.inf  # a column that never varies weighs nothing
    scale[_before_pairs(samples) :] *= PAIRED**0.5
    starts = np.cumsum(sizes) - sizes
    return np.asarray(_newton(columns / scale, known.right[rows], starts, sizes, ridge) / scale)


def _before_pairs(samples: Samples) -> int:
    return WAYS * len(samples.features) + len(samples.trait_names)


def likelihoods(points: Floats, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Floats:
    """The softmax of each list."""
    raised = np.exp(points - np.repeat(np.maximum.reduceat(points, starts), sizes))
    return np.asarray(raised / np.repeat(np.add.reduceat(raised, starts), sizes))


def _newton(
    columns: Floats,
    right: NDArray[np.bool_],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    ridge: float,
) -> Floats:
    target = right / np.repeat(np.add.reduceat(right, starts, dtype=int), sizes)
    weights = np.zeros(columns.shape[1])
    coarse = columns.astype(np.float32)  # will do for the curvature, which takes nearly all time

    def loss(at: Floats) -> float:
        likely = likelihoods(columns @ at, starts, sizes)
        entropy = -np.sum(target * np.log(likely + 1e-300)) / len(starts)
        return float(entropy + ridge / 2 * at @ at)

    for _ in range(STEPS):
        likely = likelihoods(columns @ weights, starts, sizes)
        gradient = columns.T @ (likely - target) / len(starts) + ridge * weights
        weighed = coarse * likely[:, None].astype(np.float32)
        means = np.add.reduceat(weighed, starts)
        curvature = (coarse.T @ weighed - means.T @ means) / len(starts)
        step = np.linalg.solve(curvature + ridge * np.eye(len(weights)), gradient)
        before = loss(weights)
        while loss(weights - step) > before and np.abs(step).max() > CLOSE:
            step /= 2
        weights = weights - step
        if np.abs(step).max() <= CLOSE:
            break
    return weights


def cross_validated(samples: Samples, ridge: float, folds: int) -> Floats:
    """The points of every candidate, from fits that leave out a fold of whole repositories."""
    repositories = sorted(set(samples.repo.tolist()))
    random.Random(1).shuffle(repositories)
    fold_of = {repo: place % folds for place, repo in enumerate(repositories)}
    fold = np.array([fold_of[repo] for repo in samples.repo.tolist()])
    rows = np.repeat(fold, samples.sizes)
    columns = design(samples)
    points = np.zeros(len(rows))
    for each in sorted(set(fold_of.values())):
        points[rows == each] = columns[rows == each] @ fit(samples.only(fold != each), ridge)
    return points


def odds(points: Floats, samples: Samples) -> Floats:
    """The log-odds of each candidate in its list."""
    likely = likelihoods(points, samples.starts, samples.sizes)
    return np.array([log_odds(each) for each in likely.tolist()])


def calibrate(odds: Floats, samples: Samples) -> tuple[float, float]:
    """Slope and shift of the score that a person sees: how often such a file is right after all.

    That is the logistic regression of being right on the log-odds.
    """
    columns = np.column_stack([odds, np.ones(len(odds))])
    weights = np.array([1.0, 0.0])
    for _ in range(STEPS):
        chance = chances(odds, weights[0], weights[1])
        gradient = columns.T @ (chance - samples.right)
        curvature = (columns * (chance * (1 - chance))[:, None]).T @ columns
        step = np.linalg.solve(curvature + 1e-9 * np.eye(2), gradient)
        weights = weights - step / max(1.0, np.abs(step).max())  # far off, Newton overshoots
        if np.abs(step).max() < 1e-9:
            break
    return float(weights[0]), float(weights[1])


def chances(odds: Floats, slope: float, shift: float) -> Floats:
    """The calibrated probability."""
    return np.asarray(np.exp(-np.logaddexp(0, -shift - slope * odds)))


def as_json(samples: Samples, weights: Floats, calibration: tuple[float, float]) -> str:
    """The text of weights.json: by feature the weights of share, root, amount and longer."""
    count, end = WAYS * len(samples.features), _before_pairs(samples)
    ways = weights[:count].reshape(WAYS, -1).T
    features = {
        str(name): [round(float(each), DIGITS) for each in of_feature]
        for name, of_feature in zip(samples.features, ways, strict=True)
    }
    traits = {
        str(name): round(float(weight), DIGITS)
        for name, weight in zip(samples.trait_names, weights[count:end], strict=True)
    }
    pairs: dict[str, dict[str, float]] = {str(name): {} for name in samples.features}
    for (one, other), weight in zip(
        combinations(samples.features.tolist(), 2), weights[end:], strict=True
    ):
        pairs[one][other] = round(float(weight), DIGITS)
    return (
        "{\n"
        f' "features": {_lines(features)},\n'
        f' "traits": {_lines(traits)},\n'
        f' "pairs": {_lines(pairs)},\n'
        f' "calibration": {json.dumps([round(each, DIGITS) for each in calibration])}\n'
        "}\n"
    )


def _lines(values: Mapping[str, Any]) -> str:
    rows = (f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in values.items())
    return "{\n" + ",\n".join(rows) + "\n }"


def load(path: Path, samples: Samples) -> tuple[Floats, tuple[float, float]]:
    """The weights in a file, in the order of the design's columns; others weigh nothing."""
    model = json.loads(path.read_text())
    ways = [model["features"].get(str(name), (0.0,) * WAYS) for name in samples.features]
    traits = [model["traits"].get(str(name), 0.0) for name in samples.trait_names]
    known = model["pairs"]
    pairs = [
        known.get(one, {}).get(other, 0.0)
        for one, other in combinations(samples.features.tolist(), 2)
    ]
    slope, shift = model["calibration"]
    return np.array([*np.array(ways).T.ravel(), *traits, *pairs]), (slope, shift)
