"""Commits as questions: the message asks, the source files that were changed are the answer.

The format is that of the retrieval benchmark, one JSON object a line, so that its evaluator reads
these cases too.
"""

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from foundry.context.retrieval.files import Kind, kind, suffix
from foundry.context.retrieval.languages import definitions
from foundry.store.git.read import Reading
from foundry.tokenize import IDENTIFIER, is_compound
from scripts.fitting.snapshot import Blobs

LANGUAGES = frozenset("py ts tsx js jsx cjs mjs go rs".split())  # noqa: SIM905
"""Endings of what may be a right answer."""
MOST_RIGHT, MOST_NEW, MOST_CHANGED = 4, 3, 15
"""A commit that changes more source files, adds more, or touches more of any kind, is no answer
to one question."""
SHORTEST = 18
"""Characters of a subject that asks for something."""
OLDEST = 0.07
"""The share of the oldest commits that are left out: there was no history to learn from."""
FEWEST_FILES, MOST_FILES = 18, 2000
"""Source files of a project in which finding one is a question, and can be measured in time."""

_NOISE = (
    re.compile(r"https?://\S+"),
    re.compile(r"\(?(?:GH-|[\w.-]+/[\w.-]+)?#\d+\)?"),
    re.compile(r"^[A-Z][\w-]+-by: .*$", re.MULTILINE),
    re.compile(r"^\(cherry picked.*$", re.MULTILINE),
)
_HOUSEKEEPING = re.compile(
    r"revert|bump|release|merge|v?\d|chore\(deps|update changelog|wip|lint|format|prepare|version",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Case:
    """A question to a repository as it was at `parent`; `gold` are the right answers.

    `also` are the other files that the commit changed. `names_path`, `names_symbol` and
    `names_stem` say whether the question writes out a right file's name, something that it
    defines, or its name without ending.
    """

    repo: str
    sha: str
    parent: str
    query: str
    gold: Sequence[str]
    also: Sequence[str] = ()
    names_path: bool = False
    names_symbol: bool = False
    names_stem: bool = False
    n_source: int = 0
    origin: str = "made"

    @property
    def names_nothing(self) -> bool:
        return not (self.names_path or self.names_symbol or self.names_stem)


def load(path: Path) -> list[Case]:
    """The cases of a file; what only its evaluator knows is left out."""
    known = {field.name for field in fields(Case)}
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line)
    return [
        Case(**{**{k: v for k, v in row.items() if k in known}, "origin": path.stem})
        for row in rows
    ]


def save(path: Path, cases: Iterable[Case]) -> None:
    path.write_text("".join(json.dumps(asdict(case)) + "\n" for case in cases), encoding="utf-8")


def is_answer(path: str) -> bool:
    """May this file be a right answer: source, no test, example or vendored code?"""
    return kind(path) is Kind.SOURCE and suffix(path) in LANGUAGES


def make(repository: Path, count: int) -> list[Case]:
    """At most `count` cases, spread evenly over a repository's history; the same ones each time."""
    fit = list(_fitting(repository))
    count = min(count, len(fit))
    chance = random.Random(repository.name)
    step = len(fit) / max(1, count)
    chosen = [fit[int((place + chance.random()) * step)] for place in range(count)]
    with Blobs(repository) as blobs:
        return [case for each in chosen if (case := _completed(repository, each, blobs))]


def _fitting(repository: Path) -> Iterator[Case]:
    log = Reading(
        repository,
        *("log", "--no-merges", "-z", "--no-renames", "--name-status"),
        "--format=%x01%H%x02%P%x02%an%x02%B%x02",
    ).text()
    entries = (log or "").split("\x01")[1:]
    for entry in entries[: int(len(entries) * (1 - OLDEST))]:
        parts = entry.split("\x02")
        if len(parts) != 5:
            continue  # a message with such characters
        sha, parent, author, message, changes = parts
        rows = changes.strip("\0\n").split("\0")
        changed = [(s.strip(), p) for s, p in zip(rows[::2], rows[1::2], strict=False)]
        gold = _answers(changed)
        query = _question(message)
        if gold and query and parent and " " not in parent and "bot" not in author.lower():
            also = [path for status, path in changed if status == "M" and path not in gold]
            yield Case(repository.name, sha, parent, query, gold, also)


def _answers(changed: Sequence[tuple[str, str]]) -> list[str]:
    """The right answers among (status, path); none if the commit is no answer to one question."""
    new = sum(status == "A" and is_answer(path) for status, path in changed)
    gold = [path for status, path in changed if status == "M" and is_answer(path)]
    other_type = any(status == "T" for status, _ in changed)
    fits = len(changed) <= MOST_CHANGED and new <= MOST_NEW and len(gold) <= MOST_RIGHT
    return gold if fits and not other_type else []


def _question(message: str) -> str:
    """A message without links, numbers and trailers; empty when its subject asks for nothing."""
    for noise in _NOISE:
        message = noise.sub("", message)
    text = re.sub(r"\n{3,}", "\n\n", message).strip()
    subject = text.partition("\n")[0]
    return "" if len(subject) < SHORTEST or _HOUSEKEEPING.match(subject) else text


def _completed(repository: Path, case: Case, blobs: Blobs) -> Case | None:
    """A case with what is known of its parent; None when that is too small or too large."""
    tree = Reading(repository, "ls-tree", "-r", "-z", "--name-only", case.parent).text() or ""
    count = sum(map(is_answer, tree.split("\0")))
    if not FEWEST_FILES <= count <= MOST_FILES:
        return None
    low = case.query.lower()
    names = [path.rpartition("/")[2].lower() for path in case.gold]
    stems = [re.escape(name.partition(".")[0]) for name in names]
    written = {name for name in IDENTIFIER.findall(case.query) if is_compound(name)}
    return Case(
        **{
            **asdict(case),
            "names_path": any(name in low for name in names),
            "names_stem": any(re.search(rf"\b{stem}\b", low) for stem in stems),
            "names_symbol": any(
                written & set(definitions(path, blobs.text(f"{case.parent}:{path}")))
                for path in case.gold
            ),
            "n_source": count,
        }
    )
