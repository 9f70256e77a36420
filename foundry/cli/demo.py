"""`foundry demo`."""

from pathlib import Path
from typing import Any

import click

from foundry.cli.options import permission_options, view_options


@click.command()
@click.option("--dir", "folder", type=click.Path(path_type=Path), default=None,
              help="A new or empty folder. Default: foundry-demo here.")  # fmt: skip
@permission_options
@view_options
def command(folder: Path | None, **options: Any) -> int:
    """Watch a whole build without a key.

    A rehearsed model, behind a real server on this machine, builds a command-line to-do list:
    real files, real tests (the first run fails and is healed), real commits. Everything else is
    what `foundry build` does; a demo that was stopped goes on with `foundry resume`.
    """
    from foundry.cli.work import demo

    return demo(folder or Path("foundry-demo"), options)
