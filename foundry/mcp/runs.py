"""Builds, read-only: those that this home knows, and the one in the current folder."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from foundry.config import home
from foundry.engine.workspace import find
from foundry.errors import JournalError, ProjectError
from foundry.mcp.messages import Refusal
from foundry.report.artifacts import items
from foundry.report.status import StatusReport, status_of
from foundry.schema.journal import Start
from foundry.store import journal, runs
from foundry.store.project import FOLDER, Project

TEMPLATE = "foundry://runs/{run}/artifacts/{name}"
_URI = re.compile(r"foundry://runs/(?P<run>[^/]+)/artifacts/(?P<name>.+)")
_HISTORY = "history/"

KINDS = {
    ".md": "text/markdown",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
}


@dataclass(frozen=True, slots=True)
class Run:
    """A run and where it was; `current`: the folder's artifacts are still its own."""

    id: str
    project: Project
    current: bool

    @property
    def prefix(self) -> str:
        """Where its artifacts stand in the project's folder of artifacts."""
        return "" if self.current else f"{_HISTORY}{self.id}/"


@dataclass(frozen=True, slots=True)
class Artifact:
    """An artifact of a run: its name there, bytes, what it is."""

    run: str
    name: str
    size: int
    what: str
    path: Path

    @property
    def uri(self) -> str:
        """Its address as a resource."""
        return TEMPLATE.format(run=self.run, name=quote(self.name, safe=""))

    @property
    def kind(self) -> str:
        """Its MIME type."""
        return KINDS.get(Path(self.name).suffix, "text/plain")


def known() -> tuple[Run, ...]:
    """The runs that may be looked at, newest first."""
    found = {run.id: run for run in (*_remembered(), *_here())}
    return tuple(found[name] for name in sorted(found, reverse=True))


def status(run: str | None, folder: str | None) -> StatusReport:
    """How a build stands, by the run's id, by its folder, or in the current folder.

    Raises Refusal for a run or a folder that is not ours to show.
    """
    if run is None:
        return status_of(_project_in(folder))
    found = _run(run)
    if not found.current:
        raise Refusal(
            "run-is-over",
            f"{found.project.root} has gone on to another run since {run}",
            hint=f"Read its artifacts: {TEMPLATE.replace('{run}', run)}",
        )
    return status_of(found.project)


def project(run: str | None, folder: str | None) -> Project:
    """Where a run is or was, by its id or its folder, or the newest one in the current folder.

    Raises Refusal for a run or a folder that is not ours to show.
    """
    return _project_in(folder) if run is None else _run(run).project


def artifacts(run: Run) -> Iterator[Artifact]:
    """What a run has written, in the order of the pipeline."""
    for item in items(run.project):
        name = item.name.removeprefix(run.prefix)
        own = item.name.startswith(run.prefix) and not name.startswith(_HISTORY)
        if own:
            path = run.project.folder / item.name
            yield Artifact(run.id, name, item.size, item.what, path)


def artifact(uri: str) -> Artifact:
    """The artifact at an address; raises Refusal for any name that no run really has."""
    match = _URI.fullmatch(uri)
    if match is None:
        raise Refusal("unknown-resource", f"there is no {uri}", hint=f"Addresses are {TEMPLATE}")
    run, name = unquote(match["run"]), unquote(match["name"])
    there = {each.name: each for each in artifacts(_run(run))}
    if name not in there:
        hint = f"It has {', '.join(there)}" if there else "It has none yet"
        raise Refusal("unknown-resource", f"the run {run} has no artifact {name!r}", hint=hint)
    return there[name]


def _project_in(folder: str | None) -> Project:
    found = find(Path(folder or "."))
    if folder is not None and found.root not in {each.project.root for each in known()}:
        raise _unknown(f"no run in {folder} is known here")
    return found


def _run(name: str) -> Run:
    for run in known():
        if run.id == name:
            return run
    raise _unknown(f"no run {name!r} is known here")


def _unknown(message: str) -> Refusal:
    names = [run.id for run in known()][:20]
    hint = f"Known are {', '.join(names)}" if names else 'Start one with `foundry build "..."`'
    return Refusal("unknown-run", message, hint=hint)


def _remembered() -> Iterator[Run]:
    folder = home() / "runs"
    for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
        options = runs.load(entry.name)
        if options is None:
            continue
        project = Project(Path(options.root))
        current = _begun(project) == options.run
        if current or (project.folder / _HISTORY / options.run).is_dir():
            yield Run(options.run, project, current)


def _here() -> Iterator[Run]:
    try:
        project = find(Path())
    except ProjectError:
        return
    name = _begun(project)
    if name:
        yield Run(name, project, current=True)


def _begun(project: Project) -> str:
    """The run whose journal a project holds now."""
    try:
        with project.journal.open(encoding="utf-8", errors="replace") as file:
            (first,) = journal.parse([file.readline()], source=f"{FOLDER}/journal.jsonl")
    except (OSError, JournalError, ValueError):
        return ""
    return first.run if isinstance(first, Start) else ""
