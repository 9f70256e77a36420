"""`foundry workflow`: a group whose commands are loaded only when they are called."""

from collections.abc import Mapping

import click

from foundry.cli.main import LazyGroup

COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Look": {
        "list": "The workflows that there are: those that ship, and your own.",
        "show": "What a workflow does, as an outline.",
        "graph": "A workflow as a Mermaid flowchart.",
    },
    "Write": {
        "new": "Begin one of your own, from a commented starting point.",
        "validate": "Every problem of a document, with its place and what to do.",
        "schema": "The JSON Schema of a document, for editors.",
    },
    "Run": {
        "trace": "Which steps would run, without a model.",
        "run": "Run a document's steps with a model, like a build.",
    },
}


class _WorkflowGroup(LazyGroup):
    sections = COMMANDS
    prefix = "foundry.cli.workflow_"


@click.group(cls=_WorkflowGroup)
def command() -> None:
    """What is done in which order, as documents: YAML or JSON, of the public WorkRail format."""
