"""Fit the weights of retrieval on the histories of repositories; see the package for how."""

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from foundry.context.retrieval.cache import folder
from foundry.context.retrieval.ranker import WEIGHTS
from scripts.benchmarks.retrieval import SURE
from scripts.fitting import model, table
from scripts.fitting.cases import Case, load, make, save
from scripts.fitting.samples import Samples, joined, samples


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/fit-retrieval", description=__doc__)
    parser.add_argument("repositories", type=Path, help="a folder of git repositories")
    parser.add_argument(
        "--cases",
        type=Path,
        action="append",
        default=[],
        metavar="FILE.jsonl",
        help="cases that are there already; none are made of their repositories",
    )
    parser.add_argument(
        "--per-repository",
        type=int,
        default=200,
        metavar="N",
        help="cases to make of each other repository (default: 200)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=WEIGHTS,
        metavar="WEIGHTS.json",
        help="where the weights go (default: into the package)",
    )
    parser.add_argument(
        "--work",
        type=Path,
        default=folder().with_name("fitting"),
        metavar="FOLDER",
        help="where cases and features are kept between runs",
    )
    parser.add_argument(
        "--ridge",
        type=float,
        default=0.01,
        help="how strongly weights are held near zero (default: 0.01)",
    )
    parser.add_argument(
        "--folds",
        type=int,
        default=10,
        help="parts that the repositories are split into (default: 10)",
    )
    parser.add_argument(
        "--threshold",
        type=float,
        default=SURE,
        help=f"the score from which the first file is sure (default: {SURE})",
    )
    parser.add_argument(
        "--ablate",
        action="store_true",
        help="also cross-validate without each of the features, which takes hours",
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    return parser.parse_args()  # fmt: skip


def main() -> int:
    options = _options()
    options.work.mkdir(parents=True, exist_ok=True)
    found = _repositories(options.repositories)
    with ProcessPoolExecutor(options.jobs) as pool:
        cases = _cases(options, found, pool)
        by_repository: dict[str, list[Case]] = {}
        for case in cases:
            by_repository.setdefault(case.repo, []).append(case)
        if len(by_repository) < 2:
            print("error: cases of two repositories are the least, to leave one out; there are"
                  f" {len(by_repository)}", file=sys.stderr)  # fmt: skip
            return 1
        jobs = {
            name: pool.submit(samples, found[name], each, options.work / "samples")
            for name, each in sorted(by_repository.items())
        }
        parts = []
        for name, job in jobs.items():
            parts.append(job.result())
            print(f"{name}: {len(parts[-1].sizes)} cases", file=sys.stderr, flush=True)
    _fit(joined(parts), options)
    return 0


def _repositories(folder: Path) -> dict[str, Path]:
    return {
        each.name: each
        for each in sorted(folder.iterdir())
        if (each / ".git").exists() or (each / "objects").is_dir()
    }


def _cases(
    options: argparse.Namespace, found: dict[str, Path], pool: ProcessPoolExecutor
) -> list[Case]:
    """The cases that were given, and those made of the repositories that they don't speak of."""
    given = [case for file in options.cases for case in load(file)]
    spoken_of = {case.repo for case in given}
    if missing := sorted(spoken_of - set(found)):
        print(f"not in {options.repositories}: {', '.join(missing)}", file=sys.stderr)
    others = [path for name, path in found.items() if name not in spoken_of]
    count = options.per_repository
    made = [case for part in pool.map(make, others, [count] * len(others)) for case in part]
    save(options.work / "made.jsonl", made)
    return [case for case in given if case.repo in found] + made


def _fit(whole: Samples, options: argparse.Namespace) -> None:
    whole = whole.only(whole.sizes > 0)
    points = model.cross_validated(whole, options.ridge, options.folds)
    odds = model.odds(points, whole)
    calibration = model.calibrate(odds, whole)
    chances = model.chances(odds, *calibration)
    present, its_calibration = model.load(WEIGHTS, whole)
    old = model.design(whole) @ present
    old_chances = model.chances(model.odds(old, whole), *its_calibration)

    def show(name: str, of: Samples, points: model.Floats, chances: model.Floats) -> None:
        print(table.line(name, of, points, chances, options.threshold), flush=True)

    print(table.HEAD)
    show("present weights (may know them)", whole, old, old_chances)
    show("cross-validated", whole, points, chances)
    for origin in _origins(whole):
        own = whole.origin == origin
        rows = np.repeat(own, whole.sizes)
        show(f"cross-validated, {origin}", whole.only(own), points[rows], chances[rows])
    for name in whole.features.tolist() if options.ablate else ():
        less = whole.without(name)
        points = model.cross_validated(less, options.ridge, options.folds)
        odds = model.odds(points, less)
        show(f"without {name}", less, points, model.chances(odds, *model.calibrate(odds, less)))
    print(table.LEGEND.format(threshold=options.threshold))
    text = model.as_json(whole, model.fit(whole, options.ridge), calibration)
    options.out.write_text(text, encoding="utf-8")
    print(f"weights: {options.out}", file=sys.stderr)


def _origins(whole: Samples) -> Sequence[str]:
    origins = sorted(set(whole.origin.tolist()))
    return origins if len(origins) > 1 else []


if __name__ == "__main__":
    sys.exit(main())
