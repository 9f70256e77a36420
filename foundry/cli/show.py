"""`foundry show`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from foundry.report.artifacts import Item


@click.command()
@click.argument("artifact", required=False)
@click.option("--dir", "folder", default=".", type=click.Path(path_type=Path),
              help="The folder of the build. Default: this one.")  # fmt: skip
@click.option("--raw", is_flag=True, help="The file's own text, not laid out.")
def command(artifact: str | None, folder: Path, raw: bool) -> None:
    """Read an artifact of a build in the terminal; without a name, list them.

    The beginning of a name is enough: `foundry show arch`. Into a pipe or a file goes the
    artifact's exact text.
    """
    from foundry.engine.workspace import find
    from foundry.report import artifacts

    project = find(folder)
    if artifact is None:
        _list(artifacts.items(project))
        return
    chosen = artifacts.choose(project, artifact)
    if len(chosen) > 1:
        _list(chosen)
        return
    _print(project.folder / chosen[0].name, chosen[0].name, raw=raw)


def _print(path: Path, name: str, *, raw: bool) -> None:
    import sys

    if not sys.stdout.isatty():
        sys.stdout.buffer.write(path.read_bytes())
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    if raw:
        from foundry.cli.output import say
        from foundry.report.terminal_safe import safe_block

        say(safe_block(text), nl=False)
        return
    from foundry.cli.output import show
    from foundry.report.artifacts import artifact_view

    show(artifact_view(name, text))


def _list(items: "list[Item]") -> None:
    import time

    from foundry.cli.output import show
    from foundry.report.artifacts import list_view

    show(list_view(items, time.time()))
