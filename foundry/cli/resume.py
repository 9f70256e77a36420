"""`foundry resume`."""

from pathlib import Path
from typing import Any

import click

from foundry.cli.options import limit_options, model_options, role_models, view_options


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, default=".",
                type=click.Path(path_type=Path))  # fmt: skip
@model_options
@limit_options
@view_options
def command(folder: Path, **options: Any) -> int:
    """Go on with the newest build in or beside DIR.

    No accepted step is done again. What you edited while it was paused (code, tasks.json,
    checks.json) is kept and committed; the partial work of a killed step is saved as a patch in
    .context-foundry/local/salvage/. Options given here replace those of the build.
    """
    from foundry.cli.work import Flags, go_on

    return go_on(folder, Flags(**{**options, "models": role_models(options["models"])}))
