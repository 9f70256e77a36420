"""Every error that Foundry raises on purpose.

    FoundryError                 shown as one line, never as a traceback; exit code 1
    ├── InputError               what the person gave can't be used
    ├── ProjectError             the folder, the repository or git itself is not as needed
    │   ├── JournalError         the journal and the repository disagree
    │   └── UnreadableFiles      ... because git can't take files in it
    ├── ArtifactError            an artifact on disk is invalid: file, field, reason
    ├── WorkflowError            a workflow document is invalid
    ├── PluginError              a part that is asked for by name is missing or broken
    ├── ModelError               the model's side failed
    │   ├── ModelUnavailable     ... and may work later: the run pauses
    │   ├── ModelRejected        ... and will fail again as it is (key, model name, request)
    │   └── ContextOverflow      ... because the conversation no longer fits its window
    ├── DecisionNeeded           a person has to decide: the run pauses
    └── ToolError                a tool can't do what the model asked: goes back to the model

A message says what happened, where, and what to do next.
"""

from collections.abc import Mapping
from types import MappingProxyType


class FoundryError(Exception):
    """Anything that Foundry can explain; `hint` says what to do next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}" if self.hint else self.message


class InputError(FoundryError):
    """What the person gave can't be used."""


class ProjectError(FoundryError):
    """The folder, the repository or git itself is not as a build needs it."""


class JournalError(ProjectError):
    """The journal and the repository disagree in a way that resume does not know."""


class UnreadableFiles(ProjectError):
    """Files or folders (`paths`) that git can't take: closed to us, or pipes and the like."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        shown = ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
        super().__init__(
            f"git can't read {shown}: it would not be committed",
            hint="`chmod u+rwX` it, or remove it; then run `foundry resume`",
        )
        self.paths = paths


class ArtifactError(FoundryError):
    """An artifact on disk does not fit its schema."""

    def __init__(self, file: str, field: str, reason: str, *, hint: str = "") -> None:
        where = f"{file}: {field}" if field else file
        super().__init__(f"{where}: {reason}", hint=hint)
        self.file = file
        self.field = field
        self.reason = reason


class WorkflowError(FoundryError):
    """A workflow document is invalid."""


class PluginError(FoundryError):
    """A part that is asked for by name is not there, or an installed package's is broken."""


class ModelError(FoundryError):
    """The model's side failed.

    `billed` are the tokens that the failed attempts cost all the same, by the fields of Usage.
    """

    billed: Mapping[str, int] = MappingProxyType({})


class ModelUnavailable(ModelError):
    """No answer within the retry policy; the same request may work later.

    `retry_after` is the server's own wish in seconds, where it gave one.
    """

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class ModelRejected(ModelError):
    """The request was refused in a way that repeating can't mend."""


class ContextOverflow(ModelError):
    """The conversation no longer fits the model's window."""


class DecisionNeeded(FoundryError):
    """A person has to decide before this can go on, and nobody was there."""


class ToolError(FoundryError):
    """A tool can't do what the model asked; the message is its answer."""
