"""The git command line, run by GitPython.

Every call runs no hooks, signs nothing and asks nothing, so that what stands in the project can't
steer it; it carries a mark in its environment, by which a later process finds what a killed one
left running; and it ends with the call, whatever ends that.
"""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from shutil import which
from typing import cast

from foundry.config import home
from foundry.errors import ProjectError
from foundry.files import atomic_write

GIT_MARK = "FOUNDRY_GIT"
"""The environment variable of every git that we run: `<our pid>:<its work tree>`."""

DENIED = "Permission denied"
"""What git says of a file or folder that is closed to us."""

TIMED_OUT = 124
GRACE_SECONDS = 5.0
"""A git that is told to end removes its locks first."""

INHERITED = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"),
    *("GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_ALTERNATE_OBJECT_DIRECTORIES"),
)
"""As set where a git hook calls us: they would point elsewhere."""

SETTINGS = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.quotePath=false"),
    *("-c", "log.showSignature=false"),
)
"""Of every git that we run: nothing of the project's own is run, and names are as they are."""

_WRITING = (
    *("-c", "commit.gpgSign=false"),
    *("-c", "gc.auto=0"),
    *("-c", "advice.detachedHead=false"),
    *("-c", "user.useConfigOnly=true"),
)
_JUNK = """\
.context-foundry/local/
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
    """Runs git in one folder. `before` is called before every run: it puts settings back."""

    def __init__(self, root: Path, before: Callable[[], None] = lambda: None) -> None:
        self.root = root
        self._before = before

    def run(self, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        """Run git and return what it printed.

        Raises ProjectError with git's own words when it fails.
        """
        status, out, err = self.attempt(*arguments, env=env)
        if status:
            raise self.failure(arguments[0], err or out)
        return out

    def attempt(
        self, *arguments: str, env: Mapping[str, str] | None = None, seconds: float | None = None
    ) -> tuple[int, str, str]:
        """Run git and return its exit code, output and errors; it is ended after `seconds`.

        Raises ProjectError when git can't be started.
        """
        self._before()
        settings = (*SETTINGS, *_WRITING, "-c", f"core.excludesFile={_excludes()}")
        with _started((*settings, *arguments), self.root, env or {}) as process:
            try:
                out, err = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                _end(process)
                return TIMED_OUT, "", f"no answer within {seconds:g} s"
            except BaseException:  # Ctrl-C among others: nothing may go on behind our back
                _end(process)
                raise
        return process.returncode, _text(out), _text(err)

    def failure(self, what: str, said: str) -> ProjectError:
        """The error that a failed git stands for."""
        if "not a git repository" in said:
            return ProjectError(
                f"{self.root} is no git repository any more: its .git was removed or damaged",
                hint="Bring .git back from a backup, or start a new run; the files are untouched",
            )
        return ProjectError(f"git {what} failed in {self.root}: {last_line(said)}")


def version() -> str:
    """Git's version; raises ProjectError without git."""
    with _started(["--version"], Path.cwd(), {}) as process:
        return _text(process.communicate()[0]).strip().removeprefix("git version ")


def environment() -> dict[str, str]:
    """What every git that we run sees: the person's environment without what points elsewhere and
    without keys. It asks nothing, since nobody is there to type, and speaks English."""
    seen = {
        name: value
        for name, value in os.environ.items()
        if name not in INHERITED and not name.startswith("ANTHROPIC_")
    }
    return {
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
        **seen,
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
        "LANGUAGE": "C",
    }


def _started(
    arguments: Sequence[str], folder: Path, env: Mapping[str, str]
) -> "subprocess.Popen[bytes]":
    if which("git") is None:
        raise ProjectError("git is not installed", hint="Install git 2.30 or newer")
    from git import Git
    from git.exc import GitCommandNotFound

    seen = environment()
    ours = {
        # A project whose own .git is gone must never be taken for a part of a repository above it.
        "GIT_CEILING_DIRECTORIES": os.path.realpath(folder.parent),
        GIT_MARK: f"{os.getpid()}:{os.path.realpath(folder)}",
    }
    # GitPython adds to the environment that it has, and takes nothing out
    unset = [word for name in sorted(os.environ.keys() - seen.keys()) for word in ("-u", name)]
    # `-C`, since GitPython runs git in the current folder when this one is gone or closed
    there = ("git", "-C", os.fspath(folder.absolute()))
    try:
        started = Git(folder).execute(
            [*(("env", *unset) if unset else ()), *there, *arguments],
            env={**seen, **ours, **env},
            as_process=True,
            start_new_session=True,  # so that all of it can be ended, and Ctrl-C strikes us alone
        )
    except GitCommandNotFound as error:
        raise ProjectError(f"cannot run git in {folder}: {error.__cause__}") from error
    except OSError as error:
        raise ProjectError(f"cannot run git in {folder}: {error.strerror}") from error
    except ValueError as error:  # a NUL byte
        raise ProjectError(f"cannot run git in {folder}: {error}") from error
    process = cast("subprocess.Popen[bytes]", started.proc)
    started.proc = None  # GitPython would end git alone, and not its children
    return process


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a git and what it started; a second interrupt cuts the grace short, never the end."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(GRACE_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        pass
    finally:
        with suppress(OSError):  # nobody is left in the group
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _excludes() -> Path:
    """Our list of what is never worth a commit; it stands in for the user's global one.

    Named by what it holds, so that another version of Foundry has its own.
    """
    path = home() / f"git-excludes-{sha256(_JUNK.encode()).hexdigest()[:8]}"
    if not path.exists():
        atomic_write(path, _JUNK)
    return path


def last_line(text: str) -> str:
    """The last words of a message, which say what went wrong."""
    lines: Sequence[str] = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def _text(raw: bytes) -> str:
    return raw.decode(errors="surrogateescape")
