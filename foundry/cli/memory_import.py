"""`foundry memory import`."""

from pathlib import Path

import click

from foundry.cli.remembered import memory_of, place_option


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@place_option
def command(file: Path, folder: Path) -> int:
    """Store what an export holds under the ids that it has there.

    What is there already stays as it is. A line that is no entry, or was changed since it was
    written, is told on stderr with its number and left out; then the exit code is 1.
    """
    from foundry.report.terminal_safe import safe
    from foundry.report.units import counted
    from foundry.store.memory.transfer import in_batches, read_export

    new = known = wrong = 0
    with memory_of(folder, make=True) as memory:
        for some in in_batches(read_export(file)):
            brought = memory.take(some.entries)
            new, known = new + brought, known + len(some.entries) - brought
            wrong += len(some.problems)
            for problem in some.problems:
                click.echo(safe(f"{file}:{problem.line}: {problem.reason}"), err=True)
    left_out = f", {counted(wrong, 'line')} left out" if wrong else ""
    click.echo(f"{new:,} new, {known:,} known already{left_out}")
    return 1 if wrong else 0
