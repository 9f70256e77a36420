"""`foundry circular revert`."""

from pathlib import Path

import click


@click.command()
@click.argument("iteration", type=click.IntRange(min=1))
@click.argument("folder", metavar="[DIR]", required=False, default=".",
                type=click.Path(path_type=Path))  # fmt: skip
def command(iteration: int, folder: Path) -> None:
    """Take back what ITERATION changed, with a commit of its own on the run's branch.

    Later iterations stay; where they changed the same lines nothing is done. What is taken back
    stays in the history and under refs/foundry/.
    """
    from foundry.circular.revert import reverted

    click.echo(reverted(folder, iteration))
