"""`foundry memory timeline`."""

from pathlib import Path
from typing import Any

import click

from foundry.cli.remembered import as_filter, filter_options, memory_of, place_option


@click.command("timeline")
@click.option("-n", "count", type=click.IntRange(1, 1_000_000), default=50, show_default=True,
              help="The newest so many.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@filter_options
@place_option
def command(count: int, as_json: bool, folder: Path, **options: Any) -> None:
    """What happened, oldest first: each turn and step with its id and its summary."""
    with memory_of(folder) as memory:
        heads = memory.heads(as_filter(options), limit=count, newest_first=True)[::-1]
    if as_json:
        for head in heads:
            click.echo(head.model_dump_json(exclude={"number", "score"}))
        return
    from foundry.cli.console import show
    from foundry.report.memory_view import timeline_view

    show(timeline_view(heads))
