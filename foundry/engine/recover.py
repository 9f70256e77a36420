"""Resume: compare the journal with HEAD. There are three cases and no others.

1. They agree and the tree is clean: go on.
2. The journal has one line more than HEAD and the tree is the one that it names: finish that
   commit.
3. The tree has changes that no line explains: a dead step's partial work. It is saved as a patch,
   HEAD is restored, the step runs afresh.

After a Stop line the tree was clean, so changes are a person's: they are kept, and committed with
the Resume line.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foundry.engine.accept import JOURNAL, PATHSPECS, commit, remember, stage
from foundry.errors import JournalError
from foundry.files import atomic_write
from foundry.sandbox.orphans import end_leftover
from foundry.schema.journal import Entry, Start, Stop, step_slug
from foundry.store import journal, runs
from foundry.store.git.command import GIT_MARK
from foundry.store.git.query import RUN_TRAILER
from foundry.store.git.repository import Repository, run_ref
from foundry.store.git.trees import open_up
from foundry.store.project import Project

SCRATCH = "foundry-index"
"""A second index beside git's own."""

BEFORE = "foundry-before"
"""A third one, for the code before a task."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was found: the journal as it now stands, and what was done about the rest."""

    entries: tuple[Entry, ...]
    salvage: str = ""
    finished: str = ""
    edited: tuple[str, ...] = ()


def recover(project: Project, repository: Repository, run: str) -> Recovered:
    """Bring journal, HEAD and tree together; raises JournalError when they can't be."""
    end_leftover(GIT_MARK, os.path.realpath(project.root))
    _remove_stale_locks(project, repository, run)
    head = _bring_back(project, repository, run)
    on_disk = _disk_lines(project)
    source = JOURNAL
    if on_disk == head:
        entries = journal.parse(head, source=source)
        return _clean(project, repository, entries)
    if not on_disk and not head:
        raise JournalError(f"the run in {project.root} never began", hint="Start it again")
    if len(on_disk) > 1 and not head:
        raise JournalError(
            f"the repository in {project.root} does not hold this run's commits: its .git was "
            "replaced, or another branch is checked out",
            hint="Bring that back, or start a new run; the files are untouched",
        )
    if _one_more(on_disk, head):
        entries = journal.parse(on_disk, source=source)
        if _explains(entries[-1], repository, project):
            stage(repository)
            commit(repository, entries[-1])
            return Recovered(entries, finished=_name(entries[-1]))
    elif on_disk != head[: len(on_disk)] and head != on_disk[: len(head)]:
        raise JournalError(
            f"{source} differs from the committed one",
            hint=f"`git checkout HEAD -- {source}` in {project.root} brings it back",
        )
    return _clean(project, repository, journal.parse(head, source=source))


def salvage(project: Project, repository: Repository, name: str, pin: str = "") -> str:
    """Save all changes as a patch and restore HEAD; returns the patch's path, or nothing.

    With `pin` they are kept as a commit, too, in the ref refs/foundry/<pin>.
    """
    if not repository.changes():
        return ""
    open_up(project.root)  # a command may have closed what it made
    repository.remove_displaced()
    repository.adopt_nested()
    tree = repository.stage_all()
    patch = repository.diff_of_index()
    target = None
    if patch and pin:
        repository.pin(pin, repository.commit_of(tree, f"rolled back: {name}"))
    if patch:
        target = _free(project.salvage / f"{step_slug(name)}.patch")
        atomic_write(target, patch)
    repository.restore()
    return str(target.relative_to(project.local.parents[1])) if target else ""


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
    return repository.tree_without(JOURNAL, scratch, always=PATHSPECS) == entry.tree


def _disk_lines(project: Project) -> tuple[str, ...]:
    if not project.journal.is_file():
        return ()
    return journal.split(project.journal.read_text(encoding="utf-8", errors="replace")).lines


def _head_lines(repository: Repository) -> tuple[str, ...]:
    return _lines_at(repository, "HEAD") if repository.head() else ()


def _lines_at(repository: Repository, revision: str) -> tuple[str, ...]:
    text = repository.show(JOURNAL, revision)
    return journal.split(text).lines if text else ()


def _bring_back(project: Project, repository: Repository, run: str) -> tuple[str, ...]:
    """The journal of HEAD, after HEAD is again where the run left it.

    A dying step's own commands may have moved it anywhere; what they changed stays in the tree.
    What happened to HEAD after a Stop line is a person's doing and stays.
    """
    lines = _head_lines(repository)
    own = _last_own(project, repository, run, lines)
    if not own:
        return lines
    own_lines = _lines_at(repository, own)
    entries = journal.parse(own_lines, source=JOURNAL)
    start = entries[0]
    if isinstance(entries[-1], Stop) or not isinstance(start, Start):
        return lines
    branch = start.branch or repository.branch()
    if own != repository.head() or branch != repository.branch():
        repository.move_head(branch, own)
    remember(repository, run, own)
    return own_lines


def _last_own(project: Project, repository: Repository, run: str, head: tuple[str, ...]) -> str:
    """The newest commit that this run made here, wherever HEAD is now.

    Our own record of it may be one commit behind: then git's log of where HEAD was knows the last.
    Nothing where this is not the run's place, and its journal just came along with the base.
    """
    ours = repository.ref(run_ref(run))
    if not ours and not _works_here(run, project):
        return ""
    kept = repository.ref(runs.head(run)) if runs.head(run) else ""
    known = [sha for sha in (kept, ours) if sha and _run_of(_lines_at(repository, sha)) == run]
    lines = _lines_at(repository, known[0]) if known else head
    if _run_of(lines) == run:
        start = journal.parse(lines[:1], source=JOURNAL)[0]
        known += _newest_made(repository, run, getattr(start, "base", ""))
    best = max(known, key=lambda sha: len(_lines_at(repository, sha)), default="")
    return best if not known or _follows(repository, best, lines) else known[0]


def _follows(repository: Repository, sha: str, lines: tuple[str, ...]) -> bool:
    """Whether the journal of a commit goes on where `lines` end."""
    return _lines_at(repository, sha)[: len(lines)] == lines


def _run_of(lines: tuple[str, ...]) -> str:
    """The run that a journal tells of."""
    first = journal.parse(lines[:1], source=JOURNAL)
    return first[0].run if first else ""


def _works_here(run: str, project: Project) -> bool:
    """Whether this home has this place down as the run's own."""
    options = runs.load(run)
    return options is not None and options.root == str(project.root)


def _newest_made(repository: Repository, run: str, base: str) -> list[str]:
    """The newest commit that HEAD was ever at and that is ours; an amended one is not."""
    for sha in repository.ever_made(f"^{RUN_TRAILER}: {run}$", since=base):
        lines = _lines_at(repository, sha)
        tree = getattr(journal.parse(lines, source=JOURNAL)[-1], "tree", "") if lines else ""
        if not tree or _only_adds_a_line(repository, tree, sha):
            return [sha]
    return []


def _only_adds_a_line(repository: Repository, tree: str, sha: str) -> bool:
    """Whether a commit is the tree that its journal names; not where a `git gc` took that away."""
    known, _, _ = repository.attempt("cat-file", "-e", f"{tree}^{{tree}}")
    return known == 0 and repository.changed_between(tree, sha) == (JOURNAL,)


def _remove_stale_locks(project: Project, repository: Repository, run: str) -> None:
    """A killed git leaves its lock behind; nothing else works here, the run holds its own lock."""
    branch = f"refs/heads/{repository.branch()}"
    for name in ("index", SCRATCH, BEFORE, "HEAD", branch, run_ref(run)):
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
