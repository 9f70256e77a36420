"""Patches of a run's work: a verified result into the checkout, one iteration taken back.

`--no-commit`: a verified result goes into the person's checkout, as changes of their own. The run
keeps its commits: they are the transaction. What the checkout gets is their sum, all of it or
nothing; where it does not fit, the branch is still there.

`revert`: the reverse of an iteration's commit, as a commit of the run.
"""

from pathlib import Path

from foundry.circular.history import REVERTED, assignment_of, mark_of, reverted_of
from foundry.engine.accept import accept
from foundry.engine.pinned_workflow import kept
from foundry.engine.runner import Ended
from foundry.engine.session import RunObserver
from foundry.engine.step_context import own_files
from foundry.engine.step_kind import views_of
from foundry.engine.workspace import find, guarded
from foundry.errors import InputError, ProjectError
from foundry.files import atomic_write
from foundry.schema.base import now
from foundry.schema.events import Note
from foundry.schema.journal import Entry, Resume, Start, StepRecord, Stop
from foundry.schema.run import Status
from foundry.store import journal, runs
from foundry.store.git.query import cause
from foundry.store.git.repository import Repository
from foundry.store.lock import locked
from foundry.store.project import FOLDER, Project

HANDED_OVER = "circular-handed-over"
"""The file in the local folder that tells for which run it was done."""

DIFF = (
    *("diff", "--binary", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"),
    *("--src-prefix=a/", "--dst-prefix=b/"),
)


def hand_over(folder: Path, ended: Ended, observer: RunObserver) -> None:
    """Put a verified result into the checkout, where it is wanted there and not there yet."""
    if ended.status is not Status.VERIFIED:
        return
    project = find(folder)
    entries = journal.read(project.journal)
    assignment, start = assignment_of(entries), entries[0]
    marker = project.local / HANDED_OVER
    if assignment is None or assignment.commit or not isinstance(start, Start) or not start.base:
        return
    if marker.is_file() and marker.read_text().strip() == start.run:
        return
    observer.observe(Note(_handed_over(project, start)))


def _handed_over(project: Project, start: Start) -> str:
    repository = Repository(project.root)
    checkout = repository.worktrees()[0][0]
    file = runs.folder(start.run) / "result.patch"
    if not _write_patch(repository, f"{start.base}..{repository.head()}", file):
        return "the result changes no file"
    if refused := _apply(Repository(checkout), file):
        return (
            f"the result does not fit into {checkout} as it is now ({refused}); nothing was "
            f"changed there. It is on the branch {start.branch}, and as a patch in {file}"
        )
    atomic_write(project.local / HANDED_OVER, start.run + "\n")
    return f"the result is in {checkout}, uncommitted; its commits are on {start.branch}"


def revert(folder: Path, iteration: int) -> str:
    """Revert an iteration on the run's branch; says what was done.

    Raises InputError when there is no such iteration, or nothing left of it to take back, and
    ProjectError when later work is in the way.
    """
    project = find(folder)
    with locked(project):
        entries = journal.read(project.journal)
        start, stop = _resting(project, entries)
        record = _work_of(entries, iteration)
        repository = guarded(project, start.run, lambda _event: None)
        shas = {each.step: each.sha for each in repository.commits(start.run)}
        sha = shas.get(record.step)
        if sha is None:
            raise ProjectError(f"the commit of {record.step} is not on this branch any more")
        repository.pin(f"{start.run}/reverted-{iteration}", sha)
        files = _undo(project, repository, start, sha, iteration)
        _journal_revert(project, repository, entries, start, stop, iteration, files)
    return f"took back iteration {iteration} ({sha[:9]}): {', '.join(files)}"


def _resting(project: Project, entries: tuple[Entry, ...]) -> tuple[Start, Stop]:
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
    """The journal line of an iteration's work; raises InputError where it can't be taken back."""
    works = {
        mark.number: entry
        for entry in entries
        if isinstance(entry, StepRecord) and (mark := mark_of(entry))
        and mark.report and mark.report.kind == "work"
    }  # fmt: skip
    if iteration in works and iteration not in reverted_of(entries):
        return works[iteration]
    why = "it is taken back already" if iteration in works else f"there were {len(works)}"
    raise InputError(f"there is no iteration {iteration} to take back: {why}")


def _undo(
    project: Project, repository: Repository, start: Start, sha: str, iteration: int
) -> tuple[str, ...]:
    """Apply the reverse of a commit to the tree; which files it changed."""
    if dirty := own_files(repository.changes()):
        raise ProjectError(
            f"{project.root} has changes that are not committed: {', '.join(dirty[:5])}",
            hint="Commit them or take them back first",
        )
    file = runs.folder(start.run) / f"revert-{iteration}.patch"
    if not _write_patch(repository, f"{sha}..{sha}~1", file):
        raise InputError(f"iteration {iteration} changed no file")
    if refused := _apply(repository, file):
        raise ProjectError(
            f"iteration {iteration} can't be taken back by itself: later work changed the same "
            f"lines ({refused}). Nothing was changed",
            hint=f"Take back the later ones first; the patch is {file}",
        )
    return own_files(repository.changes())


def _journal_revert(
    project: Project,
    repository: Repository,
    entries: tuple[Entry, ...],
    start: Start,
    stop: Stop,
    iteration: int,
    files: tuple[str, ...],
) -> None:
    """The revert as a line of the journal, and the ending anew: what was verified is not now."""
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


def _write_patch(repository: Repository, span: str, file: Path) -> bool:
    """Write what changed in the project between two commits; whether that is anything."""
    patch = repository.run(*DIFF, span, "--", ".", f":(exclude){FOLDER}")
    if patch:
        atomic_write(file, patch.encode(errors="surrogateescape"))
    return bool(patch)


def _apply(repository: Repository, file: Path) -> str:
    """Apply all of a patch to a work tree, or nothing; why not."""
    status, _, errors = repository.attempt("apply", "--whitespace=nowarn", str(file))
    return cause(errors) if status else ""
