"""What every feature says of every candidate of every case: computed once, kept till it changes."""

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import foundry
from foundry.context.retrieval.features import collect, traits
from foundry.context.retrieval.query import parse
from foundry.context.retrieval.ranker import length, shares, sources
from scripts.fitting.cases import Case, is_answer
from scripts.fitting.snapshot import Blobs, Snapshot, Snapshots

_HERE, _PACKAGE = Path(__file__).parent, Path(foundry.__file__).parent
CODE = (
    *sorted((_PACKAGE / "context/retrieval").glob("*.py")),
    *(_PACKAGE / "ranking.py", _PACKAGE / "tokenize.py", _PACKAGE / "store/git/read.py"),
    *(_HERE / "samples.py", _HERE / "snapshot.py"),
)
"""What the features come from."""


@dataclass(frozen=True)
class Samples:
    """Candidates as rows, those of one case together and in their rough order.

    By row: `shares`, `amounts` and `traits`, a column for each of `features` (the share of its best
    value, and the logarithm of the value, see retrieval/ranker.py) and of `trait_names`; `right`;
    `counted`, whether the evaluation looks at the file at all. By case: `sizes` in rows, `length`
    of the query, `gold`, the number of right files whether they are candidates or not, `repo`,
    `origin`, and `unnamed`.
    """

    features: NDArray[np.str_]
    trait_names: NDArray[np.str_]
    shares: NDArray[np.float32]
    amounts: NDArray[np.float32]
    traits: NDArray[np.float32]
    right: NDArray[np.bool_]
    counted: NDArray[np.bool_]
    sizes: NDArray[np.int64]
    length: NDArray[np.float64]
    gold: NDArray[np.int64]
    repo: NDArray[np.str_]
    origin: NDArray[np.str_]
    unnamed: NDArray[np.bool_]

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first row of each case."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    def only(self, cases: NDArray[np.bool_]) -> "Samples":
        """Some of the cases."""
        rows = np.repeat(cases, self.sizes)
        by_row = ("shares", "amounts", "traits", "right", "counted")
        by_case = ("sizes", "length", "gold", "repo", "origin", "unnamed")
        of_rows = {name: getattr(self, name)[rows] for name in by_row}
        of_cases = {name: getattr(self, name)[cases] for name in by_case}
        return Samples(self.features, self.trait_names, **of_rows, **of_cases)

    def without(self, feature: str) -> "Samples":
        """The same without one feature."""
        others = self.features != feature
        return replace(self, features=self.features[others], shares=self.shares[:, others],
                       amounts=self.amounts[:, others])  # fmt: skip


def joined(parts: Sequence[Samples]) -> Samples:
    """The cases of all parts."""
    names = [field.name for field in fields(Samples)][2:]
    together = {name: np.concatenate([getattr(p, name) for p in parts]) for name in names}
    return Samples(parts[0].features, parts[0].trait_names, **together)


def samples(repository: Path, cases: Sequence[Case], kept: Path) -> Samples:
    """The samples of one repository's cases, from the folder of kept ones if they still hold."""
    file = kept / repository.name / f"{_digest(cases)}.npz"
    if not file.exists():
        made = _computed(repository, cases)
        file.parent.mkdir(parents=True, exist_ok=True)
        for outdated in file.parent.glob("*.npz"):
            outdated.unlink()
        new = file.with_suffix(".new")
        with new.open("wb") as out:
            np.savez_compressed(out, **{f.name: getattr(made, f.name) for f in fields(Samples)})
        new.replace(file)
    with np.load(file) as stored:
        return Samples(**{field.name: stored[field.name] for field in fields(Samples)})


def _digest(cases: Sequence[Case]) -> str:
    """Names what the samples depend on: the cases, and the code that computes the features."""
    digest = hashlib.blake2b(repr([asdict(case) for case in cases]).encode(), digest_size=12)
    for file in CODE:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _computed(repository: Path, cases: Sequence[Case]) -> Samples:
    with tempfile.TemporaryDirectory(prefix="foundry-fit-") as scratch:
        snapshots = Snapshots(repository, Path(scratch))
        with Blobs(repository) as blobs:
            parts = [_of_case(case, snapshots.at(case.parent, blobs)) for case in cases]
    return joined(parts)


def _of_case(case: Case, snapshot: Snapshot) -> Samples:
    index, query = snapshot.index, parse(case.query)
    order, found = collect(index, query, snapshot.read)
    source = sources(index, order)
    paths = [index.paths[number] for number in source]
    own = [traits(index, number) for number in source]
    names = list(traits(index, 0))
    return Samples(
        np.array(list(found)),
        np.array(names),
        _table([shares(found[feature], source, source) for feature in found], source),
        np.log1p(_table([[of.get(n, 0.0) for n in source] for of in found.values()], source)),
        _table([[each[name] for each in own] for name in names], source),
        np.array([path in case.gold for path in paths], bool),
        np.array([is_answer(path) for path in paths], bool),
        np.array([len(source)]),
        np.array([length(query)]),
        np.array([len(case.gold)]),
        np.array([case.repo]),
        np.array([case.origin]),
        np.array([case.names_nothing]),
    )


def _table(columns: list[list[float]], rows: Sequence[int]) -> NDArray[np.float32]:
    return np.array(columns, np.float32).T.reshape(len(rows), len(columns))
