"""CONTEXT.md as a document that code writes and people edit. Pure.

A comment at its end says what it was made from and what every section was when code wrote it: a
section that reads differently by now is a person's, and stays as it is.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

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


def _hash(text: str) -> str:
    return sha256(text.strip().encode()).hexdigest()[:12]
