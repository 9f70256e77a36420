"""`foundry memory search`."""

from pathlib import Path
from typing import Any

import click

from foundry.cli.remembered import as_filter, filter_options, memory_of, place_option


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True,
              help="At most so many.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@filter_options
@place_option
def command(
    query: tuple[str, ...], limit: int, as_json: bool, folder: Path, **options: Any
) -> None:
    """The turns and steps that fit QUERY best, best first, with their ids.

    What was said and what was done are both searched, by whole words and by the words within
    names: `parse request` finds parseHTTPRequest. Nothing is printed when nothing fits.
    """
    with memory_of(folder) as memory:
        found = memory.search(" ".join(query), as_filter(options), limit)
    if as_json:
        for head in found:
            click.echo(head.model_dump_json(exclude={"number"}))
        return
    from foundry.cli.console import show
    from foundry.report.memory_view import found_view

    show(found_view(found))
