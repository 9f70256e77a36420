"""`foundry workflow trace`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from foundry.errors import FoundryError
    from foundry.schema.workflow import Workflow
    from foundry.workflow.trace import Line

Context = dict[str, Any]


@click.command()
@click.argument("document", metavar="NAME|FILE")
@click.option("--context", default="{}", metavar="JSON|@FILE",
              help="Variables to begin with: a JSON object, or a file of one.")  # fmt: skip
@click.option("--patches", metavar="FILE",
              help="A JSON object per line, merged into the context before the call that yields "
              "the step of that line. A blank line changes nothing; - is stdin.")  # fmt: skip
def command(document: str, context: str, patches: str | None) -> None:
    """Which steps would run, without a model: every step is taken as completed.

    One JSON line per step, {"step": id, "loopPath": [{"loopId": id, "iteration": n}]} with n from
    0; then {"complete": true}, or {"error": {...}} and exit code 1. Either has "warnings" if there
    are any.
    """
    from foundry.cli.documents import workflow_of
    from foundry.errors import FoundryError

    try:
        prepared = workflow_of(document), _context(context), _patches(patches)
    except FoundryError as error:
        _say({"error": _described(error)})
        raise
    _walk(*prepared)


def _walk(workflow: "Workflow", context: Context, patches: Sequence[Context]) -> None:
    from foundry.errors import WorkflowError
    from foundry.report.terminal_safe import safe
    from foundry.workflow.trace import trace

    line: Line = {}
    count = 0
    for line in trace(workflow, context, patches):
        _say(line)
        count += 1
    for warning in line.get("warnings", ()):
        click.echo(safe(f"warning: {warning}"), err=True)
    if unused := sum(map(bool, patches[count:])):
        lines = "1 patch was" if unused == 1 else f"{unused} patches were"
        click.echo(f"note: {lines} left over: the workflow ended before", err=True)
    if blocked := line.get("error"):
        raise WorkflowError(blocked["message"], hint=blocked["hint"])


def _context(text: str) -> Context:
    from foundry.cli.documents import json_object, text_of

    given = text_of(text[1:], "the context") if text.startswith("@") else text
    return json_object(given, "--context")


def _patches(file: str | None) -> list[Context]:
    from foundry.cli.documents import json_object, text_of

    if file is None:
        return []
    lines = text_of(file, "the patches").split("\n")
    return [
        json_object(line, f"{file}, line {number}") if line.strip() else {}
        for number, line in enumerate(lines, 1)
    ]


def _described(error: "FoundryError") -> dict[str, Any]:
    from foundry.errors import WorkflowError

    code = "invalid-workflow" if isinstance(error, WorkflowError) else "invalid-input"
    return {"code": code, "message": error.message, "step": None, "hint": error.hint}


def _say(line: "Line") -> None:
    """One line at once; it fails with the pipe, so that `foundry workflow trace … | head` ends."""
    import json

    click.echo(json.dumps(line).replace("\x7f", "\\u007f"))
