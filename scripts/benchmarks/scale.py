"""A build of 300 tasks in a process of its own: time and memory at the end as at the start."""

import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from foundry.schema.events import Event, StepEnded
from scripts.benchmarks.builds import WorkingBuild, run_build
from scripts.benchmarks.figure import Figure

TASKS = 300
WINDOW = 60
"""Tasks at each end that are compared, without the first ten."""


def measure() -> list[Figure]:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.benchmarks.scale"],
        check=True,
        capture_output=True,
        text=True,
    )
    data = json.loads(done.stdout)
    seconds, memory = data["seconds"], data["memory"]
    first, last = seconds[10 : 10 + WINDOW], seconds[-WINDOW:]
    early, late = statistics.median(first), statistics.median(last)
    detail = f"median {early * 1000:.0f} ms at first, {late * 1000:.0f} ms at the end, git included"
    growth = (memory[-1] - memory[10]) / (TASKS - 10)
    return [
        Figure(f"time per task, last {WINDOW} / first {WINDOW} of {TASKS}", late / early, "x",
               1.25, detail=detail),
        Figure("memory growth per task", growth * 1024, " KB",
               detail=f"{memory[10]:.0f} MB after 10 tasks, {memory[-1]:.0f} MB after {TASKS}"),
        Figure("peak memory of the harness (rehearsal server included)", data["peak"], " MB", 150),
    ]  # fmt: skip


def _child() -> None:
    seconds: list[float] = []
    memory: list[float] = []
    last = time.perf_counter()

    def observe(event: Event) -> None:
        nonlocal last
        if isinstance(event, StepEnded) and event.phase == "builder":
            now = time.perf_counter()
            seconds.append(now - last)
            memory.append(_resident())
            last = now

    built = run_build(WorkingBuild(tasks=TASKS, size="large"), observe=observe)
    assert built.summary.status == "verified", built.ended
    print(json.dumps({"seconds": seconds, "memory": memory, "peak": _peak()}))


def _peak() -> float:
    """Megabytes at the most. Not ru_maxrss: that begins with what the parent process had."""
    status = Path("/proc/self/status").read_text()
    line = next(each for each in status.splitlines() if each.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _resident() -> float:
    """Megabytes in use now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


if __name__ == "__main__":
    _child()
