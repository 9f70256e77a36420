"""Options that several commands share."""

import math
from collections.abc import Callable
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
                     help="Another model for a role: scout, architect, builder, tester, writer, "
                     "analyst. Repeatable."),
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


def view_options(function: F) -> F:
    """How progress is shown."""
    for option in (
        click.option("--quiet", "-q", is_flag=True, help="Only the result."),
        click.option("--json", "as_json", is_flag=True,
                     help="One JSON event a line on stdout, and nothing else."),
    ):  # fmt: skip
        function = option(function)
    return function


def role_models(pairs: tuple[str, ...]) -> dict[str, str]:
    """`ROLE=MODEL` pairs as a mapping; raises InputError for anything else."""
    from foundry.schema.workflow import LoopStep
    from foundry.workflow.load import builtin

    steps = builtin("build").steps
    bodies = [each for s in steps for each in (s.body if isinstance(s, LoopStep) else (s,))]
    known = dict.fromkeys(step.role for step in bodies if not step.action)
    models = {}
    for pair in pairs:
        role, separator, model = pair.partition("=")
        if not separator or not model or role not in known:
            raise InputError(
                f"--model-for {pair!r} is not ROLE=MODEL", hint=f"Roles are {', '.join(known)}"
            )
        models[role] = model
    return models


def read_spec(text: str | None, file: Path | None) -> str:
    """The spec from the argument, a file, or stdin for `-`; raises InputError."""
    import sys

    if (text is None) == (file is None):
        raise click.UsageError("Give the spec as an argument, with --spec-file, or - for stdin.")
    try:
        if file is not None:
            return file.read_text(encoding="utf-8")
        if text == "-":
            return sys.stdin.buffer.read().decode("utf-8")
    except OSError as error:
        raise InputError(
            f"cannot read the spec from {file or 'stdin'}: {error.strerror}",
            hint="Name a text file that exists, or - for stdin",
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"the spec is not UTF-8 text (byte {error.start})", hint="Give it as plain text"
        ) from error
    return text or ""
