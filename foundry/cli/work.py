"""What the commands that work on a build have in common: view, signals, session."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

import click

from foundry.cli.options import permission_of, role_models
from foundry.cli.view import make_view
from foundry.config import DEFAULT_MODEL, program
from foundry.engine import session
from foundry.engine.runner import Ended
from foundry.engine.session import Watch, Wish
from foundry.engine.workspace import check_spec
from foundry.errors import InputError
from foundry.model.pool import usable
from foundry.schema.base import Json
from foundry.schema.permission import Mode, Rule
from foundry.schema.run import Limits, RunOptions

DEMO = "todo"
DEMO_IDENTITY = ("Foundry Demo", "demo@foundry.invalid")
"""Who commits in a demo on a machine whose git does not know its user yet."""


Build = Callable[[Wish, Watch], Ended]
Go = Callable[[Path, Callable[[RunOptions], RunOptions], Watch, Mapping[str, Json]], Ended]


@dataclass(frozen=True)
class Flags:
    """The options that every command shares which works on a build; None where not given."""

    model: str | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    base_url: str | None = None
    max_usd: float | None = None
    max_hours: float | None = None
    pause_after: tuple[str, ...] = ()
    yes: bool = False
    permission: Mode | None = None
    rules: tuple[Rule, ...] = ()
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False


def flags_and_wish(options: Mapping[str, Any], **wish: Any) -> tuple[Flags, Wish]:
    """The options of a command that starts a run, taken apart."""
    rest = dict(options)
    new = {name: rest.pop(name) for name in ("folder", "skip", "checks")}
    return flags_of(rest), Wish(**wish, **new)


def flags_of(options: Mapping[str, Any]) -> Flags:
    """The options that commands share; raises InputError for one that makes no sense."""
    given = permission_of(options)
    return Flags(**{**given, "models": role_models(given.get("models", ()))})


def start(wish: Wish, flags: Flags, build: Build = session.build) -> int:
    """Start a run and work on it."""
    check_spec(wish.spec)
    url = flags.base_url or os.environ.get("ANTHROPIC_BASE_URL", "")
    wish = replace(
        wish,
        model=usable(flags.model or DEFAULT_MODEL, url),
        models={role: usable(name, url) for role, name in {**wish.models, **flags.models}.items()},
        base_url=url,
        limits=_limits(Limits(), flags),
        pause_after=flags.pause_after,
        yes=flags.yes,
        permission=flags.permission,
        rules=flags.rules,
    )
    return _watched(flags, lambda watch: build(wish, watch))


def go_on(folder: Path, flags: Flags, given: Mapping[str, Json], resume: Go) -> int:
    """Take a build up again, with the variables that a person gives."""

    def change(kept: RunOptions) -> RunOptions:
        url = flags.base_url or kept.base_url
        models = {**kept.models, **flags.models}
        return kept.model_copy(
            update={
                "model": usable(flags.model or kept.model, url),
                "models": {role: usable(name, url) for role, name in models.items()},
                "base_url": url,
                "limits": _limits(kept.limits, flags),
                "pause_after": flags.pause_after,
                "yes": flags.yes or kept.yes,
                "permission": flags.permission or kept.permission,
                "rules": (*kept.rules, *flags.rules),
            }
        )

    return _watched(flags, lambda watch: resume(folder, change, watch, given))


def demo(folder: Path, flags: Flags) -> int:
    """A build against the shipped rehearsal."""
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(
            f"{folder} is not empty",
            hint=f"Choose another --dir, or go on with `{program()} resume {folder}`",
        )
    from foundry.model.rehearsal.provider import REHEARSED_MODEL, SCRIPTS

    wish = Wish(
        spec=(SCRIPTS / f"{DEMO}.spec.md").read_text(encoding="utf-8"),
        folder=folder,
        model=f"rehearsal:{DEMO}",
        identity=DEMO_IDENTITY,
        permission=flags.permission,
        rules=flags.rules,
    )
    code = _watched(flags, lambda watch: session.build(wish, watch))
    if not (flags.as_json or flags.quiet):
        click.echo(f"The money is what {REHEARSED_MODEL} would bill; nothing was.", err=True)
    return code


def _watched(flags: Flags, work: Callable[[Watch], Ended]) -> int:
    """Work with a view, and with SIGTERM and SIGHUP ending it as Ctrl-C does."""
    view = make_view(json=flags.as_json, quiet=flags.quiet, verbose=flags.verbose)
    with view, _signals():
        return work(Watch(view.observe, view.on_text, view.ask, view.approve)).status.exit_code


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


def _limits(kept: Limits, flags: Flags) -> Limits:
    return Limits(
        max_usd=flags.max_usd or kept.max_usd, max_hours=flags.max_hours or kept.max_hours
    )
