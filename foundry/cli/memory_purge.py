"""`foundry memory purge`."""

import sys
from pathlib import Path

import click

from foundry.cli.remembered import memory_of, moment_of, place_option


@click.command("purge")
@click.option("--run", metavar="ID", default="", help="What is of this run.")
@click.option("--before", metavar="TIME", help="What ended before then: 30d (ago), 2026-01-02.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@place_option
def command(run: str, before: str | None, yes: bool, folder: Path) -> None:
    """Remove originals, summaries and what finds them, for good, by run or by age.

    With --run and --before only what is both. What only the removed entries held is gone from the
    file, too; exports, and damaged files that were set aside beside it, stay as they are.
    """
    from foundry.schema.memory import Filter

    if not run and not before:
        raise click.UsageError("say what to remove: --run or --before")
    at = moment_of(before)
    with memory_of(folder) as memory:
        count = len(memory.heads(Filter(run=run, until=at)))
        if count and not yes:
            if not sys.stdin.isatty():
                raise click.UsageError(f"--yes removes {count:,} of them without a question")
            click.confirm(f"Remove {count:,} turns and steps for good?", abort=True)
        removed = memory.purge(run=run, before=at)
    click.echo(f"removed {removed:,} {'entry' if removed == 1 else 'entries'}")
