"""Look at a project, its manifests among it: the facts that CONTEXT.md is made from."""

import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from foundry.context.retrieval.cache import current_index
from foundry.context.retrieval.files import Kind, suffix
from foundry.files import read_bounded
from foundry.store.git import read as git_read

_REQUIREMENT = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")
_TARGET = re.compile(r"^([A-Za-z0-9][\w.-]*):(?!=)", re.M)
_GO_MODULE = re.compile(r"^module\s+(\S+)", re.M)
_GO_REQUIRE = re.compile(
    r"^\s*(?:require\s+)?([\w.-]+\.[\w./-]+)\s+v\S+(?!.*// indirect)\s*$", re.M
)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What one manifest says. `commands` are what a person runs, with what they stand for."""

    name: str = ""
    description: str = ""
    dependencies: tuple[str, ...] = ()
    commands: tuple[tuple[str, str], ...] = ()
    entries: tuple[tuple[str, str], ...] = ()
    """Programs that an installation provides, with where they begin."""
    tools: tuple[str, ...] = ()
    """Linters, type checkers, test runners that are configured here."""


def manifest(name: str, text: str) -> Manifest | None:
    """What the manifest of this file name says; None for no manifest, or one that is damaged."""
    reader = _READERS.get(name)
    if reader is None:
        return None
    try:
        return reader(text)
    except (ValueError, TypeError, AttributeError, KeyError, yaml.YAMLError):
        return None  # half-written manifests are ordinary; the rest of the project still tells


def _pyproject(text: str) -> Manifest:
    data = tomllib.loads(text)
    project, poetry = data.get("project", {}), data.get("tool", {}).get("poetry", {})
    needed = [str(each) for each in project.get("dependencies", ())]
    needed += [name for name in poetry.get("dependencies", {}) if name != "python"]
    scripts = {**project.get("scripts", {}), **poetry.get("scripts", {})}
    return Manifest(
        name=str(project.get("name") or poetry.get("name") or ""),
        description=str(project.get("description") or poetry.get("description") or ""),
        dependencies=_requirements(needed),
        entries=tuple((str(name), str(where)) for name, where in scripts.items()),
        tools=tuple(name for name in data.get("tool", {}) if name not in ("poetry", "hatch", "uv")),
    )


def _package_json(text: str) -> Manifest:
    data = json.loads(text)
    programs = data.get("bin", {})
    programs = {data.get("name", ""): programs} if isinstance(programs, str) else programs
    developing = data.get("devDependencies", {})
    known = ("eslint", "prettier", "typescript", "vitest", "jest", "mocha", "playwright", "vite")
    return Manifest(
        name=str(data.get("name", "")),
        description=str(data.get("description", "")),
        dependencies=tuple(data.get("dependencies", {})),
        commands=tuple((f"npm run {k}", str(v)) for k, v in data.get("scripts", {}).items()),
        entries=tuple((str(name), str(where)) for name, where in programs.items()),
        tools=tuple(name for name in developing if name.split("/")[-1] in known),
    )


def _cargo(text: str) -> Manifest:
    data = tomllib.loads(text)
    package: Mapping[str, Any] = data.get("package", {})
    workspace = data.get("workspace", {}).get("dependencies", {})
    return Manifest(
        name=str(package.get("name", "")),
        description=str(package.get("description", "")),
        dependencies=tuple({**workspace, **data.get("dependencies", {})}),
        commands=(("cargo build", ""), ("cargo test", "")),
        entries=tuple((str(b["name"]), str(b.get("path", ""))) for b in data.get("bin", ())),
    )


def _go_mod(text: str) -> Manifest:
    module = _GO_MODULE.search(text)
    return Manifest(
        name=module[1] if module else "",
        dependencies=tuple(_GO_REQUIRE.findall(text)),
        commands=(("go build ./...", ""), ("go test ./...", "")),
    )


def _requirements_txt(text: str) -> Manifest:
    return Manifest(dependencies=_requirements(text.splitlines()))


def _makefile(text: str) -> Manifest:
    targets = [each for each in _TARGET.findall(text) if not each.startswith(".")]
    return Manifest(commands=tuple((f"make {each}", "") for each in dict.fromkeys(targets)))


def _compose(text: str) -> Manifest:
    services = (yaml.safe_load(text) or {}).get("services", {})
    return Manifest(commands=(("docker compose up", ", ".join(map(str, services))),))


def _requirements(lines: Any) -> tuple[str, ...]:
    found = (_REQUIREMENT.match(str(line).strip()) for line in lines)
    return tuple(match[0] for match in found if match)


_READERS: dict[str, Callable[[str], Manifest]] = {
    "pyproject.toml": _pyproject,
    "package.json": _package_json,
    "Cargo.toml": _cargo,
    "go.mod": _go_mod,
    "requirements.txt": _requirements_txt,
    "Makefile": _makefile,
    "docker-compose.yml": _compose,
    "compose.yaml": _compose,
}

NAMES = tuple(_READERS)
"""The file names that are read as manifests."""


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
