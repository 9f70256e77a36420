"""Every case ranked by weights that never saw its repository."""

import random

import numpy as np

from scripts.fitting.samples import Samples
from scripts.fitting.softmax import Floats, design, fit


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
