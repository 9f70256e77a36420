"""The transaction: artifacts, journal line, one commit, in this order.

A kill between any two of these leaves one of the three cases that `recover` knows.
"""

from collections.abc import Mapping
from unicodedata import category

from foundry.files import atomic_write
from foundry.schema.journal import Attempt, Intent, Resume, Start, StepRecord, Stop
from foundry.store import journal, runs
from foundry.store.git.query import CHAIN_TRAILER, RUN_TRAILER, STEP_TRAILER
from foundry.store.git.repository import Repository
from foundry.store.project import FOLDER, LOCAL, Project

PATHSPECS = (FOLDER, f":(exclude){FOLDER}/{LOCAL}")
"""Pathspecs of what is committed even where a project ignores it."""

JOURNAL = f"{FOLDER}/journal.jsonl"

REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

MAX_BODY = 10_000
"""Characters of a commit message: it is an argument of git, and the whole is in the journal."""

Committed = StepRecord | Attempt | Intent | Stop | Resume


def accept(
    project: Project, repository: Repository, entry: Committed, artifacts: Mapping[str, str]
) -> tuple[Committed, str]:
    """Write, journal and commit `entry`; returns it with its tree, and the commit's hash."""
    for name, text in artifacts.items():
        atomic_write(project.artifact(name), text)
    entry = entry.model_copy(update={"tree": stage(repository)})
    entry = journal.append(project.journal, entry)
    return entry, commit(repository, entry)


def begin(project: Project, repository: Repository, entry: Start) -> str:
    """The first commit of a run. It has no tree to compare with: nothing precedes it."""
    journal.append(project.journal, entry)
    stage(repository)
    return commit(repository, entry)


def stage(repository: Repository) -> str:
    """Put into the index all that a commit of ours holds; returns the hash of that tree."""
    return repository.stage_all(always=PATHSPECS)


def commit(repository: Repository, entry: Start | Committed) -> str:
    """Commit the index and the journal as what `entry` tells; also how resume ends a cut commit."""
    repository.stage(JOURNAL)
    trailers = {RUN_TRAILER: entry.run}
    if isinstance(entry, StepRecord):
        trailers[STEP_TRAILER] = entry.step
    trailers[CHAIN_TRAILER] = journal.tip(repository.root / JOURNAL)
    subject, _, body = _readable(_message(entry)).partition("\n\n")
    sha = repository.commit(" ".join(subject.split()), trailers, body[:MAX_BODY])
    remember(repository, entry.run, sha)
    return sha


def remember(repository: Repository, run: str, sha: str) -> None:
    """Note a run's last commit where neither HEAD nor a branch is needed to find it again.

    In the repository, so that it survives a move and git keeps the commit; and in the home, where
    no command of the model reaches by accident.
    """
    repository.keep(run, sha)
    runs.keep_head(run, sha)


def _message(entry: Start | Committed) -> str:
    if isinstance(entry, Start):
        return "chore(foundry): begin a run\n\n" + entry.spec[:2_000]
    return entry.message


def _readable(message: str) -> str:
    """Without what a terminal would carry out when git shows the message, or take to reorder it."""
    return "".join(
        char
        for char in message
        if char in "\n\t" or (category(char) not in ("Cc", "Cs") and char not in REORDERING)
    )
