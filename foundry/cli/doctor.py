"""`foundry doctor`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.text import Text

    from foundry.report.health import Row


@click.command()
@click.option("--model", default=None, metavar="MODEL", help="The model that a build would use.")
@click.option("--base-url", default="", metavar="URL",
              help="The server that a build would use. Default: ANTHROPIC_BASE_URL.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON array, for programs.")
@click.pass_context
def command(context: click.Context, model: str | None, base_url: str, as_json: bool) -> None:
    """Check this machine, with the fix for whatever is missing.

    Spends nothing: the model's server is asked for its list of models only. Exit code 1 when
    something fails without which no build can run.
    """
    from foundry.config import DEFAULT_MODEL
    from foundry.report.health import check_up

    rows = []
    for row in check_up(model or DEFAULT_MODEL, base_url, Path.cwd()):
        rows.append(row)
        if not as_json:
            _show(row)
    if as_json:
        import json

        click.echo(json.dumps([row.model_dump() for row in rows], indent=2))
    if any(row.state == "fail" for row in rows):
        context.exit(1)


def _show(row: "Row") -> None:
    from rich.padding import Padding

    from foundry.cli.output import show
    from foundry.report.terminal_safe import safe

    show(_head(row))
    if row.fix:
        show(Padding(f"→ {safe(row.fix)}", (0, 0, 0, 12), expand=False))


def _head(row: "Row") -> "Text":
    from rich.text import Text

    from foundry.report.lines import FAILED, NEUTRAL, OK
    from foundry.report.terminal_safe import safe

    mark, style = {"ok": (OK, "green"), "warn": (NEUTRAL, "yellow"), "fail": (FAILED, "red")}[
        row.state
    ]
    return Text(f"{mark} ", style).append(f"{row.name:<9} {safe(row.what)}", "default")
