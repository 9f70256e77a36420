"""Notifiers: what an installed package does with a run that ended or paused."""

from collections.abc import Callable

from foundry.errors import PluginError
from foundry.plugins import Registry
from foundry.schema.events import Note, Observer, RunEnded

Notifier = Callable[[RunEnded], None]
"""Is given how the run stands, its cost and its place; may take as long as it needs."""

NOTIFIERS: Registry[Notifier] = Registry("notifier", {})


def notify(ended: RunEnded, observe: Observer) -> None:
    """Tell every notifier that is installed; one that fails is named, and harms nothing."""
    for name in NOTIFIERS.names():
        try:
            NOTIFIERS.get(name)(ended)
        except PluginError as error:
            observe(Note(str(error)))
        except Exception as error:  # noqa: BLE001 - a stranger's code may raise whatever it likes
            observe(Note(f"the notifier {name!r} failed: {type(error).__name__}: {error}"))
