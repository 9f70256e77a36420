"""Take back the work of one iteration: the reverse of its commit, as a commit of the run."""

import re
from pathlib import Path

from foundry.circular.history import REVERTED, assignment_of, mark_of, reverted_of
from foundry.circular.session import PATCH
from foundry.engine.accept import accept
from foundry.engine.contracts import views_of
from foundry.engine.pinned_workflow import kept
from foundry.engine.step_context import own_files
from foundry.engine.workspace import find, guarded
from foundry.errors import InputError, ProjectError
from foundry.files import atomic_write
from foundry.schema.base import now
from foundry.schema.journal import Entry, Resume, Start, StepRecord, Stop
from foundry.schema.run import Status
from foundry.store import journal, runs
from foundry.store.git.query import cause
from foundry.store.git.repository import Repository
from foundry.store.lock import locked
from foundry.store.project import FOLDER, Project


def reverted(folder: Path, iteration: int) -> str:
    """Revert an iteration on the run's branch; says what was done.

    Raises InputError when there is no such iteration, or nothing left of it to take back, and
    ProjectError when later work is in the way.
    """
    project = find(folder)
    with locked(project):
        entries = journal.read(project.journal)
        start, stop = _standing(project, entries)
        record = _work_of(entries, iteration)
        repository = guarded(project, start.run, lambda _event: None)
        sha = _commit_of(repository, start.run, record)
        repository.pin(f"{start.run}/reverted-{iteration}", sha)
        files = _undo(project, repository, start, sha, iteration)
        _journalled(project, repository, entries, stop, iteration, files)
    short = re.sub(r"^(.{9}).*", r"\1", sha)
    return f"took back iteration {iteration} ({short}): {', '.join(files)}"


def _standing(project: Project, entries: tuple[Entry, ...]) -> tuple[Start, Stop]:
    """How the run began and stopped; raises InputError for one that can't be reverted in now."""
    if not entries or assignment_of(entries) is None:
        raise InputError(f"the newest run in {project.root} is not one of `foundry circular`")
    start, stop = entries[0], entries[-1]
    assert isinstance(start, Start)
    if not isinstance(stop, Stop):
        raise InputError(
            f"the run {start.run} was cut off in the middle of a step",
            hint="`foundry circular resume` brings it to a state in which this can be done",
        )
    return start, stop


def _work_of(entries: tuple[Entry, ...], iteration: int) -> StepRecord:
    done: list[int] = []
    for entry in entries:
        mark = mark_of(entry)
        if mark and mark.report and mark.report.kind == "work":
            if mark.number == iteration and iteration not in reverted_of(entries):
                assert isinstance(entry, StepRecord)
                return entry
            done.append(mark.number)
    told = "it is taken back already" if iteration in done else f"there were {len(done)}"
    raise InputError(f"there is no iteration {iteration} to take back: {told}")


def _commit_of(repository: Repository, run: str, record: StepRecord) -> str:
    shas = {each.step: each.sha for each in repository.commits(run)}
    if record.step not in shas:
        raise ProjectError(f"the commit of {record.step} is not on this branch any more")
    return shas[record.step]


def _undo(
    project: Project, repository: Repository, start: Start, sha: str, iteration: int
) -> tuple[str, ...]:
    """Apply the reverse of a commit to the tree; which files it changed."""
    if dirty := own_files(repository.changes()):
        raise ProjectError(
            f"{project.root} has changes that are not committed: {', '.join(dirty[:5])}",
            hint="Commit them or take them back first",
        )
    patch = repository.run(*PATCH, sha, f"{sha}~1", "--", ".", f":(exclude){FOLDER}")
    if not patch:
        raise InputError(f"iteration {iteration} changed no file")
    file = runs.folder(start.run) / f"revert-{iteration}.patch"
    atomic_write(file, patch.encode(errors="surrogateescape"))
    status, _, errors = repository.attempt("apply", "--whitespace=nowarn", str(file))
    if status:
        raise ProjectError(
            f"iteration {iteration} can't be taken back by itself: later work changed the same "
            f"lines ({cause(errors)}). Nothing was changed",
            hint=f"Take back the later ones first; the patch is {file}",
        )
    return own_files(repository.changes())


def _journalled(
    project: Project,
    repository: Repository,
    entries: tuple[Entry, ...],
    stop: Stop,
    iteration: int,
    files: tuple[str, ...],
) -> None:
    """The revert as a line of the journal, and the ending anew: what was verified is not now."""
    start = entries[0]
    assert isinstance(start, Start)
    workflow = kept(start).workflow
    message = f"revert: take back iteration {iteration}"
    line = {"at": now(), "run": start.run}
    taken = Resume(
        seq=len(entries) + 1, changes=files, patch={REVERTED: iteration}, message=message, **line
    )
    entries = (*entries, taken)
    committed, _ = accept(project, repository, taken, views_of(workflow, entries))
    entries = (*entries[:-1], committed)
    status = Status.UNVERIFIED if stop.status is Status.VERIFIED else stop.status
    again = Stop(
        seq=len(entries) + 1,
        status=status,
        reason=f"iteration {iteration} was taken back; before that: {stop.reason}"[:300],
        message=f"chore(foundry): {status}, iteration {iteration} was taken back",
        **line,
    )
    accept(project, repository, again, views_of(workflow, (*entries, again)))
