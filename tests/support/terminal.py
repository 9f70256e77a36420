"""A real pseudo-terminal, and what a command shows on it."""

import os
import pty
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TextIO

import click
import pytest


@contextmanager
def terminal() -> Iterator[tuple[TextIO, list[bytes]]]:
    """The program's end of it, and what has arrived at the other one when the context is over."""
    ours, theirs = pty.openpty()
    seen: list[bytes] = []

    def read() -> None:
        try:
            while chunk := os.read(ours, 65_536):
                seen.append(chunk)
        except OSError:
            return  # how a terminal says that its program has gone

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        yield stream, seen
    reader.join()
    os.close(ours)


def on_terminal(command: click.Command, *arguments: object, columns: int = 80) -> str:
    """What a command of this process shows on a terminal; what it raises comes out."""
    with pytest.MonkeyPatch.context() as patch, terminal() as (stream, seen):
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("COLUMNS", str(columns))
        with redirect_stdout(stream), redirect_stderr(stream):
            command.main([str(each) for each in arguments], standalone_mode=False)
    return b"".join(seen).decode()
