"""The person's own record of their runs, outside any project: options, ledger, last commit."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from foundry.config import home
from foundry.files import atomic_write
from foundry.schema.run import RunOptions


def folder(run: str) -> Path:
    """Where a run's own files are."""
    return home() / "runs" / run


def ledger_path(run: str) -> Path:
    """Where the run's ledger is."""
    return folder(run) / "spend.jsonl"


def running_command(run: str) -> Path:
    """The commands that run now, so that a later process can end what a killed one left."""
    return folder(run) / "running.json"


def save(options: RunOptions) -> None:
    """Keep a run's options; raises ProjectError when the person's home can't be written."""
    atomic_write(folder(options.run) / "options.json", options.model_dump_json(indent=2) + "\n")


def load(run: str) -> RunOptions | None:
    """A run's options, or None when this home has none that can be read."""
    path = folder(run) / "options.json"
    try:
        return RunOptions.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None


def keep_head(run: str, commit: str) -> None:
    """Keep the hash of a run's last commit: what is in the project, a model's command can lose."""
    atomic_write(folder(run) / "head", commit + "\n")


def head(run: str) -> str:
    """The hash of a run's last commit, as far as this home knows it."""
    try:
        return (folder(run) / "head").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def begun_at(root: Path) -> Iterator[str]:
    """The runs that have a commit and work in `root`, newest first."""
    for path in sorted(home().glob("runs/*/head"), reverse=True):
        options = load(path.parent.name)
        if options is not None and options.root == str(root):
            yield options.run
