"""`foundry workflow`: the documents that say what is done in which order, and runs of them."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from foundry.cli.main import SectionedGroup
from foundry.cli.options import (
    limit_options,
    model_options,
    permission_options,
    read_variables,
    run_options,
    view_options,
    yes_option,
)

if TYPE_CHECKING:
    from foundry.errors import FoundryError
    from foundry.report.workflow_view import Row
    from foundry.schema.workflow import Workflow
    from foundry.workflow.load import Source
    from foundry.workflow.problem import Problem
    from foundry.workflow.replay import Line

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


@click.group(cls=SectionedGroup, sections=COMMANDS)
def command() -> None:
    """What is done in which order, as documents: YAML or JSON, of the public WorkRail format."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON array, for programs.")
def list_workflows(as_json: bool) -> None:
    """The workflows that there are: those that ship, and your own in ~/.foundry/workflows."""
    from foundry.workflow.load import library

    rows = [_row(source) for source in library()]
    if as_json:
        import json
        from dataclasses import asdict

        click.echo(json.dumps([asdict(row) for row in rows], indent=2))
        return
    from foundry.cli.output import show
    from foundry.report.workflow_view import list_view

    show(list_view(rows))


def _row(source: "Source") -> "Row":
    from foundry.report.workflow_view import Row
    from foundry.schema.workflow import LoopStep
    from foundry.workflow.load import load

    about = (source.id, source.name, source.version, source.origin, str(source.path))
    if problem := _first_problem(source):
        return Row(*about, source.description, problem=problem)
    steps = load(source.path).steps
    bodies = [step.steps for step in steps if isinstance(step, LoopStep)]
    count = len(steps) - len(bodies) + sum(map(len, bodies))
    return Row(*about, source.description, count, len(bodies))


def _first_problem(source: "Source") -> str:
    """Why a document is no workflow, or nothing."""
    from foundry.report.units import counted
    from foundry.workflow.load import examine

    if source.problem:
        return source.problem
    errors = [each for each in examine(source.path) if each.level == "error"]
    return f"{counted(len(errors), 'problem')}: {errors[0]}" if errors else ""


@command.command("show")
@click.argument("document", metavar="NAME|FILE")
@click.option("--json", "as_json", is_flag=True, help="The document itself, as JSON.")
def show_workflow(document: str, as_json: bool) -> None:
    """What a workflow does, as an outline: steps, conditions, loops, functions, validation."""
    if as_json:
        import json

        from foundry.workflow.load import find, read

        click.echo(json.dumps(read(find(document).path), indent=2))
        return
    from foundry.cli.documents import workflow_of
    from foundry.cli.output import show
    from foundry.report.workflow_view import workflow_view

    show(workflow_view(workflow_of(document)))


@command.command("graph")
@click.argument("document", metavar="NAME|FILE")
def graph_workflow(document: str) -> None:
    """A workflow as a Mermaid flowchart: steps, conditions, loops and their way back.

    GitHub, GitLab and many editors draw it in Markdown, between ```mermaid and ```.
    """
    from foundry.cli.documents import workflow_of
    from foundry.cli.output import say
    from foundry.workflow.graph import graph

    say(graph(workflow_of(document)), nl=False)


TEMPLATE, TITLE = "my-workflow", "My workflow"
"""What the starting point calls itself."""

NOT_TEXT = ("y", "n", "yes", "no", "on", "off", "true", "false", "null")
"""What is no text to some reader of YAML."""


@command.command("new")
@click.argument("name")
@click.option("--dir", "folder", default=".", type=click.Path(path_type=Path),
              help="The folder that it is written to. Default: this one.")  # fmt: skip
def new(name: str, folder: Path) -> None:
    """Write NAME.yaml: a commented starting point, valid as it stands.

    It shows a step, a condition, a loop, a function, validation, and what a step may say about
    how it is run. A file that exists is not overwritten.
    """
    from foundry.cli.output import say
    from foundry.config import home, program
    from foundry.report.terminal_safe import safe

    path = _write_document(_free_id(name), folder)
    file, foundry = shlex.quote(str(path)), f"{program()} workflow"
    for line in (
        f"wrote    {path}",
        f"check    {foundry} validate --strict {file}",
        f"trace    {foundry} trace {file}",
        f"run      {foundry} run {file}",
        f"keep     in {home() / 'workflows'} it can be called by its name alone",
    ):
        say(safe(line))


def _free_id(name: str) -> str:
    from foundry.errors import InputError
    from foundry.workflow.load import library

    slug = name.removesuffix(".yaml")
    if not _is_id(slug):
        raise InputError(
            f"{name!r} can't be the name of a workflow",
            hint="Use at most 64 letters, digits, - and _, with a letter or a digit first; "
            "--dir names the folder",
        )
    taken = [source for source in library() if slug in (source.id, source.path.stem)]
    if taken:
        raise InputError(
            f"there is a workflow {slug!r} already: {taken[0].path}", hint="Take another name"
        )
    return slug


def _is_id(name: str) -> bool:
    from pydantic import TypeAdapter, ValidationError

    from foundry.schema.workflow import Id

    try:
        TypeAdapter(Id).validate_python(name)
    except ValidationError:
        return False
    return True


def _write_document(name: str, folder: Path) -> Path:
    from foundry.errors import InputError
    from foundry.workflow.load import BUILTIN

    text = (BUILTIN / "starting-point.yaml.in").read_text(encoding="utf-8")
    title = name.replace("-", " ").replace("_", " ").strip().capitalize()
    for key, placeholder, value in (("id", TEMPLATE, name), ("name", TITLE, title)):
        text = text.replace(f"\n{key}: {placeholder}\n", f"\n{key}: {_scalar(value)}\n")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.yaml"
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace(TEMPLATE, name))
    except FileExistsError as error:
        raise InputError(
            f"{path} exists, and is left as it is", hint="Take another name, or --dir"
        ) from error
    return path


