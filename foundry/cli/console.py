"""A rich console on one of our streams: text is never markup, and nothing is guessed at."""

import sys
from typing import IO, cast

import click
from rich.console import Console, RenderableType

from foundry.cli.sink import Sink
from foundry.report.terminal_safe import encodable

PIPE_COLUMNS = 100
"""The width where no terminal has one."""


def console_on(sink: Sink) -> Console:
    """A console that writes to a sink."""
    return Console(
        file=cast(IO[str], sink),
        force_terminal=sink.isatty(),
        width=None if sink.isatty() else PIPE_COLUMNS,
        highlight=False,
        markup=False,
        emoji=False,
    )


def show(renderable: RenderableType) -> None:
    """Print on this process's own output; what goes into a file has no trailing padding."""
    console = console_on(Sink(sys.stdout))
    if console.is_terminal:
        console.print(renderable)
        return
    with console.capture() as captured:
        console.print(renderable)
    for line in captured.get().splitlines():
        click.echo(encodable(line.rstrip(), sys.stdout.encoding))
