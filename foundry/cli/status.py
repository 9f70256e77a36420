"""`foundry status`."""

from pathlib import Path

import click


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, default=".",
                type=click.Path(path_type=Path))  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
def command(folder: Path, as_json: bool) -> None:
    """How the newest build in or beside DIR stands.

    Reads its journal, ledger and log; changes nothing, and may be run while it works.
    """
    from foundry.engine.workspace import find
    from foundry.report.status import status_of

    report = status_of(find(folder))
    if as_json:
        click.echo(report.model_dump_json(indent=2))
        return
    from foundry.cli.output import show
    from foundry.report.status_view import status_view

    show(status_view(report))
    if report.resume:  # not laid out: whoever copies it wants it in one piece
        from foundry.report.terminal_safe import safe

        click.echo(f"\ngo on with: {safe(report.resume)}")
