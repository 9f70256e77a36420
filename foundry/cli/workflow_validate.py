"""`foundry workflow validate`."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from foundry.workflow.problem import Problem


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.option(
    "--strict", is_flag=True, help="Warnings are errors too: unknown variables, tools, templates."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a file, for programs.")
@click.pass_context
def command(context: click.Context, files: tuple[str, ...], strict: bool, as_json: bool) -> None:
    """Every problem of the documents, each on a line: FILE: $.path: what to do.

    The path is a JSONPath into the document; - is stdin. Exit code 1 when a file is invalid;
    warnings alone leave it valid.
    """
    from foundry.report.units import counted

    invalid = problems = 0
    for file in files:
        found = _problems(file, strict=strict)
        errors = _errors(found)
        (_say_json if as_json else _say)(file, found, valid=not errors)
        problems += len(errors)
        invalid += bool(errors)
    if invalid and not as_json:
        where = f"{invalid} of {counted(len(files), 'file')}" if len(files) > 1 else "1 file"
        click.echo(f"{counted(problems, 'problem')} in {where}")
    if invalid:
        context.exit(1)


def _problems(file: str, *, strict: bool) -> "tuple[Problem, ...]":
    """What is wrong; a file that can't be read has that as its problem."""
    from foundry.cli.documents import STDIN
    from foundry.errors import FoundryError
    from foundry.workflow.load import examine, read
    from foundry.workflow.problem import Problem

    try:
        if file == STDIN:
            return _of_stdin(strict=strict)
        path = Path(file)
        if _errors(found := examine(path, strict=strict)):
            return found
        return (*found, *_unknown(read(path), path.parent, strict=strict))
    except FoundryError as error:
        return (Problem("$", str(error), "error"),)


def _of_stdin(*, strict: bool) -> "tuple[Problem, ...]":
    from foundry.cli.documents import STDIN, text_of
    from foundry.workflow.load import examine_text
    from foundry.workflow.reading.text import read_text

    text = text_of(STDIN, "the document")
    json = text.lstrip().startswith("{")
    if _errors(found := examine_text(text, json=json, strict=strict)):
        return found
    return (*found, *_unknown(read_text(text, json=json).value, Path(), strict=strict))


def _errors(problems: "Iterable[Problem]") -> "list[Problem]":
    return [each for each in problems if each.level == "error"]


def _unknown(raw: dict[str, Any], folder: Path, *, strict: bool) -> "Iterator[Problem]":
    """What a valid document names and a run here does not have: tools, contracts, templates."""
    from foundry.engine.names import names_problems
    from foundry.schema.workflow import Workflow
    from foundry.workflow.problem import Problem

    document = {key: value for key, value in raw.items() if key != "$schema"}
    for each in names_problems(Workflow.model_validate(document), folder):
        yield Problem(
            each.path, f"can't be run here: {each.message}", "error" if strict else "warning"
        )


def _say(file: str, problems: "tuple[Problem, ...]", *, valid: bool) -> None:
    import sys

    from foundry.cli.documents import problem_lines
    from foundry.report.terminal_safe import encodable, safe

    for line in problem_lines(file, problems):
        click.echo(encodable(line, sys.stdout.encoding))
    if valid:
        click.echo(encodable(safe(f"{file}: valid"), sys.stdout.encoding))


def _say_json(file: str, problems: "tuple[Problem, ...]", *, valid: bool) -> None:
    import json
    from dataclasses import asdict

    found = [asdict(each) for each in problems]
    told = json.dumps({"file": file, "valid": valid, "problems": found})
    click.echo(told.replace("\x7f", "\\u007f"))
