"""`foundry memory export`."""

import sys
from pathlib import Path

import click

from foundry.cli.remembered import memory_of, place_option


@click.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@place_option
def command(file: Path, folder: Path) -> None:
    """Write all of it to FILE as JSON lines; `-` is stdout.

    docs/memory.schema.json describes a line. A memory whose file gets damaged is made anew from
    what can be read of it and from exports beside it: .context-foundry/local/memory*.jsonl.
    """
    from foundry.report.units import counted
    from foundry.store.memory.transfer import write_export, write_lines

    with memory_of(folder) as memory:
        if str(file) == "-":
            write_lines(memory.entries(), sys.stdout)
            return
        count = write_export(memory.entries(), file)
    click.echo(f"{file}: {counted(count, 'line')}")
