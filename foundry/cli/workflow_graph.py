"""`foundry workflow graph`."""

import click


@click.command()
@click.argument("document", metavar="NAME|FILE")
def command(document: str) -> None:
    """A workflow as a Mermaid flowchart: steps, conditions, loops and their way back.

    GitHub, GitLab and many editors draw it in Markdown, between ```mermaid and ```.
    """
    import sys

    from foundry.cli.documents import workflow_of
    from foundry.report.terminal_safe import encodable
    from foundry.workflow.graph import graph

    click.echo(encodable(graph(workflow_of(document)), sys.stdout.encoding), nl=False)
