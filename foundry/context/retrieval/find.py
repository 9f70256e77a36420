"""The files of a project that matter for a task."""

from pathlib import Path
from typing import NamedTuple

from foundry.context.retrieval.features import collect
from foundry.context.retrieval.files import read
from foundry.context.retrieval.query import parse
from foundry.context.retrieval.ranker import rank
from foundry.context.retrieval.upkeep import current_index


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
    order, signals = collect(index, query, lambda path: read(root, path).decode("utf-8", "replace"))
    ranked = rank(index, query, order, signals)
    return tuple(Found(index.paths[number], round(score, 3)) for number, score in ranked[:limit])
