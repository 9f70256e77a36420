"""What the memory's commands share: which memory, which of its entries."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from datetime import datetime

    from foundry.schema.memory import Filter
    from foundry.store.memory.store import ContextMemoryStore

Command = Callable[..., Any]

place_option = click.option("--dir", "folder", default=".", type=click.Path(path_type=Path),
                            help="The project's folder. Default: this one.")  # fmt: skip

_FILTERS = (
    click.option("--run", metavar="ID", default="", help="Only of this run."),
    click.option("--phase", metavar="NAME", default="", help="Only of this phase."),
    click.option("--step", metavar="ID", default="", help="Only of this step."),
    click.option("--kind", type=click.Choice(["turn", "step"]), help="Only turns, or only steps."),
    click.option("--file", metavar="PATH", default="",
                 help="Only what had to do with this file; the end of its path is enough."),
    click.option("--since", metavar="TIME", help="Only from then on: 10m, 2d (ago), 2026-01-02."),
    click.option("--until", metavar="TIME", help="Only before then."),
)  # fmt: skip


def filter_options(command: Command) -> Command:
    """The options that say which entries are meant."""
    for option in reversed(_FILTERS):
        command = option(command)
    return command


def as_filter(options: dict[str, Any]) -> "Filter":
    """What the options mean."""
    from foundry.schema.memory import Filter

    times = {name: moment_of(options.pop(name)) for name in ("since", "until")}
    return Filter(**options, **times)


def moment_of(text: str | None) -> "datetime | None":
    """A time as a person gives it."""
    from foundry.report.times import moment
    from foundry.schema.base import now

    return moment(text, now()) if text else None


def memory_of(folder: Path, *, make: bool = False) -> "ContextMemoryStore":
    """The memory of the project that a folder is in; InputError when it has none."""
    from foundry.errors import InputError
    from foundry.store.memory.place import nearest
    from foundry.store.memory.store import ContextMemoryStore

    folder = folder.expanduser().resolve()
    path = nearest(folder)
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}")
    if not make and not path.exists():
        raise InputError(
            f"there is no memory in {folder}",
            hint="A build makes one; `foundry memory import FILE` brings one along",
        )
    return ContextMemoryStore(path, tell=lambda told: click.echo(f"note: {told}", err=True))
