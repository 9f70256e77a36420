"""`foundry workflow list`."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from foundry.report.workflow_view import Row
    from foundry.workflow.load import Source


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON array, for programs.")
def command(as_json: bool) -> None:
    """The workflows that there are: those that ship, and your own in ~/.foundry/workflows."""
    from foundry.workflow.load import library

    rows = [_row(source) for source in library()]
    if as_json:
        import json
        from dataclasses import asdict

        click.echo(json.dumps([asdict(row) for row in rows], indent=2))
        return
    from foundry.cli.console import show
    from foundry.report.workflow_view import list_view

    show(list_view(rows))


def _row(source: "Source") -> "Row":
    from foundry.report.workflow_view import Row
    from foundry.schema.workflow import LoopStep
    from foundry.workflow.load import load

    about = (source.id, source.name, source.version, source.origin, str(source.path))
    if problem := _problem(source):
        return Row(*about, source.description, problem=problem)
    steps = load(source.path).steps
    bodies = [step.steps for step in steps if isinstance(step, LoopStep)]
    count = len(steps) - len(bodies) + sum(map(len, bodies))
    return Row(*about, source.description, count, len(bodies))


def _problem(source: "Source") -> str:
    """Why a document is no workflow, or nothing."""
    from foundry.report.units import counted
    from foundry.workflow.load import examine

    if source.problem:
        return source.problem
    errors = [each for each in examine(source.path) if each.level == "error"]
    return f"{counted(len(errors), 'problem')}: {errors[0]}" if errors else ""
