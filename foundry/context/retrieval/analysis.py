"""Analyses many files at once, on all processors when it is worth their while.

As a program (`python -m foundry.context.retrieval.analysis ROOT`) it is one of the workers:
paths on stdin, each ended by NUL; the facts on stdout.
"""

import gc
import marshal
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from foundry.context.retrieval.facts import Facts, analyse
from foundry.context.retrieval.files import read
from foundry.context.retrieval.kinds import Kind, kind

SHARE = 250
"""Files below which another process costs more than it brings."""
MOST_WORKERS = 4
Plain = tuple[int, int, dict[str, int], list[str], list[str]]
"""Facts as marshal takes them: no subclass of tuple."""


def analyse_all(root: Path, paths: Sequence[str]) -> dict[str, Facts]:
    """The facts of these files."""
    workers = min(_processors(), MOST_WORKERS, 1 + len(paths) // SHARE)
    shares = [paths[n::workers] for n in range(workers)]
    helpers = [_Worker(root, share) for share in shares[1:]]
    found = [_share(root, shares[0])]
    for helper, share in zip(helpers, shares[1:], strict=True):
        found.append(helper.result() or _share(root, share))
    return {path: Facts(*each) for part in found for path, each in part.items()}


def _share(root: Path, paths: Sequence[str]) -> dict[str, Plain]:
    return {
        path: plain(analyse(path, kind(path) or Kind.SOURCE, read(root, path))) for path in paths
    }


def plain(facts: Facts) -> Plain:
    """Facts without their class."""
    return facts.kind, facts.length, facts.terms, facts.defined, facts.imported


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


class _Worker:
    def __init__(self, root: Path, paths: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            # -P: a project that has a package `foundry` of its own is never imported
            [sys.executable, "-P", "-m", __name__, os.path.realpath(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdin is not None
        with suppress(BrokenPipeError), self._process.stdin as stdin:  # `result` tells of a death
            stdin.write("\0".join(paths).encode())

    def result(self) -> dict[str, Plain] | None:
        """The facts, or None when the worker died."""
        assert self._process.stdout is not None
        with self._process.stdout as out:
            raw = out.read()
        if self._process.wait() or not raw:
            return None
        facts: dict[str, Plain] = marshal.loads(raw)
        return facts


def _main() -> None:
    gc.disable()  # short-lived, and nearly all that it makes is kept
    paths = sys.stdin.buffer.read().decode().split("\0")
    sys.stdout.buffer.write(marshal.dumps(_share(Path(sys.argv[1]), paths)))


if __name__ == "__main__":
    _main()
