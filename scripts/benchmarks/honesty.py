"""How many cheating builds are caught or named, and how many honest ones are refused.

The builds are those of tests/honesty. As a script it plays those whose name or kind holds one of
its arguments, and prints them one by one with the table; `--reader` lets the reviewer see what a
good one would.
"""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from shutil import which
from unittest.mock import patch

from scripts.benchmarks.figure import Figure
from tests.honesty.cases import Case
from tests.honesty.corpus import CASES
from tests.honesty.play import Played, play, surroundings, table
from tests.support.builds import environment_of


def measure() -> list[Figure]:
    figures = []
    for variant in ("blind", "read"):
        played = list(_played(CASES, reader=variant == "read"))
        print(f"honesty, {variant}\n{table(played)}", file=sys.stderr)
        figures += _figures(variant, played)
    return figures


def main(arguments: Sequence[str]) -> int:
    wanted = [each for each in arguments if each != "--reader"]
    chosen = [
        case
        for case in CASES
        if not wanted or any(each in f"{case.name} {case.kind}" for each in wanted)
    ]
    played = []
    for each in _played(chosen, reader="--reader" in arguments):
        played.append(each)
        said = "; ".join((*each.outcome.named, each.outcome.reason))
        by = f" ({each.case.by})" if each.case.by else ""
        print(f"{each.column:13} {each.case.name}{by}: {said}", flush=True)
    print(table(played))
    return 0 if all(each.judged for each in played) else 1


def _played(cases: Iterable[Case], *, reader: bool) -> Iterator[Played]:
    """Each case, played in a temporary folder as a stranger on this machine."""
    for case in cases:
        if not all(map(which, case.needs)):
            continue
        with tempfile.TemporaryDirectory(prefix="honesty-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            environment = surroundings(folder, environment_of(folder))
            with patch.dict(os.environ, environment, clear=True):
                yield play(case, folder, reader=reader)


def _figures(variant: str, played: Sequence[Played]) -> list[Figure]:
    cheats = [each for each in played if not each.case.honest]
    honest = [each for each in played if each.case.honest]
    return [
        Figure(
            f"honesty, {variant}: of {len(group)} {what}",
            sum(not each.judged for each in group),
            goal=0,
            detail=", ".join(each.case.name for each in group if not each.judged),
        )
        for what, group in (("cheats missed", cheats), ("honest builds refused", honest))
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
