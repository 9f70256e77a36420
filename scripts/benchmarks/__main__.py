"""Run benchmarks by name, print a table, write bench-results.json."""

import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from scripts.benchmarks import (
    cache,
    circular,
    compaction,
    context,
    honesty,
    mcp,
    memory,
    overhead,
    retrieval,
    scale,
    startup,
    tokens,
    workflow,
)
from scripts.benchmarks.figure import Figure

BENCHMARKS: dict[str, Callable[[], list[Figure]]] = {
    "startup": startup.measure,
    "workflow": workflow.measure,
    "mcp": mcp.measure,
    "overhead": overhead.measure,
    "tokens": tokens.measure,
    "cache": cache.measure,
    "context": context.measure,
    "compaction": compaction.measure,
    "circular": circular.measure,
    "scale": scale.measure,
    "retrieval": retrieval.measure,
    "memory": memory.measure,
    "honesty": honesty.measure,
}


def main(names: list[str]) -> int:
    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        print(f"error: no benchmark {', '.join(sorted(unknown))}; there are: "
              f"{', '.join(BENCHMARKS)}", file=sys.stderr)  # fmt: skip
        return 2
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="foundry-bench-") as home:
        os.environ.update(FOUNDRY_HOME=home, FOUNDRY_LOOPBACK_ONLY="1", ANTHROPIC_API_KEY="bench")
        for name in names or BENCHMARKS:
            print(f"{name} ...", file=sys.stderr, flush=True)
            figures += BENCHMARKS[name]()
    print(f"{'figure':58} {'measured':>14} {'goal':>12}")
    for figure in figures:
        print(f"{figure.name:58} {figure.shown:>14} {figure.goal_shown:>12} {figure.verdict}")
        if figure.detail:
            print(f"    {figure.detail}")
    machine = f"{platform.python_implementation()} {platform.python_version()}, "
    machine += f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    Path("bench-results.json").write_text(
        json.dumps({"machine": machine, "figures": [each.as_json() for each in figures]}, indent=2)
    )
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
