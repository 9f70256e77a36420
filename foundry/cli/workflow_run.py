"""`foundry workflow run`."""

from typing import Any

import click

from foundry.cli.options import (
    limit_options,
    model_options,
    permission_options,
    read_variables,
    run_options,
    view_options,
    yes_option,
)


@click.command(
    epilog="The same journal, gates and reports as a build. The document is kept with the run: "
    "`foundry resume` goes on with the one that it began with."
)
@click.argument("name", metavar="FILE|NAME")
@click.option("--context", metavar="JSON|@FILE", default="{}",
              help="Variables to begin with: a JSON object, or a file of one.")  # fmt: skip
@click.option("--spec", default=None, metavar="TEXT",
              help="What is wanted. Default: the workflow's name and description.")  # fmt: skip
@run_options
@model_options
@limit_options
@yes_option
@permission_options
@view_options
def command(name: str, context: str, spec: str | None, **options: Any) -> int:
    """Run the steps of a workflow with a model, unattended."""
    from foundry.cli.work import flags_and_wish, start
    from foundry.engine.pinned_workflow import choose

    chosen = choose(name)
    text = f"{chosen.workflow.name}\n\n{chosen.workflow.description}" if spec is None else spec
    variables = read_variables(context)
    flags, wish = flags_and_wish(options, spec=text, chosen=chosen, context=variables)
    return start(wish, flags)
