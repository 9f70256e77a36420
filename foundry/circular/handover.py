"""`--no-commit`: a verified result goes into the person's checkout, as changes of their own.

The run keeps its commits: they are the transaction. What the checkout gets is their sum, all of it
or nothing; where it does not fit, the branch is still there.
"""

from pathlib import Path

from foundry.circular.history import assignment_of
from foundry.engine.runner import Ended
from foundry.engine.session import Watch
from foundry.engine.workspace import find
from foundry.files import atomic_write
from foundry.schema.events import Note
from foundry.schema.journal import Start
from foundry.schema.run import Status
from foundry.store import journal, runs
from foundry.store.git.query import cause
from foundry.store.git.repository import Repository
from foundry.store.project import FOLDER, Project

DONE = "circular-handed-over"
"""The file in the local folder that tells that it was done."""

WHOLE = (
    *("diff", "--binary", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"),
    *("--src-prefix=a/", "--dst-prefix=b/"),
)


def hand_over(folder: Path, ended: Ended, watch: Watch) -> None:
    """Put a verified result into the checkout, where it is wanted there and not there yet."""
    if ended.status is not Status.VERIFIED:
        return
    project = find(folder)
    entries = journal.read(project.journal)
    assignment, start = assignment_of(entries), entries[0]
    marker = project.local / DONE
    if assignment is None or assignment.commit or not isinstance(start, Start) or not start.base:
        return
    if marker.is_file() and marker.read_text().strip() == start.run:
        return
    watch.observe(Note(_applied(project, start)))


def _applied(project: Project, start: Start) -> str:
    repository = Repository(project.root)
    checkout = repository.worktrees()[0][0]
    span = f"{start.base}..{repository.head()}"
    patch = repository.run(*WHOLE, span, "--", ".", f":(exclude){FOLDER}")
    if not patch:
        return "the result changes no file"
    file = runs.folder(start.run) / "result.patch"
    atomic_write(file, patch.encode(errors="surrogateescape"))
    status, _, errors = Repository(checkout).attempt("apply", "--whitespace=nowarn", str(file))
    if status:
        return (
            f"the result does not fit into {checkout} as it is now ({cause(errors)}); nothing was "
            f"changed there. It is on the branch {start.branch}, and as a patch in {file}"
        )
    atomic_write(project.local / DONE, start.run + "\n")
    return f"the result is in {checkout}, uncommitted; its commits are on {start.branch}"
