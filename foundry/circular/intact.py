"""Whether what every iteration is told is what the person gave: by hash, before each one. Pure."""

from foundry.circular.base_context import fingerprint
from foundry.circular.state_schema import Assignment
from foundry.errors import ArtifactError
from foundry.store.project import FOLDER

WHERE = f"{FOLDER}/journal.jsonl"


def intact(assignment: Assignment | None) -> Assignment | None:
    """The assignment; raises ArtifactError when its prompt or base context is not what it was."""
    if assignment is None:
        return None
    if fingerprint(assignment.prompt) != assignment.prompt_source.sha256:
        raise _changed("circular_assignment.prompt")
    context, source = assignment.base_context, assignment.context_source
    if (context is None) != (source is None):
        raise _changed("circular_assignment.base_context")
    if context and source and fingerprint(context) != source.sha256:
        raise _changed("circular_assignment.base_context")
    return assignment


def _changed(field: str) -> ArtifactError:
    return ArtifactError(
        WHERE,
        field,
        "its hash is not the one that was journalled with it: somebody changed it",
        hint=f"`git log -p -- {WHERE}` shows where; begin a new run with what you want",
    )
