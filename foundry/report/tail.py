"""Lines of a file that grows, whole ones only."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

POLL_SECONDS = 0.2


def whole_lines(path: Path) -> list[str]:
    """The lines that are finished; the torn one of a killed process is not among them."""
    return _parts(path)[:-1]


def is_torn(path: Path) -> bool:
    """Whether the last line was never finished."""
    return bool(_parts(path)[-1])


def follow(path: Path, goes_on: Callable[[], bool]) -> Iterator[str]:
    """Every whole line, and those that are still to come for as long as `goes_on` says so."""
    rest = b""
    with path.open("rb") as file:
        while True:
            last_look = not goes_on()  # asked before reading: what came until then is still told
            *lines, rest = (rest + file.read()).split(b"\n")
            for line in lines:
                yield line.decode("utf-8", errors="replace")
            if last_look:
                return
            if not lines:
                time.sleep(POLL_SECONDS)


def _parts(path: Path) -> list[str]:
    return path.read_bytes().decode("utf-8", errors="replace").split("\n")
