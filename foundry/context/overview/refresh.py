"""Write CONTEXT.md, or tell whether it still fits the project."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from foundry.context.overview.document import Document, parse, updated
from foundry.context.overview.sections import BUDGET, sections, tokens
from foundry.context.overview.survey import Survey, survey
from foundry.files import atomic_write, read_bounded
from foundry.store.project import CONTEXT, FOLDER, Project

FRAME = 200
"""Tokens that the title and the record of what was written take."""
MOST_READ = 1_000_000
"""Bytes."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What became of CONTEXT.md: its size, and the sections that are a person's."""

    path: Path
    change: Literal["written", "updated", "current"]
    tokens: int
    persons: tuple[str, ...] = ()


def refresh(root: Path) -> Refreshed | None:
    """Write CONTEXT.md of the project at `root`, or leave it when nothing has changed.

    None for a folder without anything to tell of: no source, no text.
    """
    path, text = Project(root).artifact(CONTEXT), read(root)
    new, old = renewed(root), parse(text) if text else None
    if new is None:
        return None
    if new != text:
        atomic_write(path, new)
    change: Literal["written", "updated", "current"] = (
        "written" if not text else "updated" if new != text else "current"
    )
    return Refreshed(path, change, tokens(new), old.persons if old else ())


def renewed(root: Path) -> str | None:
    """CONTEXT.md as it would be written now; None for a folder without anything to tell of."""
    found, text = survey(root), read(root)
    if not (found.sources or found.others):
        return None
    return _made(found, parse(text) if text else None)


def is_stale(root: Path) -> bool:
    """Whether CONTEXT.md is missing, or was made from another state of the code."""
    text = read(root)
    return not text or parse(text).made_from != survey(root).fingerprint


def read(root: Path) -> str:
    """CONTEXT.md as it stands; empty where there is none."""
    return read_bounded(Path(FOLDER, CONTEXT), MOST_READ, root=root) or ""


def _made(found: Survey, old: Document | None) -> str:
    """The document, no more than BUDGET with a person's part, however long that is."""
    kept = "\n\n".join(f"## {name}\n\n{old.sections[name]}" for name in old.persons) if old else ""
    old = old or Document(f"# Project: {found.name}", {})
    room = max(0, BUDGET - FRAME - tokens(kept) - tokens(old.title))
    return updated(old, sections(found, room), found.fingerprint)
