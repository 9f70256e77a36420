"""`foundry context find` on commits of other projects, scored by the dataset's own evaluator.

Two folders are needed, named by environment variables:

- `RETRIEVAL_BENCH`: the dataset: `evaluate.py` and one or more `*.jsonl` of cases.
- `RETRIEVAL_REPOSITORIES`: the repositories of the cases, one folder OWNER+NAME each, with their
  history (`git clone --no-checkout`).

Of a case only the commit message is known; right is a source file that the commit changed.
"""

import argparse
import importlib.util
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from scripts.benchmarks.figure import Figure

SURE = 0.7
"""The threshold of abstention: what about half of the cases pass that the weights are fitted on.
Fixed before the repositories that are kept aside were seen."""
GOALS = {"P1": 70.0, "hit5": 90.0, "hit10": 95.0, "R10": 90.0}
NAMES = {"P1": "P@1", "hit5": "hit@5", "hit10": "hit@10", "R10": "R@10"}
WARM, COLD = 0.3, 1.5


def measure() -> list[Figure]:
    found = _folders()
    if isinstance(found, str):
        print(f"retrieval: not measured: {found}", file=sys.stderr)
        return []
    data, repositories = found
    evaluator = _load(data / "evaluate.py")
    figures = []
    for cases in sorted(data.glob("*.jsonl")):
        figures += _figures(evaluator, cases.stem, _results(data, cases, repositories, evaluator))
    return figures


def _folders() -> tuple[Path, Path] | str:
    """The dataset and the repositories, or what is missing."""
    folders = []
    for name, wanted in (("RETRIEVAL_BENCH", "evaluate.py"), ("RETRIEVAL_REPOSITORIES", "*+*")):
        value = os.environ.get(name, "")
        if not value:
            return f"set {name} (see scripts/benchmarks/retrieval.py)"
        if not any(Path(value).glob(wanted)):
            return f"{name} is {value}, where there is no {wanted}"
        folders.append(Path(value).resolve())
    if not any(folders[0].glob("*.jsonl")):
        return f"there is no *.jsonl of cases in {folders[0]}"
    return folders[0], folders[1]


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("retrieval_evaluator", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _results(data: Path, cases: Path, repositories: Path, evaluator: ModuleType) -> list[Any]:
    find = f"{shlex.quote(sys.executable)} -m foundry context find --limit 50"
    here = Path(__file__).parents[2]
    with tempfile.TemporaryDirectory(prefix="foundry-retrieval-") as work:
        out = Path(work) / "results.jsonl"
        subprocess.run(
            [sys.executable, str(data / "evaluate.py"), "--data", str(cases), "--jobs", "1",
             "--anchors", str(repositories), "--work", work, "--cmd", find, "--out", str(out)],
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(here)},
        )  # fmt: skip
        results: list[Any] = evaluator.load(out)
    missing = sorted({each["repo"] for each in results if each["cold"] is None})
    if missing:
        print(f"retrieval: not in {repositories}: {', '.join(missing)}", file=sys.stderr)
    return [each for each in results if each["cold"] is not None]


def _figures(evaluator: ModuleType, name: str, results: list[Any]) -> list[Figure]:
    if not results:
        return []
    options = argparse.Namespace(scope="source", threshold=0.0, cap=5)
    scores = [evaluator.score_case(each, options) for each in results]
    mean = evaluator.summarise(scores)
    count = f"{len(results)} commits of {len({each['repo'] for each in results})} repositories"
    figures = [
        Figure(f"{label}, {name}", 100 * mean[key], "%", GOALS[key], least=True, detail=count)
        for key, label in NAMES.items()
    ]
    silent = [s for s, r in zip(scores, results, strict=True) if not _names_anything(r)]
    if silent:
        right = 100 * sum(each["P1"] for each in silent) / len(silent)
        figures.append(Figure(f"P@1 of those that name nothing, {name}", right, "%", 50.0,
                              least=True, detail=f"{len(silent)} commits"))  # fmt: skip
    sure = [s for s, r in zip(scores, results, strict=True) if _best(r) >= SURE]
    if sure:
        right = 100 * sum(each["P1"] for each in sure) / len(sure)
        figures.append(Figure(f"first file right where the score is ≥ {SURE}, {name}", right, "%",
                              85.0, least=True))  # fmt: skip
    share = 100 * len(sure) / len(results)
    figures.append(Figure(f"... which is of all, {name}", share, "%", 50.0, least=True))
    for when, goal in (("warm", WARM), ("cold", COLD)):
        seconds = evaluator.pct([each[when] for each in results], 0.95)
        figures.append(Figure(f"{when}, p95, {name}", seconds, " s", goal))
    return figures


def _names_anything(result: Any) -> bool:
    return any(result.get(key) for key in ("names_path", "names_symbol", "names_stem"))


def _best(result: Any) -> float:
    return float(result["ranked"][0][1] or 0) if result["ranked"] else 0.0
