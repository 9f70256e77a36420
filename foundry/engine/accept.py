"""The transaction: artifacts, journal line, one commit, in this order.

A kill between any two of these leaves one of the three cases that `recover` knows.
"""

from collections.abc import Mapping

from foundry.files import atomic_write
from foundry.schema.journal import Attempt, Intent, Resume, Start, StepRecord, Stop
from foundry.store import journal
from foundry.store.git import RUN_TRAILER, STEP_TRAILER, Repository
from foundry.store.project import FOLDER, Project

ARTIFACTS = (FOLDER, f":(exclude){FOLDER}/local")
"""Pathspecs of what is committed even where a project ignores it."""

JOURNAL = f"{FOLDER}/journal.jsonl"

MAX_BODY = 10_000
"""Characters of a commit message: it is an argument of git, and the whole is in the journal."""

Committed = StepRecord | Attempt | Intent | Stop | Resume


def accept(
    project: Project, repository: Repository, entry: Committed, artifacts: Mapping[str, str]
) -> tuple[Committed, str]:
    """Write, journal and commit `entry`; returns it with its tree, and the commit's hash."""
    for name, text in artifacts.items():
        atomic_write(project.artifact(name), text)
    entry = entry.model_copy(update={"tree": repository.stage_all(always=ARTIFACTS)})
    journal.append(project.journal, entry)
    return entry, commit(repository, entry)


def begin(project: Project, repository: Repository, entry: Start) -> str:
    """The first commit of a run. It has no tree to compare with: nothing precedes it."""
    journal.append(project.journal, entry)
    repository.stage_all(always=ARTIFACTS)
    return commit(repository, entry)


def commit(repository: Repository, entry: Start | Committed) -> str:
    """Commit the index and the journal as what `entry` tells; also how resume ends a cut commit."""
    repository.stage(JOURNAL)
    trailers = {RUN_TRAILER: entry.run}
    if isinstance(entry, StepRecord):
        trailers[STEP_TRAILER] = entry.step
    subject, _, body = _message(entry).replace("\0", "").partition("\n\n")
    return repository.commit(" ".join(subject.split()), trailers, body[:MAX_BODY])


def _message(entry: Start | Committed) -> str:
    if isinstance(entry, Start):
        return "chore(foundry): begin a run\n\n" + entry.spec[:2_000]
    return entry.message
