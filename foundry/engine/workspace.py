"""Where a build happens: in a new folder in place, in an existing repository beside it."""

import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from foundry.engine.accept import JOURNAL
from foundry.errors import InputError, ProjectError
from foundry.schema.events import Note, Observer
from foundry.schema.journal import Stop
from foundry.store import journal, runs
from foundry.store.git.config import guard
from foundry.store.git.repository import Repository
from foundry.store.git.trees import remove_tree
from foundry.store.project import FOLDER, Project

BRANCH = "foundry/"
BESIDE = ".foundry"
"""How the folder of the work trees beside a repository ends."""

RUN_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{5}")
UNNAMED = "0"
"""Stands for the run of a journal that does not say it; every run's own id is greater."""

MAX_SPEC = 100_000
"""Characters. A spec goes into many prompts; more than this crowds out the work itself."""


MAX_BRANCH = 200
"""Characters: git keeps a file of this name, and one with more."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder that a run works in. `base` is the commit it builds on, if there was one."""

    project: Project
    repository: Repository
    existing: bool
    base: str
    branch: str


def check_spec(spec: str) -> str:
    """The spec without surrounding space; raises InputError when it can't be built from."""
    text = spec.strip()
    if not text:
        raise InputError("the spec is empty", hint='Say what to build: foundry build "..."')
    if len(text) > MAX_SPEC:
        raise InputError(
            f"the spec has {len(text):,} characters, more than {MAX_SPEC:,}",
            hint="Shorten it, or put the details into files of the project and name them",
        )
    if "\0" in text:
        raise InputError("the spec holds NUL bytes", hint="Give it as UTF-8 text")
    if not text.isascii() and any("\ud800" <= each <= "\udfff" for each in text):
        raise InputError("the spec is not UTF-8 text", hint="Give it as plain text")
    return text


def check_branch(name: str) -> None:
    """Raise InputError for a name that no branch can have."""
    bad = re.search(r"[\x00-\x20~^:?*\[\\\x7f]|\.\.|@\{|//|^[-./]|/\.|[./]$|\.lock($|/)", name)
    if bad or name == "@" or len(name) > MAX_BRANCH:
        raise InputError(
            f"{name!r} is no name for a branch", hint="Use letters, digits, - and /: cleanup/legacy"
        )


def new_run_id(now: datetime) -> str:
    """An id that sorts by time and is safe in a branch name and a path.

    Its second part is the fraction of the second, so that of two runs of one second the later one
    is the newer; the last digits tell runs apart that begin at once.
    """
    fraction = now.microsecond * 0x1000 // 1_000_000
    return f"{now:%Y%m%d-%H%M%S}-{fraction:03x}{secrets.token_hex(1)}"


def slug(spec: str) -> str:
    """A folder name from the first words of a spec."""
    words = re.findall(r"[a-z0-9]+", spec.lower())
    kept = [word for word in words if word not in {"a", "an", "the", "with", "and", "that"}]
    return "-".join((kept or words or ["project"])[:5])[:48]


def default_folder(spec: str, here: Path) -> Path:
    """This folder when a build can happen here, else a new one in it named after the spec."""
    if not any(here.iterdir()) or Repository(here).toplevel() == here.resolve():
        return here
    folder = here / slug(spec)
    number = 2
    while folder.exists():
        folder = here / f"{slug(spec)}-{number}"
        number += 1
    return folder


def prepare(
    folder: Path, run: str, identity: tuple[str, str] | None = None, branch: str = ""
) -> Workspace:
    """Make the place for a run; raises ProjectError when the folder does not allow one.

    `identity` (name, address) commits in a new folder when git does not know its user; `branch`
    is worked on instead of one that is named after the run.
    """
    folder = folder.expanduser().resolve()
    if folder.exists() and not folder.is_dir():
        raise ProjectError(f"{folder} is a file", hint="Give a folder with --dir")
    entries = set(_entries(folder) if folder.exists() else ())
    if entries <= {FOLDER}:  # as a build leaves it that is killed at its very beginning
        return _new(folder, identity, branch)
    repository = Repository(folder)
    top = repository.toplevel()
    if top is None:
        raise ProjectError(
            f"{folder} is not empty and not a git repository",
            hint="Choose a new folder with --dir, or run `git init` and commit what is there",
        )
    if top.resolve() != folder:
        raise ProjectError(
            f"{folder} is inside the repository {top}",
            hint=f"Use --dir {top} to build on it, or a new folder",
        )
    if not repository.head():
        if entries <= {".git", FOLDER}:
            return _new(folder, identity, branch)
        raise ProjectError(
            f"{folder} is a repository without a commit",
            hint="Commit what is there first, so that the build has a base",
        )
    return _beside(repository, folder, run, branch)


