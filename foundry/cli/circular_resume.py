"""`foundry circular resume`."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from foundry.cli.options import (
    limit_options,
    model_options,
    permission_options,
    view_options,
    yes_option,
)


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, default=".",
                type=click.Path(path_type=Path))  # fmt: skip
@click.option("--accept-changes/--ignore-changes", "accept", default=None,
              help="Take the prompt and the base context as their files are now, or as they were "
              "when the run began. Default: ask, where they differ.")  # fmt: skip
@model_options
@limit_options
@yes_option
@permission_options
@view_options
def command(folder: Path, accept: bool | None, **options: Any) -> int:
    """Go on with the newest circular run in or beside DIR, after its last saved iteration.

    Options given here replace those that it began with. A run that paused to ask for a person
    goes on all the same.
    """
    from foundry.circular.go_on import resumed
    from foundry.circular.settings import check_roles, models_in, role_models
    from foundry.cli.work import flags_of, go_on

    models = models_in(options["model"])
    flags = flags_of({**options, "model": models[0] if models else None})
    check_roles(models, flags.models)
    if len(models) > 1:
        flags = replace(flags, models={**flags.models, **role_models(models)})
    return go_on(folder, flags, {}, partial(resumed, accept=accept, models=models))
