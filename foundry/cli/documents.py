"""Workflow documents and JSON that a person names on the command line."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from foundry.schema.workflow import Workflow
    from foundry.workflow.problem import Problem

STDIN = "-"


def workflow_of(name: str) -> "Workflow":
    """The workflow of a name or a file.

    What is wrong with it is told on stderr, a line each; then it raises WorkflowError.
    """
    from foundry.config import program
    from foundry.errors import WorkflowError
    from foundry.report.units import counted
    from foundry.workflow.load import examine, find, load

    path = find(name).path
    if errors := [each for each in examine(path) if each.level == "error"]:
        for line in problem_lines(str(path), errors):
            click.echo(line, err=True)
        raise WorkflowError(
            f"{path} is not a valid workflow: {counted(len(errors), 'problem')}",
            hint=f"`{program()} workflow validate {path}` shows them",
        )
    return load(path)


def problem_lines(file: str, problems: "Iterable[Problem]") -> Iterable[str]:
    """`FILE: $.path: message`; what is only a warning says so."""
    from foundry.report.terminal_safe import safe

    for each in problems:
        kind = "" if each.level == "error" else "warning: "
        yield safe(f"{file}: {each.path}: {kind}{each.message}")


def text_of(file: str, what: str) -> str:
    """The text of a file, or of stdin for `-`; raises InputError."""
    import sys

    from foundry.errors import InputError

    try:
        raw = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
        return raw.decode("utf-8")
    except OSError as error:
        raise InputError(
            f"cannot read {what} from {file}: {error.strerror}", hint="Name a file that exists"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{what} in {file}: byte {error.start} is not UTF-8", hint="Save it as UTF-8"
        ) from error


def json_object(text: str, what: str) -> dict[str, Any]:
    """A JSON object; raises InputError that says what is wrong with it."""
    from foundry.errors import InputError
    from foundry.workflow.parsing import read_text

    read = read_text(text, json=True)
    wrong = [f"{each.problem.path} {each.message}" for each in read.findings]
    if not wrong and not isinstance(read.value, dict):
        wrong = ["is no JSON object"]
    if wrong:
        raise InputError(f"{what}: {'; '.join(wrong)}", hint='Write it like {"name": "value"}')
    found: dict[str, Any] = read.value
    return found
