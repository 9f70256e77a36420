"""Where checks are run: in the work tree, and in a clean clone of what is committed.

The clone has another home, other temporary files, and no work tree in reach. What holds there
holds for whoever clones the result. Only what a machine's toolchains keep in a home (compilers,
caches, where registries are) is named to the commands, since without it they could not be run.
"""

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from foundry.engine.step_context import StepContext, scratch
from foundry.schema.command import CommandLimits, CommandResult
from foundry.store.git.repository import Repository
from foundry.store.git.trees import remove_tree
from foundry.store.project import FOLDER, LOCAL

TOOLCHAINS = {
    "ASDF_DATA_DIR": ".asdf",
    "CARGO_HOME": ".cargo",
    "COREPACK_HOME": ".cache/node/corepack",
    "GIT_CONFIG_GLOBAL": ".gitconfig",
    "GOPATH": "go",
    "GRADLE_USER_HOME": ".gradle",
    "NPM_CONFIG_CACHE": ".npm",
    "NPM_CONFIG_USERCONFIG": ".npmrc",
    "NVM_DIR": ".nvm",
    "PIP_CACHE_DIR": ".cache/pip",
    "PIP_CONFIG_FILE": ".config/pip/pip.conf",
    "PNPM_HOME": ".local/share/pnpm",
    "PYENV_ROOT": ".pyenv",
    "PYTHONUSERBASE": ".local",
    "RBENV_ROOT": ".rbenv",
    "RUSTUP_HOME": ".rustup",
    "SDKMAN_DIR": ".sdkman",
    "UV_CACHE_DIR": ".cache/uv",
    "VOLTA_HOME": ".volta",
}
"""Where toolchains keep what they need when no variable says otherwise, below a home."""

PROBE = CommandLimits(wall_seconds=10, idle_seconds=10)


class Place(Protocol):
    """A folder with the project in it, and a way to run commands there."""

    @property
    def root(self) -> Path:
        """The folder."""

    def run(
        self, command: str, seconds: float, more: Mapping[str, str] | None = None
    ) -> CommandResult:
        """Run a command there for at most `seconds`, with `more` in its environment."""

    def mark(self) -> None:
        """Note the files as they are, set up and untouched by any check."""

    def reset(self) -> None:
        """Make the files what they were when they were noted; those that git ignores stay."""


@dataclass
class WorkTree:
    """The work tree of a run."""

    ctx: StepContext
    marked: str = ""

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self.ctx.project.root

    def mark(self) -> None:
        """Note the files as they are."""
        self.marked = self.ctx.repository.stage_all()

    def reset(self) -> None:
        """Make the files what they were when they were noted."""
        self.ctx.repository.restore_to(self.marked)

    def run(
        self, command: str, seconds: float, more: Mapping[str, str] | None = None
    ) -> CommandResult:
        """Run a command in the work tree, as those of the model are."""
        text, limits = with_environment(command, more or {}), self.ctx.command_limits(seconds)
        result = self.ctx.sandbox.run(text, cwd=self.root, limits=limits)
        return result.model_copy(update={"command": command})


@dataclass
class CleanClone:
    """A fresh clone of `commit`. `apart`: the work tree is out of reach."""

    repository: Repository
    commit: str
    home: Path
    temporary: Path
    ctx: StepContext
    apart: bool
    marked: str = ""

    @property
    def root(self) -> Path:
        """The folder of the clone."""
        return self.repository.root

    def mark(self) -> None:
        """Note the files as they are."""
        self.marked = self.repository.stage_all()

    def reset(self) -> None:
        """Make the files what they were when they were noted, wherever HEAD is."""
        self.repository.restore_to(self.marked)

    def run(
        self, command: str, seconds: float, more: Mapping[str, str] | None = None
    ) -> CommandResult:
        """Run a command here for at most `seconds`, with `more` in its environment."""
        fresh = fresh_environment(self.home, self.temporary)
        text = with_environment(command, {**(more or {}), **fresh})
        if self.apart:
            text = out_of_reach(text, self.ctx.project.root, self.root)
        result = self.ctx.sandbox.run(text, cwd=self.root, limits=self.ctx.command_limits(seconds))
        return result.model_copy(update={"command": command})


@contextmanager
def clean_clone(ctx: StepContext) -> Iterator[CleanClone]:
    """A fresh clone of HEAD outside the project, removed at the end."""
    place = scratch(ctx)
    try:
        ctx.hold_head()  # commands may have moved it
        root = place / (ctx.project.root.name or "project")
        home, temporary = place / "home", place / "tmp"
        for each in (home, temporary):
            each.mkdir(parents=True)
        ctx.repository.clone(root)
        (root / FOLDER / LOCAL).mkdir(parents=True, exist_ok=True)
        there, commit = Repository(root), ctx.repository.head()
        yield CleanClone(there, commit, home, temporary, ctx, _can_hide(ctx, root))
    finally:
        remove_tree(place)


def fresh_environment(home: Path, temporary: Path) -> dict[str, str]:
    """Another home and other temporary files, with what toolchains keep in the person's home."""
    kept = {name: Path.home() / path for name, path in TOOLCHAINS.items()}
    named = {n: str(path) for n, path in kept.items() if path.exists() and n not in os.environ}
    return {**named, "HOME": str(home), "TMPDIR": str(temporary)}


def with_environment(command: str, environment: Mapping[str, str]) -> str:
    """A command as a script that sets variables first."""
    words = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
    return f"export {words}\n{command}" if words else command


def out_of_reach(command: str, hidden: Path, cwd: Path) -> str:
    """A command for which the folder `hidden` is empty, by bubblewrap."""
    words = ("bwrap", "--dev-bind", "/", "/", "--tmpfs", str(hidden), "--chdir", str(cwd))
    return f"exec {shlex.join((*words, '/bin/sh', '-c', command))}"


def _can_hide(ctx: StepContext, root: Path) -> bool:
    """Whether bubblewrap is here and works; where it does not, an evidence says so."""
    if root.is_relative_to(ctx.project.root):
        return False
    probe = out_of_reach("true", ctx.project.root, root)
    return ctx.sandbox.run(f"command -v bwrap >/dev/null && {probe}", cwd=root, limits=PROBE).ok
