"""`foundry workflow new`."""

import shlex
from pathlib import Path

import click

TEMPLATE, TITLE = "my-workflow", "My workflow"
"""What the starting point calls itself."""

WORDS = ("y", "n", "yes", "no", "on", "off", "true", "false", "null")
"""What is no text to some reader of YAML."""


@click.command()
@click.argument("name")
@click.option("--dir", "folder", default=".", type=click.Path(path_type=Path),
              help="The folder that it is written to. Default: this one.")  # fmt: skip
def command(name: str, folder: Path) -> None:
    """Write NAME.yaml: a commented starting point, valid as it stands.

    It shows a step, a condition, a loop, a function, validation, and what a step may say about
    how it is run. A file that exists is not overwritten.
    """
    import sys

    from foundry.config import home, program
    from foundry.report.terminal_safe import encodable, safe

    path = _written(_checked(name), folder)
    file, foundry = shlex.quote(str(path)), f"{program()} workflow"
    for line in (
        f"wrote    {path}",
        f"check    {foundry} validate --strict {file}",
        f"trace    {foundry} trace {file}",
        f"run      {foundry} run {file}",
        f"keep     in {home() / 'workflows'} it can be called by its name alone",
    ):
        click.echo(encodable(safe(line), sys.stdout.encoding))


def _checked(name: str) -> str:
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


def _written(name: str, folder: Path) -> Path:
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
    return f"'{text}'" if text[0].isdigit() or text.lower() in WORDS else text
