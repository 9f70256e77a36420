"""Turns and steps for the memory, as small or as telling as a test wants them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from foundry.schema.memory import CallMade, ContextSnapshot, Moment, Touched

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def call(
    tool: str = "read_file", result: str = "ok", failed: bool = False, **arguments: Any
) -> Any:
    return CallMade(tool=tool, arguments=arguments, result=result, failed=failed)


def moment(number: int = 1, said: str = "", **fields: Any) -> Moment:
    """A turn, `number` minutes after the start; fields of the snapshot or of the moment."""
    names = ContextSnapshot.model_fields
    files = tuple(Touched(path=each, deeds="read") for each in fields.pop("files", ()))
    shot = {name: fields.pop(name) for name in list(fields) if name in names}
    at = START + timedelta(minutes=number)
    given = {"run": "run-1", "phase": "builder", "step": "builder[1]", "conversation": "talk",
             "turn": number, "began": at, "ended": at, "tokens": 100, **fields}  # fmt: skip
    return Moment(snapshot=ContextSnapshot(said=said, files=files, **shot), **given)
