"""`foundry circular status`."""

from pathlib import Path

import click


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, default=".",
                type=click.Path(path_type=Path))  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
def command(folder: Path, as_json: bool) -> None:
    """How far the newest circular run in or beside DIR is, iteration by iteration.

    Read from its journal; changes nothing, and may be run while it works.
    """
    from foundry.engine.workspace import find
    from foundry.report.circular import circular_report

    report = circular_report(find(folder))
    if as_json:
        click.echo(report.model_dump_json(indent=2))
        return
    from foundry.cli.console import show
    from foundry.report.circular_view import circular_view

    show(circular_view(report))
