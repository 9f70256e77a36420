"""Artifacts on disk. JSON that people may edit is validated at every read.

The session notes are JSON lines that are only ever appended.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from foundry.errors import ArtifactError
from foundry.schema.base import first_problem
from foundry.schema.journal import SessionNote
from foundry.schema.plan import Checks, Plan
from foundry.store.project import CHECKS, FOLDER, NOTES, TASKS, Project

M = TypeVar("M", bound=BaseModel)


def read_text(project: Project, name: str) -> str | None:
    """An artifact's text, or None when there is none."""
    path = project.artifact(name)
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None


def read_plan(project: Project) -> Plan | None:
    """tasks.json, or None when there is none; raises ArtifactError when it is not valid."""
    return _read(project, TASKS, Plan)


def read_checks(project: Project) -> Checks | None:
    """checks.json, or None when there is none; raises ArtifactError when it is not valid."""
    return _read(project, CHECKS, Checks)


def to_json(value: BaseModel) -> str:
    """How JSON artifacts are written: indented, so that people can read and diff them."""
    return value.model_dump_json(indent=2) + "\n"


def read_notes(project: Project) -> tuple[SessionNote, ...]:
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


def notes_text(notes: Iterable[SessionNote]) -> str:
    """Notes as their file holds them."""
    return "".join(note.model_dump_json(exclude_defaults=True) + "\n" for note in notes)


def _read(project: Project, name: str, model: type[M]) -> M | None:
    text = read_text(project, name)
    if text is None:
        return None
    shown = str(Path(FOLDER) / name)
    hint = f"Mend {shown} by hand, or `git checkout HEAD -- {shown}`; then `foundry resume`"
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise ArtifactError(shown, where, error.msg, hint=hint) from error
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ArtifactError(shown, *first_problem(error), hint=hint) from error
