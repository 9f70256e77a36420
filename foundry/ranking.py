"""The two parts of Okapi BM25 that every ranked search here is made of.

Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009). What is added
up, and over which index, is each search's own: retrieval counts how often a term occurs in a file,
the memory only that it occurs, a pattern fits or does not.
"""

import math


def rarity(having: int, total: int) -> float:
    """The inverse document frequency of a term that `having` of `total` documents have."""
    return math.log1p((total - having + 0.5) / (having + 0.5))


def length_penalty(length: float, mean: float, *, k: float, b: float) -> float:
    """What is added to a term's count below the line, `times * (k + 1) / (times + penalty)`.

    `k` when a document is as long as the mean one; `b` in [0, 1] says how much length counts.
    """
    return k * (1 - b + b * length / mean)
