"""`foundry --help` beside the import of click, in turns, as whole processes."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

from scripts.benchmarks.figure import Figure

ROUNDS = 15


def measure() -> list[Figure]:
    foundry = str(Path(sys.executable).with_name("foundry"))
    ours, floor = [], []
    for _ in range(ROUNDS):
        floor.append(_seconds(sys.executable, "-c", "import click"))
        ours.append(_seconds(foundry, "--help"))
    ratios = [a / b for a, b in zip(ours[1:], floor[1:], strict=True)]
    detail = (
        f"median {statistics.median(ours) * 1000:.0f} ms against "
        f"{statistics.median(floor) * 1000:.0f} ms, {ROUNDS} rounds"
    )
    return [Figure("foundry --help / python -c 'import click'", statistics.median(ratios), "x",
                   2.5, detail=detail)]  # fmt: skip


def _seconds(*command: str) -> float:
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun
