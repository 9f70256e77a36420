"""A repository at one commit after another, from git's objects, without a checkout."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from foundry.context.retrieval.analysis import Facts, analyse
from foundry.context.retrieval.files import LARGEST, Kind, kind, worth_indexing
from foundry.context.retrieval.history import COMMITS, read_log
from foundry.context.retrieval.index import Index, build
from foundry.store.git import read as git_read

_NO_FILES = ("120000", "160000")
"""The modes of links and submodules."""


@dataclass(frozen=True)
class Snapshot:
    """What `foundry context find` would know in a checkout; `read` gives a file's text."""

    index: Index
    read: Callable[[str], str]


class Blobs:
    """The contents of a repository's objects, by one git process that is asked again and again."""

    def __init__(self, repository: Path) -> None:
        self._process = subprocess.Popen(
            ["git", "-C", str(repository), "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "GIT_NO_LAZY_FETCH": "1"},
        )

    def __enter__(self) -> "Blobs":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def content(self, name: str) -> bytes | None:
        """An object's content; None when it isn't there, as in a clone without large files."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(os.fsencode(name) + b"\n")
        stdin.flush()
        header = stdout.readline().split()
        if len(header) != 3 or header[1] != b"blob":
            return None
        content = stdout.read(int(header[2]))
        stdout.read(1)
        return content

    def text(self, name: str) -> str:
        """The text that retrieval would read of a file."""
        return (self.content(name) or b"")[: LARGEST + 1].decode("utf-8", "replace")


class Snapshots:
    """The snapshots of one repository; what the last one knew of unchanged files is used again."""

    def __init__(self, repository: Path, scratch: Path) -> None:
        # a bare clone that borrows the objects: its HEAD moves, and so nothing later is in its log
        self._clone = scratch / repository.name
        _git("clone", "--quiet", "--bare", "--shared", str(repository.resolve()), str(self._clone))
        self._facts: dict[tuple[str, str], Facts] = {}

    def at(self, commit: str, blobs: Blobs) -> Snapshot:
        """The repository at a commit."""
        _git("-C", str(self._clone), "update-ref", "--no-deref", "HEAD", commit)
        log = git_read.changes(self._clone, COMMITS)
        objects = self._files(commit)
        facts = {}
        for path, sha in objects.items():
            known = self._facts.get((sha, path))
            if known is None and (content := blobs.content(sha)) is not None:
                known = analyse(path, kind(path) or Kind.SOURCE, content[: LARGEST + 1])
            if known is not None:
                facts[path] = known
        self._facts = {(objects[path], path): each for path, each in facts.items()}
        numbers = {path: number for number, path in enumerate(facts)}
        index = build(facts, read_log(log.text() or "", numbers))
        return Snapshot(index, lambda path: blobs.text(objects[path]))

    def _files(self, commit: str) -> dict[str, str]:
        """The objects of the files worth indexing, by path."""
        listing = git_read.Reading(self._clone, "ls-tree", "-r", "-z", commit).text() or ""
        found = {}
        for row in listing.split("\0")[:-1]:
            about, path = row.split("\t", 1)
            mode, _, sha = about.split()
            if mode not in _NO_FILES and worth_indexing(path):
                found[path] = sha
        return dict(sorted(found.items()))


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, stdout=subprocess.DEVNULL)
