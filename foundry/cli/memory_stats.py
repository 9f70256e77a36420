"""`foundry memory stats`."""

import json
from pathlib import Path

import click

from foundry.cli.remembered import memory_of, place_option


@click.command("stats")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@place_option
def command(as_json: bool, folder: Path) -> None:
    """How much there is: turns, steps, tokens of originals and summaries, bytes; and how much of
    it a conversation that begins now is told."""
    from foundry.conversation.memory.accumulate import accumulated
    from foundry.model.tokens import CHARACTERS_PER_TOKEN

    with memory_of(folder) as memory:
        found, path = memory.stats(), memory.path
        told = int(len(accumulated(memory.past(""))) / CHARACTERS_PER_TOKEN)
    if as_json:
        click.echo(json.dumps({**found.model_dump(mode="json"), "told_tokens": told}, indent=2))
        return
    from foundry.cli.console import show
    from foundry.report.memory_view import stats_view

    show(stats_view(found, told, path))
