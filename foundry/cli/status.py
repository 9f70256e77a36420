"""`foundry status`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from foundry.store.project import Project


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, default=".",
                type=click.Path(path_type=Path))  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
def command(folder: Path, as_json: bool) -> None:
    """How the newest build in or beside DIR stands.

    Reads its journal, ledger and log; changes nothing, and may be run while it works.
    """
    from foundry.engine.workspace import find
    from foundry.report.status import status_of

    project = find(folder)
    report, sections = status_of(project), _sections(project)
    if as_json:
        from pydantic_core import to_json

        value = {**report.model_dump(), **({"sections": sections} if sections else {})}
        click.echo(to_json(value, indent=2))
        return
    from foundry.cli.output import show
    from foundry.report.status_view import status_view

    show(status_view(report))
    if report.resume:  # not laid out: whoever copies it wants it in one piece
        from foundry.report.terminal_safe import safe

        click.echo(f"\ngo on with: {safe(report.resume)}")
    for text in sections.values():
        from foundry.report.artifacts import markdown_view

        click.echo()
        show(markdown_view(text))


def _sections(project: "Project") -> dict[str, str]:
    """The sections of installed packages by name; one that can't be shown is named on stderr."""
    import sys
    from contextlib import redirect_stdout

    from foundry.errors import FoundryError, PluginError
    from foundry.report.sections import SECTIONS, section_text
    from foundry.report.status import summaries_of
    from foundry.report.terminal_safe import safe

    texts: dict[str, str] = {}
    if not SECTIONS.names():
        return texts
    try:
        summary, evidence = summaries_of(project)
    except FoundryError as error:
        click.echo(safe(f"note: no sections of packages: {error}"), err=True)
        return texts
    for name in SECTIONS.names():
        try:
            with redirect_stdout(sys.stderr):  # what a package prints is no part of ours
                text = section_text(name, summary, evidence)
        except PluginError as error:
            click.echo(safe(f"note: {error}"), err=True)
            continue
        if text:
            texts[name] = text
    return texts