def find(folder: Path) -> Project:
    """The project of the newest run in or beside a folder; raises ProjectError without one."""
    folder = folder.expanduser().resolve()
    if not folder.is_dir():
        raise ProjectError(f"there is no folder {folder}", hint="Name the folder of a build")
    places = {folder: ""}
    if (folder / ".git").is_dir():
        beside = Repository(folder).worktrees()
        places |= {path: branch for path, branch in beside if path != folder and path.is_dir()}
    found = [(run, place) for place, branch in places.items() if (run := run_at(place, branch))]
    if not found:
        raise ProjectError(
            f"there is no Foundry run in {folder}",
            hint='Start one with `foundry build "..."`, or name its folder',
        )
    return Project(max(found, key=lambda each: (each[0], each[1] != folder))[1])


def run_at(root: Path, branch: str = "") -> str:
    """The newest run that has begun in a folder, or nothing.

    By the journal there; and by our own record, where a command of a cut-off step made away with
    that. On the `branch` of a run that has not begun, the journal is another's: it came along with
    the commit that the run builds on.
    """
    found = _told_by_journal(Project(root))
    if branch.startswith(BRANCH) and branch != BRANCH + found:
        found = ""
    if root.parent.suffix == BESIDE and RUN_ID.fullmatch(root.name) and root.name > found:
        found = ""  # its branch has a name of the person's
    for run in runs.begun_at(root):
        if run <= found:
            break
        if _is_cut_off(root, run):
            return run
    return found


def _told_by_journal(project: Project) -> str:
    """The run whose journal is on disk. Without a whole line, no run ever began here."""
    try:
        text = project.journal.read_bytes() if project.journal.is_file() else b""
    except OSError:
        return ""
    first, newline, _ = text.partition(b"\n")
    named = re.search(rb'"run":"([^"]*)"', first)
    return (named[1].decode() if named else UNNAMED) if newline else ""


def _is_cut_off(root: Path, run: str) -> bool:
    """Whether the last commit of a run is here, and does not end it."""
    text = Repository(root).show(JOURNAL, runs.head(run))
    lines = journal.split(text or "").lines
    return bool(lines) and not isinstance(journal.parse(lines, source=JOURNAL)[-1], Stop)


def guarded(project: Project, run: str, observe: Observer) -> Repository:
    """The repository, whose settings stay as they were when the run began."""
    file = runs.folder(run) / "git-config.json"
    keeper = guard(project.root, file, lambda what: observe(Note(what)))
    return Repository(project.root, keeper.check)


def _entries(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError as error:
        raise ProjectError(f"cannot read {folder}: {error.strerror}") from error


def _new(folder: Path, identity: tuple[str, str] | None, branch: str) -> Workspace:
    repository = Repository(folder)
    fresh = [each for each in (folder, *folder.parents) if not each.exists()]
    owned: list[Path] = []
    try:
        owned = [folder / FOLDER] if _claim(folder) else []
        owned += [] if (folder / ".git").exists() else [folder / ".git"]
        if identity is None:
            repository.identity()
        repository.init()
        if branch:
            repository.name_branch(branch)
        if identity and not repository.knows_user():
            repository.set_user(*identity)
    except ProjectError:
        _take_back(owned, fresh)
        raise
    return Workspace(Project(folder), repository, False, "", repository.branch())


def _claim(folder: Path) -> bool:
    """Whether we made the folder in it that makes it ours.

    If not, a killed build left it, or another one is at it: then that holds the project's lock.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FOLDER).mkdir()
    except FileExistsError:
        return False
    except OSError as error:
        raise ProjectError(
            f"cannot write in {folder}: {error.strerror}", hint="Choose another folder with --dir"
        ) from error
    return True


def _take_back(owned: Iterable[Path], folders: Iterable[Path]) -> None:
    """A build that is refused leaves nothing: neither what it made nor folders that it emptied."""
    for each in owned:
        with suppress(ProjectError):
            remove_tree(each)
    for each in folders:
        with suppress(OSError):  # not empty, or never made
            each.rmdir()


def _beside(repository: Repository, folder: Path, run: str, branch: str) -> Workspace:
    repository.identity()
    place = folder.parent / f"{folder.name}{BESIDE}" / run
    if branch and repository.ref(f"refs/heads/{branch}"):
        raise ProjectError(
            f"there is a branch {branch} in {folder} already", hint="Give a new one with --branch"
        )
    branch = branch or BRANCH + run
    try:
        repository.add_worktree(place, branch)
    except (OSError, ProjectError) as error:
        repository.remove_worktree(place, branch)
        _take_back([place], [place.parent])
        if isinstance(error, ProjectError):
            raise
        raise ProjectError(
            f"cannot write {place.parent}: {error.strerror}",
            hint="A build goes into a folder beside the repository: make that possible",
        ) from error
    return Workspace(Project(place), Repository(place), True, repository.head(), branch)
