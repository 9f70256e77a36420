"""Work trees beside a run's own, in which conversations work side by side, and clean copies.

The run's journal and its transactions stay in its own work tree. What is made here is merged into
that by whoever made the place, or kept in a ref; nothing else leads to it. What is found here when
a run is taken up was left by a killed one: it is salvaged and removed.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from foundry.engine.recover import salvage
from foundry.engine.workspace import BESIDE, BRANCH
from foundry.errors import ProjectError
from foundry.sandbox.orphans import end_leftover
from foundry.store import runs
from foundry.store.git.command import GIT_MARK
from foundry.store.git.config import ConfigGuard, guard
from foundry.store.git.repository import Repository
from foundry.store.git.trees import open_up, remove_tree
from foundry.store.project import FOLDER, LOCAL, Project


@dataclass(frozen=True, slots=True)
class Beside(Project):
    """A work tree beside a run's own, whose local files lie with those of the run."""

    home: Path

    @property
    def local(self) -> Path:
        """What is never committed."""
        return self.home / FOLDER / LOCAL


@dataclass(frozen=True, slots=True)
class Aside:
    """One such place. `base` is the commit that it began at."""

    project: Beside
    repository: Repository
    branch: str
    base: str

    def hold_head(self) -> None:
        """Take back commits and branch switches that the model's own commands made."""
        at = self.repository.standing()
        self.repository.abandon(at.git_dir)
        if (at.commit, at.branch) != (self.base, self.branch):
            self.repository.move_head(self.branch, self.base)
        self.repository.reclaim(FOLDER, keep=LOCAL)

    def work(self, subject: str) -> str:
        """All that was changed here, as a commit on top of `base`; nothing where nothing was.

        Raises ProjectError where this place is gone: a command may have removed it.
        """
        self.hold_head()
        open_up(self.project.root)  # what was refused may hold what git can't take
        self.repository.remove_displaced()
        self.repository.adopt_nested()
        tree = self.repository.stage_all()
        if not self.repository.changed_between(self.base, tree):
            return ""
        return self.repository.commit_of(tree, subject)


def set_up(
    project: Project, repository: Repository, run: str, number: int, tell: Callable[[str], None]
) -> Aside:
    """Make the place of this number (from 1), as HEAD of the run is now."""
    name = _name(run, number)
    place, branch = _folder(project) / name, BRANCH + name
    repository.remove_worktree(place, branch)
    repository.add_worktree(place, branch)
    beside = repository.beside(place, _keeper(place, run, tell).check)
    return Aside(Beside(place, project.root), beside, branch, repository.head())


def set_up_copy(
    project: Project, repository: Repository, run: str, tell: Callable[[str], None]
) -> Aside:
    """Make a clone of HEAD, for work that is thrown away: the repository itself is not touched."""
    place = _copy(project, run)
    remove_tree(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    repository.clone(place)
    copy = Repository(place, _keeper(place, run, tell).check)
    at = copy.standing()
    return Aside(Beside(place, project.root), copy, at.branch, at.commit)


def _keeper(place: Path, run: str, tell: Callable[[str], None]) -> ConfigGuard:
    """Holds the settings of a place as they are now."""
    settings = runs.folder(run) / f"{place.name}.json"
    settings.unlink(missing_ok=True)
    return guard(place, settings, tell)


def put_away(repository: Repository, aside: Aside) -> None:
    """Remove a place with all that is in it."""
    repository.remove_worktree(aside.project.root, aside.branch)
    remove_place(aside.project.root)


def remove_place(place: Path) -> None:
    """Remove a place's folder; of a clone, that is all that there is of it."""
    remove_tree(place)
    with suppress(OSError):  # others are there still, or the run itself
        place.parent.rmdir()


def cleared(project: Project, repository: Repository, run: str) -> tuple[str, ...]:
    """Remove the places that a killed process of this run left; the patches that keep their work.

    What it left running there has been ended already, but for git.
    """
    patches = []
    if (copy := _copy(project, run)).exists():
        end_leftover(GIT_MARK, os.path.realpath(copy))
        remove_place(copy)
    for place in sorted(_folder(project).glob(_name(run, "*"))):
        end_leftover(GIT_MARK, os.path.realpath(place))
        beside = repository.beside(place, lambda: None)
        left = Aside(Beside(place, project.root), beside, BRANCH + place.name, "")
        with suppress(ProjectError):  # it was never whole
            beside.abandon(beside.git_dir())
            patches.append(salvage(left.project, beside, place.name, f"{run}/{place.name}"))
        put_away(repository, left)
    return tuple(filter(None, patches))


def _copy(project: Project, run: str) -> Path:
    return _folder(project) / f"{run}-copy"


def _name(run: str, number: int | str) -> str:
    return f"{run}-part-{number}"


def _folder(project: Project) -> Path:
    """Where the work trees of a project are."""
    root = project.root
    return root.parent if root.parent.suffix == BESIDE else root.parent / f"{root.name}{BESIDE}"
