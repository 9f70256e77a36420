"""What `.gitignore` files leave out of a folder that is no repository, as git itself judges.

`git check-ignore` is asked, with an empty repository elsewhere, one folder of a walk after another.
`git ls-files` would not do: it stops at repositories inside the folder, and goes through all of a
home directory before its first answer. No library would do either: of the three lines `*`, `!*/`
and `!*.log`, which leave nothing but logs, pathspec 1.1 makes something else.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

_ENOUGH = 4096
"""Bytes of names that are asked at once: they fit into a pipe, so that nobody waits for both."""
_FIELDS = 4
"""Of an answer: file, line and text of the rule that decides, and the name."""


class Ignored:
    """A git process that judges names in a folder; nothing is ignored where none can be had."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._process: subprocess.Popen[bytes] | None = None
        self._open = ExitStack()

    def __enter__(self) -> "Ignored":
        with suppress(OSError):  # no git, or nowhere to put an empty repository
            folder = self._open.enter_context(tempfile.TemporaryDirectory(prefix="foundry-"))
            for name in ("objects", "refs"):
                Path(folder, name).mkdir()
            Path(folder, "HEAD").write_text("ref: refs/heads/main\n")
            self._process = self._open.enter_context(_git(self._root, folder))
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(BrokenPipeError):
            self._open.close()

    def among(self, names: Sequence[str]) -> set[str]:
        """The names that are ignored, of paths below folders that are not."""
        # behind "./", because a name may begin with ":", which means something to git
        asked = [b"./" + os.fsencode(name) + b"\0" for name in names]
        verdicts = [each for batch in _batches(asked) for each in self._judged(batch)]
        return {name for name, is_ignored in zip(names, verdicts, strict=True) if is_ignored}

    def _judged(self, asked: Sequence[bytes]) -> list[bool]:
        if self._process is None:
            return [False] * len(asked)
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        answer = b""
        with suppress(BrokenPipeError):  # then the answer has an end too
            stdin.write(b"".join(asked))
            stdin.flush()
        while answer.count(b"\0") < _FIELDS * len(asked):
            if not (more := os.read(stdout.fileno(), 1 << 16)):
                return [False] * len(asked)
            answer += more
        rules = answer.split(b"\0")[2::_FIELDS]
        return [bool(rule) and not rule.startswith(b"!") for rule in rules]


def _batches(asked: Sequence[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for each in asked:
        if batch and size + len(each) > _ENOUGH:
            yield batch
            batch, size = [], 0
        batch.append(each)
        size += len(each)
    if batch:
        yield batch


def _git(root: Path, repository: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        ["git", f"--git-dir={repository}", "--work-tree=.", "check-ignore", "--stdin", "-z",
         "--no-index", "--verbose", "--non-matching"],
        cwd=root,
        env={name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