def _scalar(text: str) -> str:
    """A text as YAML of any version reads it back: `2024` and `no` need quotes."""
    return f"'{text}'" if text[0].isdigit() or text.lower() in NOT_TEXT else text


@command.command("validate")
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.option(
    "--strict", is_flag=True, help="Warnings are errors too: unknown variables, tools, templates."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a file, for programs.")
@click.pass_context
def validate(context: click.Context, files: tuple[str, ...], strict: bool, as_json: bool) -> None:
    """Every problem of the documents, each on a line: FILE: $.path: what to do.

    The path is a JSONPath into the document; - is stdin. Exit code 1 when a file is invalid;
    warnings alone leave it valid.
    """
    from foundry.report.units import counted

    invalid = problems = 0
    for file in files:
        found = _problems(file, strict=strict)
        errors = _errors(found)
        (_say_result_as_json if as_json else _say_result)(file, found, valid=not errors)
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
    from foundry.workflow.parsing import read_text

    text = text_of(STDIN, "the document")
    json = text.lstrip().startswith("{")
    if _errors(found := examine_text(text, json=json, strict=strict)):
        return found
    return (*found, *_unknown(read_text(text, json=json).value, Path(), strict=strict))


def _errors(problems: "Iterable[Problem]") -> "list[Problem]":
    return [each for each in problems if each.level == "error"]


def _unknown(raw: dict[str, Any], folder: Path, *, strict: bool) -> "Iterator[Problem]":
    """What a valid document names and a run here does not have: tools, contracts, templates."""
    from foundry.engine.runnable import runnable_problems
    from foundry.schema.workflow import Workflow
    from foundry.workflow.problem import Problem

    document = {key: value for key, value in raw.items() if key != "$schema"}
    for each in runnable_problems(Workflow.model_validate(document), folder):
        yield Problem(
            each.path, f"can't be run here: {each.message}", "error" if strict else "warning"
        )


def _say_result(file: str, problems: "tuple[Problem, ...]", *, valid: bool) -> None:
    from foundry.cli.documents import problem_lines
    from foundry.cli.output import say
    from foundry.report.terminal_safe import safe

    for line in problem_lines(file, problems):
        say(line)
    if valid:
        say(safe(f"{file}: valid"))


def _say_result_as_json(file: str, problems: "tuple[Problem, ...]", *, valid: bool) -> None:
    from dataclasses import asdict

    from foundry.cli.output import ascii_line, say

    found = [asdict(each) for each in problems]
    say(ascii_line({"file": file, "valid": valid, "problems": found}))


@command.command("schema")
def schema() -> None:
    """The JSON Schema of a workflow document, for editors and other programs."""
    import json

    from foundry.workflow.json_schema import json_schema

    click.echo(json.dumps(json_schema(), indent=2))


Context = dict[str, Any]


@command.command("trace")
@click.argument("document", metavar="NAME|FILE")
@click.option("--context", default="{}", metavar="JSON|@FILE",
              help="Variables to begin with: a JSON object, or a file of one.")  # fmt: skip
@click.option("--patches", metavar="FILE",
              help="A JSON object per line, merged into the context before the call that yields "
              "the step of that line. A blank line changes nothing; - is stdin.")  # fmt: skip
def trace_workflow(document: str, context: str, patches: str | None) -> None:
    """Which steps would run, without a model: every step is taken as completed.

    One JSON line per step, {"step": id, "loopPath": [{"loopId": id, "iteration": n}]} with n from
    0; then {"complete": true}, or {"error": {...}} and exit code 1. Either has "warnings" if there
    are any.
    """
    from foundry.cli.documents import workflow_of
    from foundry.cli.output import ascii_line, say
    from foundry.errors import FoundryError

    try:
        prepared = workflow_of(document), _variables(context), _patches(patches)
    except FoundryError as error:
        say(ascii_line({"error": _error_fields(error)}))
        raise
    _print_trace(*prepared)


def _print_trace(workflow: "Workflow", context: Context, patches: Sequence[Context]) -> None:
    from foundry.cli.output import ascii_line, say
    from foundry.errors import WorkflowError
    from foundry.report.terminal_safe import safe
    from foundry.workflow.replay import trace

    line: Line = {}
    count = 0
    for line in trace(workflow, context, patches):
        say(ascii_line(line))
        count += 1
    for warning in line.get("warnings", ()):
        click.echo(safe(f"warning: {warning}"), err=True)
    if unused := sum(map(bool, patches[count:])):
        patches_were = "1 patch was" if unused == 1 else f"{unused} patches were"
        click.echo(f"note: {patches_were} left over: the workflow ended before", err=True)
    if blocked := line.get("error"):
        raise WorkflowError(blocked["message"], hint=blocked["hint"])


def _variables(text: str) -> Context:
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


def _error_fields(error: "FoundryError") -> dict[str, Any]:
    from foundry.errors import WorkflowError

    code = "invalid-workflow" if isinstance(error, WorkflowError) else "invalid-input"
    return {"code": code, "message": error.message, "step": None, "hint": error.hint}


@command.command(
    "run",
    epilog="The same journal, gates and reports as a build. The document is kept with the run: "
    "`foundry resume` goes on with the one that it began with.",
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
def run(name: str, context: str, spec: str | None, **options: Any) -> int:
    """Run the steps of a workflow with a model, unattended."""
    from foundry.cli.work import start
    from foundry.engine.pinned_workflow import choose

    workflow = choose(name).workflow
    text = f"{workflow.name}\n\n{workflow.description}" if spec is None else spec
    variables = read_variables(context)
    return start({**options, "workflow": name, "spec": text, "variables": variables})
