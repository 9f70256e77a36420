"""Structured log lines: JSON, one a line, to one file. Nothing is logged to the terminal."""

import io
from pathlib import Path
from typing import Any

import structlog


def open_log(path: Path) -> tuple[structlog.typing.FilteringBoundLogger, io.TextIOWrapper]:
    """A logger that appends JSON lines to `path`, and the file to close when done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a", encoding="utf-8", buffering=1)
    logger = structlog.wrap_logger(
        structlog.WriteLogger(file),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            structlog.processors.JSONRenderer(ensure_ascii=False, default=_plain),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(0),
    )
    return logger, file


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | set) else str(value)
