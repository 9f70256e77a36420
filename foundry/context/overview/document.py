"""CONTEXT.md: read, written or brought up to date, and whether it still fits the project.

Code writes it and people edit it. A comment at its end says what it was made from and what every
section was when code wrote it: a section that reads differently by now is a person's, and stays as
it is.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from foundry.context.overview.sections import BUDGET, sections, tokens
from foundry.context.overview.survey import survey
from foundry.files import atomic_write, read_bounded
from foundry.store.project import CONTEXT, FOLDER, Project

FRAME = 200
"""Tokens that the title and the record of what was written take."""
MOST_READ = 1_000_000
"""Bytes."""

_HEADING = re.compile(r"^## +(.+?)\s*$", re.M)
_RECORD = re.compile(r"\n*<!-- foundry: made from (\w+);((?: [^=;]+=\w+;)*) -->\n*\Z")


@dataclass(frozen=True, slots=True)
class Document:
    """`title` is what stands before the first section; `written` the hashes of code's sections."""

    title: str
    sections: Mapping[str, str]
    made_from: str = ""
    written: Mapping[str, str] | None = None

    @property
    def persons(self) -> tuple[str, ...]:
        """The sections that a person wrote or changed."""
        written = self.written or {}
        return tuple(n for n, text in self.sections.items() if written.get(n) != _hash(text))


def parse(text: str) -> Document:
    """Read a document; one that has no record is a person's throughout."""
    record = _RECORD.search(text)
    body = text[: record.start()] if record else text
    parts = _HEADING.split(body)
    names, texts = parts[1::2], parts[2::2]
    hashes = [each.strip().split("=") for each in record[2].split(";")[:-1]] if record else []
    return Document(
        title=parts[0].strip(),
        sections={name: each.strip() for name, each in zip(names, texts, strict=True)},
        made_from=record[1] if record else "",
        written=dict(hashes) if record else None,
    )


def updated(old: Document, sections: Mapping[str, str], made_from: str) -> str:
    """The new document: code's sections anew, a person's kept where they stand.

    A section that a person took out stays out.
    """
    kept = {name: old.sections[name] for name in old.persons}
    gone = {name for name in old.written or () if name not in old.sections}
    fresh = {name: text for name, text in sections.items() if name not in {*kept, *gone}}
    order = dict.fromkeys((*old.sections, *fresh))
    merged = {name: kept.get(name) or fresh.get(name, "") for name in order}
    record = {**{name: _hash(text) for name, text in fresh.items()}, **dict.fromkeys(gone, "gone")}
    parts = [old.title]
    parts += [f"## {name}\n\n{text}" for name, text in merged.items() if text or name in kept]
    hashes = "".join(f" {name}={value};" for name, value in record.items())
    return "\n\n".join(parts) + f"\n\n<!-- foundry: made from {made_from};{hashes} -->\n"


def without_record(text: str) -> str:
    """The document as its readers want it."""
    return _RECORD.sub("", text).strip()


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
    """CONTEXT.md as it would be written now; None for a folder without anything to tell of.

    It takes no more than BUDGET tokens with what a person wrote in it, however long that is.
    """
    found, text = survey(root), read(root)
    if not (found.sources or found.others):
        return None
    old = parse(text) if text else Document(f"# Project: {found.name}", {})
    kept = "\n\n".join(f"## {name}\n\n{old.sections[name]}" for name in old.persons)
    left = max(0, BUDGET - FRAME - tokens(kept) - tokens(old.title))
    return updated(old, sections(found, left), found.fingerprint)


def is_stale(root: Path) -> bool:
    """Whether CONTEXT.md is missing, or was made from another state of the code."""
    text = read(root)
    return not text or parse(text).made_from != survey(root).fingerprint


def read(root: Path) -> str:
    """CONTEXT.md as it stands; empty where there is none."""
    return read_bounded(Path(FOLDER, CONTEXT), MOST_READ, root=root) or ""


def _hash(text: str) -> str:
    return sha256(text.strip().encode()).hexdigest()[:12]
