"""`foundry context [RUN]`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from foundry.store.project import Project


@click.command()
@click.argument("where", metavar="[RUN|DIR]", required=False, default=".")
@click.option("--json", "as_json", is_flag=True, help="One JSON array, for programs.")
def command(where: str, as_json: bool) -> None:
    """How full each conversation of a run is: of the one with this id, or of the newest in DIR.

    The bar is the window: `#` is used now, `-` was used at its fullest. Counted by the model's
    server, estimated since. `foundry log --conversation ID` shows what was said.
    """
    from foundry.errors import InputError
    from foundry.report.context_usage import usages

    project, run = _place(where)
    found = usages(project, run)
    if not found:
        raise InputError(
            f"no log in {project.logs} tells of a conversation",
            hint="It is kept on the machine that ran the build, and never committed",
        )
    if as_json:
        import json

        click.echo(json.dumps([each.as_json() for each in found], indent=2))
        return
    from foundry.cli.console import show
    from foundry.report.context_view import context_view

    show(context_view(found))


def _place(where: str) -> "tuple[Project, str]":
    """The project, and the run where one was named."""
    from foundry.engine.workspace import find
    from foundry.errors import InputError
    from foundry.store import runs
    from foundry.store.project import Project

    if Path(where).expanduser().is_dir():
        return find(Path(where)), ""
    options = runs.load(where) if where.replace("-", "").isalnum() else None
    if options is None:
        raise InputError(
            f"{where!r} is neither a folder nor a run of yours",
            hint="`foundry context --help` has the commands",
        )
    return Project(Path(options.root)), where
