"""The files of a project that are worth indexing: of what kind, whether changed, their content.

What a file is, is told from its path alone. Which there are, a repository knows itself; a plain
folder is walked, leaving out what `.gitignore` files do, as git itself judges: `git check-ignore`
is asked, with an empty repository elsewhere, one folder of a walk after another. `git ls-files`
would not do: it stops at repositories inside the folder, and goes through all of a home directory
before its first answer. No library would do either: of the three lines `*`, `!*/` and `!*.log`,
which leave nothing but logs, pathspec 1.1 makes something else. Links are never followed.
"""

import os
import re
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from enum import IntEnum
from pathlib import Path

from foundry.files import read_bytes_bounded

SOURCE = frozenset(
    """py pyi ts tsx js jsx cjs mjs mts cts vue svelte go rs java kt kts scala c h cc cpp cxx hpp
    hh m mm swift cs fs rb php pl lua r jl ex exs erl hs clj dart zig nim sh bash zsh fish ps1
    sql proto graphql""".split()  # noqa: SIM905
)
PROSE = frozenset(["md", "mdx", "rst", "txt", "adoc"])
SETTINGS = frozenset(
    """json jsonc json5 yaml yml toml ini cfg conf html htm css scss sass less xml tmpl jinja j2
    tf hcl nix gradle mod properties env""".split()  # noqa: SIM905
)
BARE = frozenset(["makefile", "dockerfile", "justfile", "rakefile", "gemfile", "procfile"])

_TEST = re.compile(
    r"(^|/)(tests?|__tests__|__mocks__|testdata|test-?utils|testing|fixtures|e2e|specs?)/"
    r"|(^|/)(test_[^/]*|conftest)\.py$|[._-](test|spec|tests)\.\w+$|(^|/)tests?\.rs$|_tests?\.\w+$",
    re.IGNORECASE,
)
_AUXILIARY = re.compile(
    r"(^|/)(docs?|examples?|samples?|\.github|migrations|vendor(ed)?|third[_-]party|node_modules"
    r"|dist|build|__generated__|generated)/",
    re.IGNORECASE,
)
_GENERATED = re.compile(
    r"\.min\.(js|css)$|\.(pb|gen)\.go$|_pb2(_grpc)?\.pyi?$|\.d\.ts$|\.(lock|map|snap|svg)$"
    r"|(^|/)(package-lock\.json|pnpm-lock\.yaml|yarn\.lock|go\.sum|npm-shrinkwrap\.json)$",
    re.IGNORECASE,
)


class Kind(IntEnum):
    """What a file is for; the order is that of interest to somebody who changes code."""

    SOURCE = 0
    SETTINGS = 1
    PROSE = 2
    TEST = 3
    AUXILIARY = 4
    GENERATED = 5


def suffix(path: str) -> str:
    """The ending of a file's name, lower-case, without the dot."""
    name = path.rpartition("/")[2].lower()
    return name if name in BARE else name.rpartition(".")[2]


def kind(path: str) -> Kind | None:
    """What a file is; None for what isn't text that a person writes."""
    ending = suffix(path)
    if _GENERATED.search(path):
        return Kind.GENERATED
    if ending in SOURCE:
        if _TEST.search(path):
            return Kind.TEST
        return Kind.AUXILIARY if _AUXILIARY.search(path) else Kind.SOURCE
    if ending in PROSE:
        return Kind.PROSE
    return Kind.SETTINGS if ending in SETTINGS or ending in BARE else None


Stamp = tuple[int, int, int]
"""Size, and the times of the last change of content and of inode, in nanoseconds."""
LARGEST = 512 * 1024
"""Bytes. A larger file is data, or nobody's reading."""
MOST_FILES = 20_000
"""What a plain folder is read up to."""
OURS = ".context-foundry/"
"""What Foundry itself writes about a build is not the project."""
_SKIPPED = frozenset(
    """node_modules bower_components venv env __pycache__ site-packages target dist build out
    vendor coverage htmlcov""".split()  # noqa: SIM905
)


def stamps(root: Path, listed: str | None) -> dict[str, Stamp]:
    """Stamps by path, from what git lists, or from a walk where there is no repository.

    Links are left out: what they lead to is listed itself, or lies outside.
    """
    names: Iterable[str] = listed.split("\0") if listed else walk(root)
    base = os.path.realpath(root)
    inside: dict[str, bool] = {}
    found: dict[str, Stamp] = {}
    for name in sorted(set(names)):
        if not worth_indexing(name):
            continue
        folder = name.rpartition("/")[0]
        if folder not in inside:
            real = os.path.realpath(f"{base}/{folder}")
            inside[folder] = f"{real}/".startswith(f"{base.rstrip('/')}/")
        if inside[folder] and (stamp := _stamp(f"{base}/{name}")):
            found[name] = stamp
    return found


def worth_indexing(name: str) -> bool:
    """Is this the name of a text that a person writes?"""
    ours = name.startswith(OURS)
    return name.isprintable() and not ours and kind(name) not in (None, Kind.GENERATED)


def _stamp(path: str) -> Stamp | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None  # deleted but still listed, or not for us to see
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def read(root: Path, path: str) -> bytes:
    """The content of a file, not through a link, as much as counts; empty when it can't be had."""
    return read_bytes_bounded(root / path, LARGEST + 1) or b""


def walk(root: Path) -> Iterator[str]:
    """The files of a folder without git: none hidden, ignored, or put there by tools."""
    left = MOST_FILES
    with Ignored(root) as ignored:
        for folder, folders, files in os.walk(root):
            below = os.path.relpath(folder, root)
            prefix = "" if below == "." else below.replace(os.sep, "/") + "/"
            inner = [each for each in folders if not each.startswith(".") and each not in _SKIPPED]
            names = [each for each in files if not each.startswith(".")]
            left_out = ignored.among([prefix + each for each in inner + names])
            folders[:] = sorted(each for each in inner if prefix + each not in left_out)
            found = sorted({prefix + each for each in names} - left_out)
            yield from found
            left -= len(found)
            if left <= 0:
                return


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
