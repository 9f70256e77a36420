"""What is printed: on streams that may close, in encodings that may be poor, laid out by rich."""

import json
import os
import sys
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

import click

from foundry.report.terminal_safe import encodable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PIPE_COLUMNS = 100
"""The width where no terminal has one."""


class Sink:
    """Wraps a text stream; writes what its encoding holds, and never fails."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.mute = False

    @property
    def encoding(self) -> str:
        """What may be written; rich draws with ASCII when it is not UTF-8."""
        if self.isatty() and not shows_unicode(os.environ):
            return "ascii"
        return self._stream.encoding or "utf-8"

    def write(self, text: str) -> int:
        """Write and flush, so that whoever follows sees each line as it happens."""
        if not self.mute:
            try:
                self._stream.write(encodable(text, self.encoding))
                self._stream.flush()
            except (OSError, ValueError):  # ValueError: the stream was closed
                self.mute = True
        return len(text)

    def line(self, text: str) -> None:
        """Write one line."""
        self.write(text + "\n")

    def flush(self) -> None:
        """Every write is flushed already."""

    def isatty(self) -> bool:
        """Whether a person looks at it."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The stream's own."""
        return self._stream.fileno()


def shows_unicode(environment: Mapping[str, str]) -> bool:
    """Whether the terminal's locale is one of UTF-8, or is not told.

    Python itself writes UTF-8 whatever the locale says, and where that is C it sets LC_CTYPE, so
    that of the C locale only LC_ALL or LANG tell.
    """
    coerced = environment.get("LC_CTYPE", "") in ("C.UTF-8", "C.utf8", "UTF-8")
    ctype = "" if coerced else environment.get("LC_CTYPE", "")
    chosen = environment.get("LC_ALL") or ctype or environment.get("LANG") or "UTF-8"
    return "utf8" in chosen.lower().replace("-", "")


def say(text: str, *, nl: bool = True) -> None:
    """Print on our own stdout what its encoding holds.

    Unlike a Sink it fails with the pipe, so that `foundry log -f | head` ends.
    """
    click.echo(encodable(text, Sink(sys.stdout).encoding), nl=nl)


def ascii_line(value: Any) -> str:
    """JSON in pure ASCII, so that every pipe takes it and no terminal obeys it."""
    return json.dumps(value, default=str).replace("\x7f", "\\u007f")


def console_on(sink: Sink) -> "Console":
    """A rich console that writes to a sink: text is never markup, and nothing is guessed at."""
    from rich.console import Console

    return Console(
        file=cast(IO[str], sink),
        force_terminal=sink.isatty(),
        width=None if sink.isatty() else PIPE_COLUMNS,
        highlight=False,
        markup=False,
        emoji=False,
    )


def show(renderable: "RenderableType") -> None:
    """Print on this process's own output; what goes into a file has no trailing padding."""
    console = console_on(Sink(sys.stdout))
    if console.is_terminal:
        console.print(renderable)
        return
    with console.capture() as captured:
        console.print(renderable)
    for line in captured.get().splitlines():
        say(line.rstrip())
