"""What the commands that work on a run have in common: their options, the view, signals."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

from foundry.cli.options import asked
from foundry.cli.view import make_view
from foundry.config import DEFAULT_MODEL, program
from foundry.engine import session
from foundry.engine.runner import Ended
from foundry.engine.session import RunObserver
from foundry.errors import InputError
from foundry.schema.base import Json
from foundry.schema.run import RunOptions

DEMO = "todo"
DEMO_IDENTITY = ("Foundry Demo", "demo@foundry.invalid")
"""Who commits in a demo on a machine whose git does not know its user yet."""

Build = Callable[[RunOptions, RunObserver], Ended]
Go = Callable[[Path, Callable[[RunOptions], RunOptions], RunObserver, Mapping[str, Json]], Ended]


def start(given: Mapping[str, Any], build: Build = session.build) -> int:
    """Start a run with the options of a command, by the names of their fields in RunOptions."""
    view, rest = asked(given)
    url = os.environ.get("ANTHROPIC_BASE_URL", "")
    options = RunOptions(model=DEFAULT_MODEL, base_url=url).changed(rest)
    return _observed(view, lambda observer: build(options, observer))


def go_on(
    folder: Path,
    given: Mapping[str, Any],
    variables: Mapping[str, Json] | None = None,
    resume: Go = session.resume,
) -> int:
    """Take a run up again: what is given replaces what it had; variables are the workflow's."""
    view, rest = asked(given)

    def change(kept: RunOptions) -> RunOptions:
        return kept.model_copy(update={"pause_after": ()}).changed(rest)

    return _observed(view, lambda observer: resume(folder, change, observer, variables or {}))


def demo(folder: Path, given: Mapping[str, Any]) -> int:
    """A build against the shipped rehearsal; raises InputError for a folder that is not empty."""
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(
            f"{folder} is not empty",
            hint=f"Choose another --dir, or go on with `{program()} resume {folder}`",
        )
    from foundry.model.rehearsal.provider import REHEARSED_MODEL, SCRIPTS

    view, rest = asked(given)
    options = RunOptions(
        spec=(SCRIPTS / f"{DEMO}.spec.md").read_text(encoding="utf-8"),
        folder=folder,
        model=f"rehearsal:{DEMO}",
        identity=DEMO_IDENTITY,
    ).changed(rest)
    code = _observed(view, lambda observer: session.build(options, observer))
    if not (view["json"] or view["quiet"]):
        click.echo(f"The money is what {REHEARSED_MODEL} would bill; nothing was.", err=True)
    return code


def _observed(view_options: Mapping[str, bool], work: Callable[[RunObserver], Ended]) -> int:
    """Work with a view, and with SIGTERM and SIGHUP ending it as Ctrl-C does."""
    view = make_view(
        json=view_options["json"], quiet=view_options["quiet"], verbose=view_options["verbose"]
    )
    with view, _signals():
        observer = RunObserver(view.observe, view.on_text, view.ask, view.approve)
        return work(observer).status.exit_code


@contextmanager
def _signals() -> Iterator[None]:
    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    kept = {name: signal.signal(name, interrupt) for name in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for name, handler in kept.items():
            signal.signal(name, handler)
