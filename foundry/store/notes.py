"""The session notes on disk: one JSON line each, only ever appended, committed with the run."""

from collections.abc import Iterable

from pydantic import ValidationError

from foundry.schema.notes import SessionNote
from foundry.store.project import NOTES, Project


def read(project: Project) -> tuple[SessionNote, ...]:
    """Every note that can be read; a damaged line is passed over, its neighbours are not."""
    path = project.artifact(NOTES)
    if not path.exists():
        return ()
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            found.append(SessionNote.model_validate_json(line))
        except ValidationError:
            continue  # notes help; a damaged one must not end a run
    return tuple(found)


def to_lines(notes: Iterable[SessionNote]) -> str:
    """The file's content."""
    return "".join(note.model_dump_json(exclude_defaults=True) + "\n" for note in notes)
