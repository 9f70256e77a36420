"""`foundry memory stats`."""

from pathlib import Path

import click

from foundry.cli.remembered import memory_of, place_option


@click.command("stats")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@place_option
def command(as_json: bool, folder: Path) -> None:
    """How much there is: turns, steps, tokens of originals and summaries, bytes."""
    with memory_of(folder) as memory:
        found, path = memory.stats(), memory.path
    if as_json:
        click.echo(found.model_dump_json(indent=2))
        return
    from foundry.cli.console import show
    from foundry.report.memory_view import stats_view

    show(stats_view(found, path))
