"""A rehearsal server in a process of its own, so that it does not share the interpreter lock."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from foundry.model.rehearsal.script import Turn, assistant_turns, call, turn
from foundry.model.rehearsal.server import RehearsalServer


def commands(request: Mapping[str, Any]) -> Turn:
    """A conversation that only runs `true`, without end."""
    return turn(call("run_command", command=f"true # {assistant_turns(request)}"))


@contextmanager
def serving(script: str) -> Iterator[str]:
    """The URL of a server that plays the function `script` of this module."""
    process = subprocess.Popen(
        [sys.executable, "-m", "scripts.benchmarks.serving", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout and process.stdin
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


if __name__ == "__main__":
    with RehearsalServer(globals()[sys.argv[1]], keep=0) as server:
        print(server.url, flush=True)
        sys.stdin.read()
