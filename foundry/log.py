"""Structured log lines: JSON, one a line, to one file. Nothing is logged to the terminal."""

import io
import json
from pathlib import Path
from typing import Any

import structlog


def open_log(path: Path) -> tuple[structlog.typing.FilteringBoundLogger, io.TextIOWrapper]:
    """A logger that appends JSON lines to `path`, and the file to close when done.

    Each begins with `at`, the time in UTC, and `event`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a", encoding="utf-8", buffering=1)
    logger = structlog.wrap_logger(
        structlog.WriteLogger(file),
        processors=[
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            _head_first,
            structlog.processors.JSONRenderer(serializer=to_json),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(0),
    )
    return logger, file


def to_json(value: Any, **_options: Any) -> str:
    """JSON on one line in which every character can be printed: the rest is escaped.

    So a log may be looked at with `cat`: nothing in it controls a terminal or reorders a line.
    """
    text = json.dumps(value, ensure_ascii=False, default=_plain)
    return text if text.isprintable() else "".join(map(_printable, text))


def _head_first(_logger: Any, _name: str, fields: structlog.typing.EventDict) -> dict[str, Any]:
    return {"at": fields.pop("at"), "event": fields.pop("event"), **fields}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | set) else str(value)


def _printable(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]
