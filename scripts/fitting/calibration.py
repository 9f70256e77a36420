"""The score that a person sees: how often a file with such a likelihood is right after all."""

import numpy as np

from foundry.context.retrieval.ranker import log_odds
from scripts.fitting.samples import Samples
from scripts.fitting.softmax import Floats, likelihoods

STEPS = 50


def odds(points: Floats, samples: Samples) -> Floats:
    """The log-odds of each candidate in its list."""
    likely = likelihoods(points, samples.starts, samples.sizes)
    return np.array([log_odds(each) for each in likely.tolist()])


def fit(log_odds_: Floats, samples: Samples) -> tuple[float, float]:
    """Slope and shift of the logistic regression of being right on the log-odds."""
    columns = np.column_stack([log_odds_, np.ones(len(log_odds_))])
    weights = np.array([1.0, 0.0])
    for _ in range(STEPS):
        chance = apply(log_odds_, weights[0], weights[1])
        gradient = columns.T @ (chance - samples.right)
        curvature = (columns * (chance * (1 - chance))[:, None]).T @ columns
        step = np.linalg.solve(curvature + 1e-9 * np.eye(2), gradient)
        weights = weights - step / max(1.0, np.abs(step).max())  # far off, Newton overshoots
        if np.abs(step).max() < 1e-9:
            break
    return float(weights[0]), float(weights[1])


def apply(log_odds_: Floats, slope: float, shift: float) -> Floats:
    """The calibrated probability."""
    return np.asarray(np.exp(-np.logaddexp(0, -shift - slope * log_odds_)))
