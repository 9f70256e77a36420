"""The pattern library: what ships with Foundry, and a user's own that grows with every build."""

import shutil
from collections.abc import Iterable, Mapping
from datetime import date
from itertools import count
from pathlib import Path

from filelock import FileLock, Timeout

from foundry.errors import ArtifactError, FoundryError
from foundry.files import atomic_write
from foundry.schema.learning import FILES, Kind, Pattern, PatternFile, Phase
from foundry.store.artifacts import to_json
from foundry.store.patterns.convert import NewerVersion, read_file
from foundry.store.patterns.learn import merge
from foundry.store.patterns.match import Wanted, match


class Library:
    """Shipped patterns, never written, and the user's own in `home`/patterns.

    Any file may be absent. `wait_seconds` is how long `add` waits for other builds.
    """

    def __init__(self, home: Path, shipped: Path, *, wait_seconds: float = 30) -> None:
        self._own = home / "patterns"
        self._shipped = shipped
        self._wait_seconds = wait_seconds

    def load(self) -> dict[str, PatternFile]:
        """All patterns by file name. Raises ArtifactError for a file that can't be read."""
        loaded = {}
        for kind, name in FILES.items():
            loaded[name] = PatternFile(kind=kind, last_updated=date.min)
            for folder in (self._shipped, self._own):
                if found := read_file(folder / name, kind):
                    loaded[name] = merge(loaded[name], found.file)
        return loaded

    def matching(
        self,
        project_type: str,
        tech_stack: Iterable[str],
        spec: str,
        phase: Phase,
        *,
        today: date,
        limit: int = 5,
    ) -> list[Pattern]:
        """What a phase should be told, best first; empty when nothing fits.

        `project_type` and `tech_stack` are empty while nobody knows them; the spec's words then
        stand in. Raises ArtifactError like `load`.
        """
        patterns = [pattern for file in self.load().values() for pattern in file.patterns]
        wanted = Wanted(project_type, tuple(tech_stack), spec, phase)
        return match(patterns, wanted, today=today, limit=limit)

    def add(self, files: Mapping[str, PatternFile]) -> list[str]:
        """Merge a build's patterns (see `learn`) into the user's own; returns warnings.

        It raises nothing for the state of the disk: a build must not fail at its end because of
        it. A damaged file is kept as `<name>.damaged-N`, and one in a foreign format, which is
        converted, as `<name>.original-N`. Whatever could not be written is named in a warning.
        """
        lock = FileLock(self._own / ".lock", timeout=self._wait_seconds)
        try:
            self._own.mkdir(parents=True, exist_ok=True)
            with lock:
                return [each for name, new in files.items() for each in self._add(name, new)]
        except Timeout:
            return [f"{self._own} is in use by another build: nothing was added to it"]
        except OSError as error:
            return [f"{self._own} can't be used ({error.strerror}): nothing was added to it"]

    def _add(self, name: str, new: PatternFile) -> list[str]:
        path = self._own / name
        if not new.patterns:
            return []
        try:
            known, warnings = _read_or_keep(path, new.kind)
            merged = merge(known, new) if known else new
            if merged != known or warnings:
                atomic_write(path.resolve(), to_json(merged))
        except OSError as error:
            return [f"{path} can't be used ({error.strerror}): nothing was added to it"]
        except FoundryError as error:
            return [f"{error.message}: nothing was added to it"]
        return warnings


def _read_or_keep(path: Path, kind: Kind) -> tuple[PatternFile | None, list[str]]:
    """What the file holds; what a rewrite would lose is copied first, and a warning says where.

    Raises NewerVersion: such a file is whole, and not ours to replace.
    """
    try:
        found = read_file(path, kind)
    except NewerVersion:
        raise
    except ArtifactError as error:
        kept = _copy_of(path, "damaged")
        return None, [f"{error.message}. It was kept as {kept.name}, and a new file was begun"]
    if found and found.foreign:
        kept = _copy_of(path, "original")
        return found.file, [f"{path} was converted; it was kept as {kept.name}", *found.problems]
    return (found.file if found else None), []


def _copy_of(path: Path, why: str) -> Path:
    names = (path.with_name(f"{path.name}.{why}-{number}") for number in count(1))
    free = next(name for name in names if not name.exists())
    shutil.copy2(path, free)
    return free
