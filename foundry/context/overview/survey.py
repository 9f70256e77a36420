"""Look at a project: the facts that CONTEXT.md is made from."""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from foundry.context.overview.manifests import NAMES, Manifest, manifest
from foundry.context.retrieval.kinds import Kind, suffix
from foundry.context.retrieval.upkeep import current_index
from foundry.files import read_bounded
from foundry.store.git import read as git_read

READMES = ("README.md", "README.rst", "README.txt", "README")
HEAD_BYTES, MOST_BYTES = 4_000, 200_000
MOST_MANIFESTS = 12
MOST_NOTED = 400
"""So many source files are opened for what they say of themselves."""

_NOTES = (
    re.compile(r'\A(?:#[^\n]*\n|\s)*[rRuU]?"""\s*(.+?)(?:\n|""")'),
    re.compile(r"\A\s*(?:/\*\*?\s*\n?\s*\*?\s*|//[!/]?\s*)(?!eslint|@|Copyright|SPDX)(.+)"),
    re.compile(r"\A(?:#!.*\n)?\s*#\s*(?!!|Copyright|SPDX|-\*-)(.+)"),
)
_LETTERS = re.compile(r"[^\W\d_]{3}")
_WORDS = ("text", "code_inline", "softbreak")
LEAST_PROSE = 30
"""Characters of a paragraph that says what a project is."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of source: what it says of itself, what it defines, and how many files use it."""

    path: str
    note: str = ""
    defines: tuple[str, ...] = ()
    used_by: int = 0


@dataclass(frozen=True, slots=True)
class Survey:
    """The facts. `state` is what changes with every commit, and so is no part of the hash."""

    name: str
    about: str
    languages: tuple[tuple[str, int], ...]
    sources: tuple[SourceFile, ...]
    tests: tuple[str, ...]
    others: tuple[str, ...]
    manifests: tuple[Manifest, ...]
    scripts: tuple[str, ...] = ()
    state: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Changes when what is told would change."""
        lasting = (self.name, self.about, self.languages, self.sources, self.tests,
                   self.manifests, self.scripts)  # fmt: skip
        return sha256(repr(lasting).encode()).hexdigest()[:16]


def survey(root: Path) -> Survey:
    """Look at the project at `root`; its git repository is asked where there is one."""
    index = current_index(root)
    kinds = dict(zip(index.paths, map(Kind, index.kinds), strict=True))
    defined = dict(zip(index.paths, index.names, strict=True))
    ours = [
        path
        for path, kind in kinds.items()
        if kind is Kind.SOURCE and (defined[path] or not path.endswith("__init__.py"))
    ]
    used = {path: len(users) for path, users in zip(index.paths, index.importers, strict=True)}
    noted = sorted(ours, key=lambda path: (-used[path], path.count("/"), path))[:MOST_NOTED]
    notes = {path: note(_text(root, path, HEAD_BYTES)) for path in noted}
    manifests = _manifests(root, index.paths)
    return Survey(
        name=next((each.name for each in manifests if each.name), root.resolve().name),
        about=_about(root, manifests),
        languages=tuple(Counter(map(suffix, ours)).most_common(5)),
        sources=tuple(
            SourceFile(path, notes.get(path, ""), tuple(defined[path][:12]), used[path])
            for path in ours
        ),
        tests=tuple(path for path, kind in kinds.items() if kind is Kind.TEST),
        others=tuple(path for path, kind in kinds.items() if kind not in (Kind.SOURCE, Kind.TEST)),
        manifests=manifests,
        scripts=_scripts(root),
        state=_state(root),
    )


def _text(root: Path, name: str, limit: int) -> str:
    return read_bounded(Path(name), limit, root=root) or ""


def note(text: str) -> str:
    """What a file says of itself in its first line of documentation."""
    for pattern in _NOTES:
        if (match := pattern.search(text)) and _LETTERS.search(match[1]):
            return " ".join(match[1].split()).removesuffix("*/").strip()[:120]
    return ""


def _manifests(root: Path, paths: Sequence[str]) -> tuple[Manifest, ...]:
    """Those at the root first, then those of parts of the project, a level below."""
    near = sorted(
        (
            path
            for path in {*paths, *NAMES}
            if path.count("/") <= 2 and path.split("/")[-1] in NAMES
        ),
        key=lambda path: (path.count("/"), path),
    )
    texts = ((path.split("/")[-1], _text(root, path, MOST_BYTES)) for path in near)
    found = (manifest(name, text) for name, text in texts if text.strip())
    return tuple(each for each in found if each)[:MOST_MANIFESTS]


def _about(root: Path, manifests: Sequence[Manifest]) -> str:
    """What a manifest says, and the first paragraph of the README."""
    texts = (_text(root, name, MOST_BYTES) for name in READMES)
    readme = next((text for text in texts if text.strip()), "")
    said = next((each.description for each in manifests if each.description), "")
    return " ".join(dict.fromkeys(filter(None, (said, _first_paragraph(readme)))))[:600]


def _first_paragraph(markdown: str) -> str:
    """The first paragraph of prose: pictures and badges alone are none."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt().parse(markdown[:20_000])
    for opening, inline in pairwise(tokens):
        if opening.type != "paragraph_open":
            continue
        words = (each.content for each in inline.children or () if each.type in _WORDS)
        text = " ".join(" ".join(words).split())
        if len(text) >= LEAST_PROSE:
            return text
    return ""


def _scripts(root: Path) -> tuple[str, ...]:
    """What lies ready to be run by hand."""
    found = (path for folder in ("scripts", "bin") for path in sorted((root / folder).glob("*")))
    return tuple(str(path.relative_to(root)) for path in found
                 if path.is_file() and os.access(path, os.X_OK))  # fmt: skip


def _state(root: Path) -> tuple[str, ...]:
    log = git_read.latest(root, 6).text()
    return tuple(line for line in (log or "").splitlines() if line.strip())


def by_folder(sources: Sequence[SourceFile]) -> Mapping[str, list[SourceFile]]:
    """The files of each folder, by its path with a closing slash; the root's is empty."""
    folders: dict[str, list[SourceFile]] = {}
    for source in sources:
        folder, _, _ = source.path.rpartition("/")
        folders.setdefault(f"{folder}/" if folder else "", []).append(source)
    return folders
