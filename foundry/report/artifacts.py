"""The artifacts of a project: what there is, and which one a name means."""

from dataclasses import dataclass
from pathlib import Path

from foundry.errors import InputError
from foundry.store.project import FOLDER, Project

PIPELINE = {
    "scout-report.md": "what Scout found out",
    "checks.json": "the commands that check it; yours to edit",
    "architecture.md": "the design and the plan",
    "tasks.json": "the tasks; yours to edit while paused",
    "build-log.md": "what was made, task by task",
    "test-iteration-count.txt": "how often the checks were run",
    "test-results-iteration-": "what the checks showed",
    "fixes-iteration-": "why checks failed, how to heal them",
    "test-final-report.md": "how the checks ended",
    "session-summary.json": "status, tokens, cost, time",
    "evidence.json": "what proves each requirement",
    "journal.jsonl": "the run, a line per step",
    "session-notes.md": "notes that last",
    "CONTEXT.md": "what every conversation is told",
    "circular/": "a circular run: its state, prompt, report",
    "feedback/": "what went wrong, and what worked",
    "patterns/": "what later builds learn from this one",
    "history/": "an earlier run",
}
"""Names, or how names begin, in the order in which a build writes them."""

HIDDEN = ("local",)


@dataclass(frozen=True, slots=True)
class Item:
    """An artifact: its name below .context-foundry, bytes, and when it was written (epoch)."""

    name: str
    size: int
    modified: float
    what: str


def items(project: Project) -> list[Item]:
    """Every artifact, in the order of the pipeline; what is local is not among them."""
    found = [_item(project, path) for path in _files(project.folder)]
    return sorted(found, key=lambda item: (_position(item.name), item.name))


def choose(project: Project, name: str) -> list[Item]:
    """The artifact that a name or the beginning of one means; several for a folder.

    Raises InputError that lists what there is.
    """
    wanted = name.removeprefix(f"{FOLDER}/").strip("/")
    if ".." in Path(name).parts or Path(name).is_absolute():
        raise InputError(f"{name!r} is not the name of an artifact", hint=_known(items(project)))
    have = items(project)
    for matches in (
        [item for item in have if item.name == wanted],
        [item for item in have if item.name.startswith(f"{wanted}/")],
    ):
        if matches and wanted:
            return matches
    begin = [item for item in have if wanted and item.name.startswith(wanted)]
    begin = begin or [i for i in have if wanted and Path(i.name).name.startswith(wanted)]
    if len(begin) == 1:
        return begin
    if begin:
        several = ", ".join(item.name for item in begin)
        raise InputError(f"{name!r} may mean several artifacts", hint=f"They are {several}")
    raise InputError(f"there is no artifact {name!r}", hint=_known(have))


def _files(folder: Path) -> list[Path]:
    """Regular files; no links, so that nothing outside the folder is ever shown."""
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not any(part.is_symlink() for part in (path, *path.parents) if part != folder.parent)
        and path.relative_to(folder).parts[0] not in HIDDEN
        and not path.name.startswith(".")
    ]


def _item(project: Project, path: Path) -> Item:
    name, stat = path.relative_to(project.folder).as_posix(), path.stat()
    return Item(name, stat.st_size, stat.st_mtime, _what(name))


def _what(name: str) -> str:
    return next((what for begin, what in PIPELINE.items() if name.startswith(begin)), "")


def _position(name: str) -> int:
    begins = list(PIPELINE)
    return next((n for n, begin in enumerate(begins) if name.startswith(begin)), len(begins))


def _known(have: list[Item]) -> str:
    shown = [item.name for item in have if not item.name.startswith("history/")]
    return f"There are {', '.join(shown)}" if shown else "There are none yet"
