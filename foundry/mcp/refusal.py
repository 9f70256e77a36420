"""What a client is told when a call can't be done: a code, what happened, and how to go on."""

from typing import Any

from foundry.errors import FoundryError, ToolError


class Refusal(ToolError):
    """A call that can't be done as it is. `details` are facts that help to go on."""

    def __init__(self, code: str, message: str, *, hint: str, **details: Any) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.details = details


def described(error: FoundryError) -> dict[str, Any]:
    """The `error` object of a reply; codes are words, and part of the interface."""
    told = {"code": _code(error), "message": error.message}
    if error.hint:
        told["hint"] = error.hint
    return told | (error.details if isinstance(error, Refusal) else {})


def _code(error: FoundryError) -> str:
    if isinstance(error, Refusal):
        return error.code
    words = "".join(f"-{each.lower()}" if each.isupper() else each for each in type(error).__name__)
    return words.strip("-")
