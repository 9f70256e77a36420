"""`foundry resume`."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from foundry.cli.options import (
    assignments,
    limit_options,
    model_options,
    permission_options,
    view_options,
    yes_option,
)


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, default=".",
                type=click.Path(path_type=Path))  # fmt: skip
@model_options
@limit_options
@click.option("--set", "given", multiple=True, metavar="NAME=JSON",
              help="Set a variable of the workflow. Repeatable.")  # fmt: skip
@yes_option
@permission_options
@view_options
def command(folder: Path, given: tuple[str, ...], **options: Any) -> int:
    """Go on with the newest build in or beside DIR.

    No accepted step is done again. What you edited while it was paused (code, tasks.json,
    checks.json) is kept and committed; the partial work of a killed step is saved as a patch in
    .context-foundry/local/salvage/. Options given here replace those of the build. Where the
    workflow asked for a confirmation, this gives it.
    """
    from foundry.circular.session import resume_run
    from foundry.cli.work import go_on

    return go_on(folder, options, assignments(given), partial(resume_run, any_run=True))
