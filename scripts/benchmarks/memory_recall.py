"""Recall: a commit that cites an earlier change has to find it again without the citation.

`RETRIEVAL_REPOSITORIES` names a folder of clones, one folder OWNER+NAME each, with their history.
A case is a commit whose message cites exactly one of the 200 commits before it (merges aside), by
the number of its pull request or by its hash. All commits are stored as turns: the message is what
was said, the changes of each file are a call, and the subject is the summary. Then the citing
commit asks, and of the 200 before it the cited one has to be among the first three. Numbers,
hashes and addresses are removed from everything that is stored and asked, trailers too.

The constants of the ranking were chosen on repositories whose name has an odd MD5; the others are
held out. Reported for them: asked with message and changes, as for someone who goes on from there;
the same without commits that revert one (their subject repeats the other's); asked with the
message alone; and, to compare, BM25 over the full text alone, without the other signals.
"""

import math
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import md5
from pathlib import Path

from foundry.schema.memory import (
    CallMade,
    ContextSnapshot,
    Draft,
    Filter,
    Moment,
    Sought,
    Touched,
)
from foundry.store.memory.store import ContextMemoryStore
from foundry.tokenize import IDENTIFIER, terms
from scripts.benchmarks.figure import Figure

FOLDER = "RETRIEVAL_REPOSITORIES"
WINDOW, MOST_CASES, FIRST = 200, 40, 3
LONGEST_FILE, LONGEST_DIFF = 20_000, 120_000
START = datetime(2020, 1, 1, tzinfo=UTC)
GOAL = 80

_OWN = re.compile(r"\(#(\d+)\)\s*$")
_CITED = re.compile(r"(?:(?<![\w/&])#|\bGH-|/(?:pull|issues)/)(\d{1,6})\b")
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")
_REVERT = re.compile(r"\W*(?:revert|back out|roll ?back|undo)", re.IGNORECASE)
_REMOVED = (
    re.compile(r"^(?:[a-z-]+-by: .*|\(cherry picked.*|change-id: .*)$", re.I | re.M),
    re.compile(r"https?://\S+"),
    re.compile(r"\(?(?<![\w&])#\d+\)?|\bGH-\d+"),
    _HASH,
    re.compile(r"(?:pull|issues|commit)/\w+"),
)


@dataclass(frozen=True)
class Commit:
    hash: str
    message: str

    @property
    def own(self) -> int | None:
        """The number of its pull request."""
        found = _OWN.search(self.message.split("\n")[0])
        return int(found[1]) if found else None


@dataclass(frozen=True)
class Change:
    """A commit without citations."""

    message: str
    files: tuple[tuple[str, str], ...]
    """Each path with what changed in it."""

    @property
    def code(self) -> str:
        return "\n".join(
            line[1:]
            for _, diff in self.files
            for line in diff.split("\n")
            if line[:1] in ("+", "-") and line[:4] not in ("+++ ", "--- ")
        )


@dataclass(frozen=True)
class Case:
    """The places of a citing and a cited commit, newest first."""

    citing: int
    cited: int
    revert: bool


@dataclass(frozen=True)
class Found:
    """The place of the right one, from 0, for each way to ask."""

    revert: bool
    at_hand: int
    asked: int
    full_text: int


def measure() -> list[Figure]:
    folder = os.environ.get(FOLDER, "")
    repositories = sorted(Path(folder).glob("*+*")) if folder else []
    if not repositories:
        print(f"memory: recall not measured: set {FOLDER} (see memory_recall.py)", file=sys.stderr)
        return []
    found: dict[bool, list[Found]] = {True: [], False: []}
    for repository in repositories:
        print(f"  {repository.name}", file=sys.stderr, flush=True)
        found[is_held_out(repository.name)] += list(results(repository))
    return [*_figures(found[True], "held out", GOAL), *_figures(found[False], "tuned on", None)]


def is_held_out(name: str) -> bool:
    return int(md5(name.encode()).hexdigest(), 16) % 2 == 0


def _figures(found: Sequence[Found], which: str, goal: float | None) -> Iterator[Figure]:
    if not found:
        return
    plain = [each for each in found if not each.revert]

    def figure(
        name: str, some: Sequence[Found], place: Callable[[Found], int], least: float | None = None
    ) -> Figure:
        hits = [sum(place(each) < first for each in some) for first in (1, FIRST, 10)]
        shares = [100 * count / max(1, len(some)) for count in hits]
        detail = f"{len(some)} cases; first {shares[0]:.1f}%, among ten {shares[2]:.1f}%"
        return Figure(f"{name}, {which}", shares[1], "%", least, least=True, detail=detail)

    yield figure("recall: cited change among the first 3", found, lambda f: f.at_hand, goal)
    yield figure("... reverts aside", plain, lambda f: f.at_hand)
    yield figure("... asked with the message alone", found, lambda f: f.asked)
    yield figure("... BM25 over full text, message alone", found, lambda f: f.full_text)


def results(repository: Path) -> Iterator[Found]:
    git = _git_dir(repository)
    commits = _log(git)
    cases = _cases(commits)
    if not cases:
        return
    needed = sorted({n for case in cases for n in range(case.citing, case.citing + WINDOW + 1)})
    due = {case.citing: case for case in cases}
    with tempfile.TemporaryDirectory(prefix="foundry-memory-") as folder:
        store = ContextMemoryStore(Path(folder) / "memory.db", clean=lambda text: text)
        places: dict[str, int] = {}
        window: list[tuple[int, Change]] = []
        for number, change in _changes(git, commits, needed[::-1]):
            if case := due.get(number):
                yield _found(store, places, window, case, change)
            places[_keep(store, change, number)] = number
            window = [*window[-WINDOW + 1 :], (number, change)]
        store.close()


