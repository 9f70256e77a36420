"""The person's own record of their runs, outside any project: options and ledger."""

from pathlib import Path

from pydantic import ValidationError

from foundry.config import home
from foundry.files import atomic_write
from foundry.schema.run import RunOptions


def folder(run: str) -> Path:
    """Where a run's options and ledger are."""
    return home() / "runs" / run


def ledger_path(run: str) -> Path:
    """Where the run's ledger is."""
    return folder(run) / "spend.jsonl"


def save(options: RunOptions) -> None:
    """Keep a run's options."""
    atomic_write(folder(options.run) / "options.json", options.model_dump_json(indent=2) + "\n")


def load(run: str) -> RunOptions | None:
    """A run's options, or None when this home has none that can be read."""
    path = folder(run) / "options.json"
    try:
        return RunOptions.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None
