"""`foundry workflow show`."""

import click


@click.command()
@click.argument("document", metavar="NAME|FILE")
@click.option("--json", "as_json", is_flag=True, help="The document itself, as JSON.")
def command(document: str, as_json: bool) -> None:
    """What a workflow does, as an outline: steps, conditions, loops, functions, validation."""
    if as_json:
        import json

        from foundry.workflow.load import find, read

        click.echo(json.dumps(read(find(document).path), indent=2))
        return
    from foundry.cli.console import show
    from foundry.cli.documents import workflow_of
    from foundry.report.workflow_view import workflow_view

    show(workflow_view(workflow_of(document)))
