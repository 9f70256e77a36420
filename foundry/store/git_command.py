"""The git command line through GitPython: the only module that imports it.

The command line and not GitPython's own index: for a commit in a large tree it is an order of
magnitude faster. Every call runs no hooks, signs nothing and asks nothing, so that what stands in
the project can't steer it.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from foundry.config import home
from foundry.errors import ProjectError
from foundry.files import atomic_write

if TYPE_CHECKING:
    from git.cmd import Git

_INHERITED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX")
_SETTINGS = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.quotePath=false"),
    *("-c", "commit.gpgSign=false"),
    *("-c", "gc.auto=0"),
    *("-c", "advice.detachedHead=false"),
    *("-c", "user.useConfigOnly=true"),
)
_JUNK = """\
__pycache__/
*.pyc
*.egg-info/
.venv/
venv/
node_modules/
.pytest_cache/
.mypy_cache/
.ruff_cache/
.coverage
.DS_Store
*.swp
"""


class GitCommand:
    """Runs git in one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._git = _git(root)

    def run(self, *arguments: str, env: Mapping[str, str] | None = None, check: bool = True) -> str:
        """Run git and return what it printed; a failure is a ProjectError with git's own words."""
        status, out, err = self.attempt(*arguments, env=env)
        if status and check:
            raise ProjectError(f"git {arguments[0]} failed in {self.root}: {last_line(err or out)}")
        return out

    def attempt(
        self, *arguments: str, env: Mapping[str, str] | None = None, seconds: float | None = None
    ) -> tuple[int, str, str]:
        """Run git and return its exit code, output and errors; it is killed after `seconds`."""
        from git.exc import GitCommandNotFound

        command = ["git", *_SETTINGS, "-c", f"core.excludesFile={_excludes()}", *arguments]
        try:
            status, out, err = self._git.execute(
                command,
                env=dict(env or {}),
                with_extended_output=True,
                with_exceptions=False,
                strip_newline_in_stdout=False,
                kill_after_timeout=seconds,
            )
        except GitCommandNotFound as error:
            raise _no_git() from error
        return int(status), _text(out), _text(err)


def version() -> str:
    """Git's version; raises ProjectError without git."""
    from git.exc import GitCommandNotFound

    try:
        return str(_git(Path.cwd()).execute(["git", "--version"])).removeprefix("git version ")
    except GitCommandNotFound as error:
        raise _no_git() from error


def _git(root: Path) -> "Git":
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    from git.cmd import Git

    git = Git(str(root))
    # A project whose own .git is gone must never be taken for a part of a repository above it.
    ceiling = os.path.realpath(root.parent)
    git.update_environment(GIT_TERMINAL_PROMPT="0", LC_ALL="C", GIT_CEILING_DIRECTORIES=ceiling)
    if "GIT_SSH_COMMAND" not in os.environ:  # nobody is there to type a passphrase
        git.update_environment(GIT_SSH_COMMAND="ssh -oBatchMode=yes")
    for name in _INHERITED:  # as set when a git hook calls us: they would point elsewhere
        os.environ.pop(name, None)
    return git


def _excludes() -> Path:
    """Our list of what is never worth a commit; it stands in for the user's global one."""
    path = home() / "git-excludes"
    if not path.exists():
        atomic_write(path, _JUNK)
    return path


def _no_git() -> ProjectError:
    return ProjectError("git is not installed", hint="Install git 2.30 or newer")


def last_line(text: str) -> str:
    """The last words of a message, which say what went wrong."""
    lines: Sequence[str] = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def _text(raw: object) -> str:
    return raw if isinstance(raw, str) else bytes(raw).decode(errors="surrogateescape")  # type: ignore[call-overload]