def _found(
    store: ContextMemoryStore,
    places: dict[str, int],
    window: Sequence[tuple[int, Change]],
    case: Case,
    change: Change,
) -> Found:
    which = Filter(since=_time(case.citing + WINDOW))
    at_hand = Sought(
        text=change.message, code=change.code, paths=tuple(path for path, _ in change.files)
    )
    full = _full_text(change.message, window)

    def rank(sought: Sought) -> int:
        numbers = [places[head.id] for head in store.search(sought, which, WINDOW)]
        return numbers.index(case.cited) if case.cited in numbers else WINDOW

    asked = rank(Sought(text=change.message))
    return Found(case.revert, rank(at_hand), asked, full.index(case.cited))


def _keep(store: ContextMemoryStore, change: Change, number: int) -> str:
    snapshot = ContextSnapshot(
        said=change.message,
        calls=tuple(CallMade(tool="edit_file", arguments={"path": path}, result=diff)
                    for path, diff in change.files),
        files=tuple(Touched(path=path, deeds="edited") for path, _ in change.files),
    )  # fmt: skip
    at = _time(number)
    moment = Moment(run="history", turn=1, began=at, ended=at, snapshot=snapshot)
    return store.store(moment, Draft(text=change.message.split("\n")[0] or "-"))


def _time(number: int) -> datetime:
    """Commits count from the newest, so that a higher number is earlier."""
    return START + timedelta(minutes=1_000_000 - number)


def _full_text(query: str, window: Sequence[tuple[int, Change]]) -> list[int]:
    """The window by Okapi BM25 over message and changes, best first."""
    texts = [_terms(change.message + "\n" + change.code) for _, change in window]
    lengths = [sum(text.values()) for text in texts]
    mean = sum(lengths) / len(lengths) or 1.0
    having = Counter(term for text in texts for term in text)
    scores = [0.0] * len(texts)
    for term in _terms(query):
        rare = math.log(1 + (len(texts) - having[term] + 0.5) / (having[term] + 0.5))
        for n, text in enumerate(texts):
            times = text[term]
            scores[n] += rare * times * 2.2 / (times + 1.2 * (0.5 + 0.5 * lengths[n] / mean))
    order = sorted(range(len(texts)), key=lambda n: (-scores[n], -n))
    return [window[n][0] for n in order]


def _terms(text: str) -> Counter[str]:
    return Counter(term for name in IDENTIFIER.findall(text) for term in terms(name))


def _cases(commits: Sequence[Commit]) -> list[Case]:
    found = []
    for number, commit in enumerate(commits[:-WINDOW]):
        before = range(number + 1, number + WINDOW + 1)
        cited = {int(each) for each in _CITED.findall(commit.message)} - {commit.own}
        hashes = _HASH.findall(commit.message)
        if not cited and not hashes:
            continue
        hits = [n for n in before if commits[n].own in cited
                or any(commits[n].hash.startswith(each) for each in hashes)]  # fmt: skip
        if len(hits) == 1:
            found.append(Case(number, hits[0], bool(_REVERT.match(commit.message))))
    if len(found) > MOST_CASES:
        found = sorted(random.Random(5).sample(found, MOST_CASES), key=lambda case: case.citing)
    return found


def _git_dir(repository: Path) -> Path:
    return next((each for each in (repository / "repo", repository / ".git") if each.is_dir()),
                repository)  # fmt: skip


def _log(git: Path) -> list[Commit]:
    out = _git(git, "log", "--no-merges", "--date-order", "--format=%x01%H%x02%B")
    pairs = (entry.split("\x02", 1) for entry in out.split("\x01")[1:])
    return [Commit(sha, message.strip()) for sha, message in pairs]


def _changes(
    git: Path, commits: Sequence[Commit], numbers: Sequence[int]
) -> Iterator[tuple[int, Change]]:
    """The commits with these numbers without citations, in this order."""
    for start in range(0, len(numbers), 50):
        some = numbers[start : start + 50]
        shown = _diffs(git, [commits[n].hash for n in some])
        for number in some:
            commit = commits[number]
            files = tuple((path, clean(diff)) for path, diff in shown.get(commit.hash, ()))
            yield number, Change(clean(commit.message), files)


def _diffs(git: Path, hashes: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    out = _git(git, "show", "--no-color", "--no-ext-diff", "--no-textconv", "-M", "-U2",
               "--format=%x01%H%x02", *hashes)  # fmt: skip
    found: dict[str, list[tuple[str, str]]] = {}
    for entry in out.split("\x01"):
        sha, mark, text = entry.partition("\x02")
        if mark and len(sha) == 40:
            found[sha] = list(_files(text))
    return found


def _files(text: str) -> Iterator[tuple[str, str]]:
    room = LONGEST_DIFF
    for part in re.split(r"^diff --git ", text, flags=re.M)[1:]:
        names = re.match(r"a/.*? b/(.*)", part)
        kept = part[: min(room, LONGEST_FILE)]
        room -= len(kept)
        yield names[1] if names else "", kept.partition("\n@@")[2]


def _git(git: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(git), *arguments], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace")


def clean(text: str) -> str:
    """Text without what cites another change."""
    for pattern in _REMOVED:
        text = pattern.sub(" ", text)
    return text
