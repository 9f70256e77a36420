"""Reads a repository with `git` processes that run side by side, for what has to answer at once.

Nothing here writes. It is not done by `GitCommand`: GitPython, which only command.py may use, takes
longer to import (0.1 s) than all of this to answer; and a git that fails is no error here, but no
repository. What git sees is decided there for both.
"""

import subprocess
import threading
from pathlib import Path

from foundry.store.git.command import SETTINGS, environment


class Reading:
    """One git process that has begun; `text` waits for what it prints."""

    def __init__(self, root: Path, *arguments: str) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._process = subprocess.Popen(
                ["git", *SETTINGS, "-c", "diff.renameLimit=200", *arguments],
                cwd=root,
                env={**environment(), "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except FileNotFoundError:
            return  # no git is no repository
        self._out = b""
        # read all the time: a full pipe would hold git up until somebody asks for its text
        self._reader = threading.Thread(target=self._drain, args=[self._process], daemon=True)
        self._reader.start()

    def text(self) -> str | None:
        """What git printed; None when it failed, as it does outside a repository."""
        if self._process is None:
            return None
        self._reader.join()
        return None if self._process.returncode else self._out.decode("utf-8", "surrogateescape")

    def _drain(self, process: "subprocess.Popen[bytes]") -> None:
        self._out, _ = process.communicate()


def head(root: Path) -> Reading:
    """The commit that is checked out."""
    return Reading(root, "rev-parse", "--verify", "--quiet", "HEAD")


def listed(root: Path) -> Reading:
    """Tracked and untracked files below a folder, not the ignored ones, each ended by NUL."""
    return Reading(
        root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"
    )


def unfinished(root: Path) -> Reading:
    """Files below a folder that are new or differ from what is staged, each ended by NUL."""
    return Reading(
        root, "ls-files", "-z", "--modified", "--others", "--exclude-standard", "--deduplicate"
    )


def changes(root: Path, commits: int) -> Reading:
    """The newest commits: \\x01, time, \\x02, message, \\x02, then `--name-status -z`."""
    return Reading(
        root,
        *("log", "-n", str(commits), "--no-merges", "--relative", "-z", "-M100%", "--name-status"),
        *("--no-ext-diff", "--no-textconv", "--format=%x01%ct%x02%B%x02"),
    )


def latest(root: Path, commits: int) -> Reading:
    """The newest commits, a line each: date and subject."""
    return Reading(root, "log", "-n", str(commits), "--format=%cs %s")
