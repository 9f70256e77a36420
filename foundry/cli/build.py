"""`foundry build`."""

from pathlib import Path
from typing import Any

import click

from foundry.cli.options import (
    limit_options,
    model_options,
    permission_options,
    read_spec,
    run_options,
    view_options,
    yes_option,
)


@click.command(
    epilog="Writes .context-foundry/ in the project: journal, reports, evidence. A build in an "
    "existing repository happens beside it, on a branch of its own. Whatever ends it, "
    "`foundry resume` goes on."
)
@click.argument("spec", required=False)
@click.option("--spec-file", type=click.Path(path_type=Path), help="Read the spec from a file.")
@click.option("--workflow", metavar="FILE|NAME", default="",
              help="Other steps than those of a build: a document of your own, or a name of "
              "`foundry workflow list`.")  # fmt: skip
@run_options
@model_options
@limit_options
@click.option("--deploy/--no-deploy", default=False, help="Push the verified result.",
              show_default=True)  # fmt: skip
@yes_option
@permission_options
@view_options
def command(spec: str | None, spec_file: Path | None, **options: Any) -> int:
    """Build a project from SPEC, unattended.

    SPEC says in words what is wanted; - reads it from stdin.
    """
    from foundry.cli.work import start

    return start({**options, "spec": read_spec(spec, spec_file)})
