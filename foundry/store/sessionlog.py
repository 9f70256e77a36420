"""The session log: every event as a JSON line, for `foundry log` and for the morning after."""

from dataclasses import fields
from datetime import datetime
from pathlib import Path
from types import TracebackType

from foundry.log import open_log
from foundry.schema.events import Event


class SessionLog:
    """An observer that writes what it hears; a context manager that closes the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._log, self._file = open_log(path)

    def __enter__(self) -> "SessionLog":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def __call__(self, event: Event) -> None:
        """Write one event."""
        self._log.info(event.kind, **as_fields(event))


def as_fields(event: Event) -> dict[str, object]:
    """An event's fields, as JSON has them."""
    return {each.name: getattr(event, each.name) for each in fields(event)}


def path_for(folder: Path, at: datetime) -> Path:
    """The log of an invocation that began at `at`."""
    return folder / f"{at:%Y%m%d-%H%M%S}.jsonl"


def newest(folder: Path) -> Path | None:
    """The log of the last invocation."""
    logs = sorted(folder.glob("*.jsonl"))
    return logs[-1] if logs else None
