"""The workflows that can be walked: those of the library, read again only when a file changed."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from foundry.config import home
from foundry.mcp.refusal import Refusal
from foundry.schema.workflow import Workflow
from foundry.workflow import load

Stamp = tuple[str, int, int]


class Catalog:
    """The workflows of this installation and of this home."""

    def __init__(self) -> None:
        self._library: tuple[tuple[Stamp, ...] | None, dict[str, load.Source]] = (None, {})
        self._loaded: dict[Path, tuple[Stamp, Workflow]] = {}

    def sources(self) -> Mapping[str, load.Source]:
        """What there is, by its id; of two with the same, the user's own."""
        now = tuple(stamp for folder in _folders() for stamp in _stamps(folder))
        seen, sources = self._library
        if now != seen:
            found = {each.id: each for each in reversed(load.library())}
            sources = dict(reversed(found.items()))
            self._library = (now, sources)  # as one value: threads look at it
        return sources

    def workflow(self, name: str) -> Workflow:
        """A workflow by its id; raises Refusal for one that there is not.

        Ids only and no paths: a client of this server has no business in the file system.
        """
        sources = self.sources()
        if name not in sources:
            raise Refusal(
                "unknown-workflow",
                f"there is no workflow {name!r}",
                hint=f"There are {', '.join(sources)}; `workflow_list` describes them",
            )
        path = sources[name].path
        stamp, known = _stamp(path), self._loaded.get(path)
        if known is None or known[0] != stamp:
            known = self._loaded[path] = (stamp, load.load(path))
        return known[1]


def _folders() -> tuple[Path, ...]:
    return load.BUILTIN, home() / "workflows"


def _stamps(folder: Path) -> Iterator[Stamp]:
    if folder.is_dir():
        with os.scandir(folder) as entries:
            found = [_stamp(entry) for entry in entries]
        yield from sorted(found)


def _stamp(file: Path | os.DirEntry[str]) -> Stamp:
    stat = file.stat()
    return os.fspath(file), stat.st_size, stat.st_mtime_ns
