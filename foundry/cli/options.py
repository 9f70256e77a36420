"""Options that several commands share."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from foundry.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])


class _Limit(click.FloatRange):
    """More than nothing, and a number: click takes `nan` to be in every range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        return self.fail("nan is no limit.", param, ctx) if math.isnan(number) else number


LIMIT = _Limit(0, 1_000_000, min_open=True)


def model_options(function: F) -> F:
    """Which model answers, and where."""
    for option in (
        click.option("--base-url", default=None, metavar="URL",
                     help="Any server with the Messages API. Default: ANTHROPIC_BASE_URL."),
        click.option("--model-for", "models", multiple=True, metavar="ROLE=MODEL",
                     help="Another model for a role of the workflow; a build's are scout, "
                     "architect, builder, tester, writer, analyst. Repeatable."),
        click.option("--model", default=None, metavar="MODEL", help="The model of every role."),
    ):  # fmt: skip
        function = option(function)
    return function


def limit_options(function: F) -> F:
    """What a run may use."""
    for option in (
        click.option("--pause-after", multiple=True, metavar="PHASE",
                     help="Pause when this phase is done (exit code 4). Repeatable."),
        click.option("--max-hours", type=LIMIT, default=None,
                     help="Hours that this invocation may run. Default: 8."),
        click.option("--max-usd", type=LIMIT, default=None,
                     help="US dollars that the whole run may cost. Default: 10."),
    ):  # fmt: skip
        function = option(function)
    return function


def run_options(function: F) -> F:
    """Where a new run works, and what it does of its workflow."""
    for option in (
        click.option("--check", "checks", multiple=True, metavar="COMMAND",
                     help="A command of your own that has to hold at the end, for the result to "
                     "be verified. Repeatable."),
        click.option("--skip", multiple=True, metavar="PHASE",
                     help="Leave out a phase; of a build: test, docs, deploy, feedback. "
                     "Repeatable."),
        click.option("--dir", "folder", type=click.Path(path_type=Path), default=None,
                     help="A new or empty folder, or an existing repository. Default: this one, "
                     "or a new one in it named after the spec."),
    ):  # fmt: skip
        function = option(function)
    return function


def yes_option(function: F) -> F:
    """Whether a workflow's own questions are answered already."""
    words = "Give every confirmation that the workflow asks for."
    return click.option("--yes", is_flag=True, help=words)(function)


def permission_options(function: F) -> F:
    """What the model's calls may do, how its commands are run, and who decides."""
    for option in (
        click.option("--sandbox", default=None, metavar="NAME",
                     help="How commands are run: a sandbox that `foundry plugins` lists. "
                     "Default: process."),
        click.option("--deny", multiple=True, metavar="RULE", help="Like --allow, to forbid."),
        click.option("--ask", multiple=True, metavar="RULE", help="Like --allow, to ask about."),
        click.option("--allow", multiple=True, metavar="RULE",
                     help="Allow a tool, or what it is used for: 'run_command: zig *', "
                     "'write_file: docs/**'. The last rule that matches decides. Repeatable."),
        click.option("--permission", type=click.Choice(("ask", "auto", "plan")), default=None,
                     help="Who decides what the model may do: you at the terminal (ask), the "
                     "rules alone (auto), or nobody, for tools that only read (plan). "
                     "Default: auto, or what policy.yaml in FOUNDRY_HOME says."),
    ):  # fmt: skip
        function = option(function)
    return function


def asked(given: Mapping[str, Any]) -> tuple[dict[str, bool], dict[str, Any]]:
    """A command's options as those of its view, and the rest by their fields in RunOptions.

    Raises InputError for one that makes no sense.
    """
    from foundry.permission.policy import parse_rule
    from foundry.schema.permission import Effect

    rest = dict(given)
    view = {name.removeprefix("as_"): bool(rest.pop(name, False)) for name in VIEW}
    rules = [(effect, text) for effect in Effect for text in rest.pop(effect.value, ())]
    rest["rules"] = tuple(parse_rule(effect, text) for effect, text in rules)
    models = rest.get("models") or ()
    rest["models"] = dict(models) if isinstance(models, Mapping) else role_models(models)
    return view, rest


VIEW = ("as_json", "quiet", "verbose")


def view_options(function: F) -> F:
    """How progress is shown."""
    for option in (
        click.option("--quiet", "-q", is_flag=True, help="Only the result."),
        click.option("--json", "as_json", is_flag=True,
                     help="One JSON event a line on stdout, and nothing else."),
        click.option("--verbose", "-v", is_flag=True,
                     help="All that the model says, calls and is answered, written down."),
    ):  # fmt: skip
        function = option(function)
    return function


def role_models(pairs: tuple[str, ...]) -> dict[str, str]:
    """`ROLE=MODEL` pairs as a mapping; raises InputError for anything else."""
    models = {}
    for pair in pairs:
        role, separator, model = pair.partition("=")
        if not (separator and role and model):
            raise InputError(
                f"--model-for {pair!r} is not ROLE=MODEL",
                hint="The roles are those of the workflow's steps; a build's are scout, "
                "architect, builder, tester, writer, analyst",
            )
        models[role] = model
    return models


def assignments(pairs: tuple[str, ...]) -> dict[str, Any]:
    """`NAME=JSON` pairs as variables; raises InputError for anything else."""
    variables = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not _is_variable(name):
            raise InputError(
                f"--set {pair!r} is not NAME=JSON", hint="""Like --set 'items=["a"]'"""
            )
        variables[name] = _json(value, f"the value of --set {name}")
    return variables


def read_variables(text: str) -> dict[str, Any]:
    """Variables from a JSON object, or from a file of one as `@FILE`; raises InputError."""
    source = "--context"
    if text.startswith("@"):
        source = text.removeprefix("@")
        text = _read(Path(source), "the context")
    variables = _json(text, source)
    wrong = not isinstance(variables, dict) or [n for n in variables if not _is_variable(n)]
    if wrong:
        told = f"has the name {wrong[0]!r}" if isinstance(wrong, list) else "is no JSON object"
        raise InputError(
            f"{source} {told}", hint="Give an object of names (letters, digits, _) with values"
        )
    return dict(variables)


def _is_variable(name: str) -> bool:
    import re

    from foundry.schema.workflow import NAME

    return re.fullmatch(NAME, name) is not None


def _json(text: str, what: str) -> Any:
    import json

    def constant(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")

    try:
        return json.loads(text, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{what} is not JSON: {error}", hint="""A text is written with quotes: '"like this"'"""
        ) from error


def read_spec(text: str | None, file: Path | None) -> str:
    """The spec from the argument, a file, or stdin for `-`; raises InputError."""
    if (text is None) == (file is None):
        raise click.UsageError("Give the spec as an argument, with --spec-file, or - for stdin.")
    if file is not None or text == "-":
        return _read(file, "the spec")
    return text or ""


def _read(file: Path | None, what: str) -> str:
    """A file's text, or that of stdin without one."""
    import sys

    try:
        raw = file.read_bytes() if file is not None else sys.stdin.buffer.read()
        return raw.decode("utf-8")
    except OSError as error:
        raise InputError(
            f"cannot read {what} from {file or 'stdin'}: {error.strerror}",
            hint="Name a text file that exists, or - for stdin",
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{what} is not UTF-8 text (byte {error.start})", hint="Give it as plain text"
        ) from error
