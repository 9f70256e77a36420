"""`foundry workflow schema`."""

import click


@click.command()
def command() -> None:
    """The JSON Schema of a workflow document, for editors and other programs."""
    import json

    from foundry.workflow.schema import json_schema

    click.echo(json.dumps(json_schema(), indent=2))
