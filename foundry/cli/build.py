"""`foundry build`."""

from pathlib import Path
from typing import Any

import click

from foundry.cli.options import limit_options, model_options, read_spec, role_models, view_options


@click.command(
    epilog="Writes .context-foundry/ in the project: journal, reports, evidence. A build in an "
    "existing repository happens beside it, on a branch of its own. Whatever ends it, "
    "`foundry resume` goes on."
)
@click.argument("spec", required=False)
@click.option("--spec-file", type=click.Path(path_type=Path), help="Read the spec from a file.")
@click.option("--dir", "folder", type=click.Path(path_type=Path), default=None,
              help="A new or empty folder, or an existing repository. Default: this one, or a new "
              "one in it named after the spec.")  # fmt: skip
@model_options
@limit_options
@click.option("--skip", multiple=True, metavar="PHASE",
              help="Leave out test, docs, deploy or feedback. Repeatable.")  # fmt: skip
@click.option("--deploy/--no-deploy", default=False, help="Push the verified result.",
              show_default=True)  # fmt: skip
@view_options
def command(spec: str | None, spec_file: Path | None, folder: Path | None, **options: Any) -> int:
    """Build a project from SPEC, unattended.

    SPEC says in words what is wanted; - reads it from stdin.
    """
    from foundry.cli.work import Flags, start

    skip, deploy = options.pop("skip"), options.pop("deploy")
    flags = Flags(**{**options, "models": role_models(options["models"])})
    return start(read_spec(spec, spec_file), folder, flags, skip, deploy)
