"""Listwise softmax regression: weights under which the right files of a list are the likeliest.

Each case is a list of candidates. The softmax of their points is a distribution, which should put
its mass evenly on the right ones; the loss is the mean cross-entropy, plus a ridge on the weights
of standardised columns. It is convex, so Newton's method finds the one best answer.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scripts.fitting.samples import Samples

Floats: TypeAlias = NDArray[np.float64]
STEPS = 30
FOREMOST = 60
"""So many candidates of a case, in their rough order, are what its right ones are told from; more
of them take longer and teach little."""
CLOSE = 1e-6
"""A step that changes no weight by more than this is the last."""


def design(samples: Samples) -> Floats:
    """The columns of the model: of every signal share, root, longer, amount, and every trait."""
    shares = samples.shares.astype(float)
    longer = shares * np.repeat(samples.length, samples.sizes)[:, None]
    return np.hstack([shares, np.sqrt(shares), longer, samples.amounts, samples.traits])


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
    starts = np.cumsum(sizes) - sizes
    return np.asarray(_newton(columns / scale, known.right[rows], starts, sizes, ridge) / scale)


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

    def loss(at: Floats) -> float:
        likely = likelihoods(columns @ at, starts, sizes)
        entropy = -np.sum(target * np.log(likely + 1e-300)) / len(starts)
        return float(entropy + ridge / 2 * at @ at)

    for _ in range(STEPS):
        likely = likelihoods(columns @ weights, starts, sizes)
        gradient = columns.T @ (likely - target) / len(starts) + ridge * weights
        weighed = columns * likely[:, None]
        means = np.add.reduceat(weighed, starts)
        curvature = (columns.T @ weighed - means.T @ means) / len(starts)
        step = np.linalg.solve(curvature + ridge * np.eye(len(weights)), gradient)
        before = loss(weights)
        while loss(weights - step) > before and np.abs(step).max() > CLOSE:
            step /= 2
        weights = weights - step
        if np.abs(step).max() <= CLOSE:
            break
    return weights
