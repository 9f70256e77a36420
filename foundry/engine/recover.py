"""Resume: compare the journal with HEAD. There are three cases and no others.

1. They agree and the tree is clean: go on.
2. The journal has one line more than HEAD and the tree is the one that it names: finish that
   commit.
3. The tree has changes that no line explains: a dead step's partial work. It is saved as a patch,
   HEAD is restored, the step runs afresh.

After a Stop line the tree was clean, so changes are a person's: they are kept, and committed with
the Resume line.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foundry.engine.accept import ARTIFACTS, JOURNAL, commit
from foundry.errors import JournalError
from foundry.files import atomic_write
from foundry.schema.journal import Entry, Start, Stop
from foundry.store import journal, runs
from foundry.store.git import RUN_TRAILER, Repository
from foundry.store.project import Project

SCRATCH = "foundry-index"
"""A second index beside git's own."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was found: the journal as it now stands, and what was done about the rest."""

    entries: tuple[Entry, ...]
    salvage: str = ""
    finished: str = ""
    edited: tuple[str, ...] = ()


def recover(project: Project, repository: Repository) -> Recovered:
    """Bring journal, HEAD and tree together; raises JournalError when they can't be."""
    _remove_stale_locks(project, repository)
    head = _fold_back_foreign_commits(project, repository)
    on_disk = _disk_lines(project)
    source = JOURNAL
    if on_disk == head:
        entries = journal.parse(head, source=source)
        return _clean(project, repository, entries)
    if not on_disk and not head:
        raise JournalError(f"the run in {project.root} never began", hint="Start it again")
    if _one_more(on_disk, head):
        entries = journal.parse(on_disk, source=source)
        if _explains(entries[-1], repository, project):
            repository.stage_all()
            commit(repository, entries[-1])
            return Recovered(entries, finished=_name(entries[-1]))
    elif on_disk != head[: len(on_disk)] and head != on_disk[: len(head)]:
        raise JournalError(
            f"{source} differs from the committed one",
            hint=f"`git checkout HEAD -- {source}` in {project.root} brings it back",
        )
    return _clean(project, repository, journal.parse(head, source=source))


def salvage(project: Project, repository: Repository, name: str) -> str:
    """Save all changes as a patch and restore HEAD; returns the patch's path, or nothing."""
    if not repository.changes():
        return ""
    patch = repository.patch()
    safe = name.replace("/", "-").replace("[", "-").replace("]", "")
    target = _free(project.salvage / f"{safe}.patch")
    atomic_write(target, patch)
    repository.restore()
    return str(target.relative_to(project.root))


def _one_more(on_disk: Sequence[str], head: Sequence[str]) -> bool:
    """One line more than HEAD; or the first of a run whose base holds an earlier run's journal."""
    if len(on_disk) == len(head) + 1 and list(on_disk[:-1]) == list(head):
        return True
    return len(on_disk) == 1 and on_disk[0] not in head and '"kind":"start"' in on_disk[0]


def _clean(project: Project, repository: Repository, entries: Sequence[Entry]) -> Recovered:
    last = entries[-1] if entries else None
    if isinstance(last, Stop):
        repository.checkout(JOURNAL)  # without a torn line
        return Recovered(tuple(entries), edited=repository.changes())
    name = f"after-{_name(last)}" if last else "before-the-start"
    return Recovered(tuple(entries), salvage=salvage(project, repository, name))


def _explains(entry: Entry, repository: Repository, project: Project) -> bool:
    """Whether the tree without the journal's last line is the one that the line names."""
    if isinstance(entry, Start):
        return True
    scratch = repository.git_dir() / SCRATCH
    return repository.tree_without(JOURNAL, scratch, always=ARTIFACTS) == entry.tree


def _disk_lines(project: Project) -> tuple[str, ...]:
    if not project.journal.exists():
        return ()
    return journal.split(project.journal.read_text(encoding="utf-8", errors="replace")).lines


def _head_lines(repository: Repository) -> tuple[str, ...]:
    return _lines_at(repository, "HEAD") if repository.head() else ()


def _lines_at(repository: Repository, revision: str) -> tuple[str, ...]:
    text = repository.show(JOURNAL, revision)
    return journal.split(text).lines if text else ()


def _fold_back_foreign_commits(project: Project, repository: Repository) -> tuple[str, ...]:
    """Take back where a dying step's own commands moved HEAD; their changes stay in the tree.

    What happened to HEAD after a Stop line is a person's doing and stays.
    """
    lines = _head_lines(repository)
    start = journal.parse(lines, source=JOURNAL)[0] if lines else None
    if not isinstance(start, Start) or not _works_here(start.run, project):
        return lines
    own = _newest_own(repository, start)
    if not own or (own == repository.head() and start.branch in ("", repository.branch())):
        return lines
    own_lines = _lines_at(repository, own)
    if isinstance(journal.parse(own_lines, source=JOURNAL)[-1], Stop):
        return lines
    repository.move_head(start.branch or repository.branch(), own)
    return own_lines


def _works_here(run: str, project: Project) -> bool:
    """Whether this is the run's own place, and its journal did not just come with the base."""
    options = runs.load(run)
    return options is not None and options.root == str(project.root)


def _newest_own(repository: Repository, start: Start) -> str:
    """The newest commit that this run made, wherever HEAD is now; an amended one is not ours."""
    for sha in repository.ever_made(f"^{RUN_TRAILER}: {start.run}$", since=start.base):
        lines = _lines_at(repository, sha)
        tree = getattr(journal.parse(lines, source=JOURNAL)[-1], "tree", "") if lines else ""
        if not tree or repository.changed_between(tree, sha) == (JOURNAL,):
            return sha
    return ""


def _remove_stale_locks(project: Project, repository: Repository) -> None:
    """A killed git leaves its lock behind; nothing else works here, the run holds its own lock."""
    for name in ("index", SCRATCH, "HEAD", f"refs/heads/{repository.branch()}"):
        lock = repository.run("rev-parse", "--git-path", f"{name}.lock").strip()
        (project.root / lock).unlink(missing_ok=True)


def _name(entry: Entry) -> str:
    return getattr(entry, "step", entry.kind)


def _free(path: Path) -> Path:
    number, free = 2, path
    while free.exists():
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
        number += 1
    return free
