"""From a model's name to something that answers, once per name.

`PREFIX:NAME` belongs to the provider PREFIX where there is one; any other name, `llama3:8b` too,
to a server with the Messages API.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack

from foundry.model.base import Connection, Model, NameChecker, Provider
from foundry.model.endpoint import is_loopback
from foundry.model.retry import RetryNotice, RetryPolicy, patient
from foundry.plugins import Registry

DEFAULT = "anthropic"
PROVIDERS: Registry[Provider] = Registry(
    "model",
    {
        DEFAULT: "foundry.model.anthropic:PROVIDER",
        "rehearsal": "foundry.model.rehearsal.provider:PROVIDER",
    },
)

SILENCE = 120.0
LOCAL_SILENCE = 900.0
"""Seconds within a reply. A model on this machine may read a long prompt for minutes."""


class ModelPool:
    """Models by name; a context manager that ends what they started."""

    def __init__(
        self,
        base_url: str = "",
        *,
        on_retry: Callable[[RetryNotice], None] | None = None,
        retry: RetryPolicy | None = None,
        wait: Callable[[float], object] = time.sleep,
        read_timeout: float | None = None,
        patience: float = 0.0,
    ) -> None:
        self._stack = ExitStack()
        self._connection = Connection(
            base_url=base_url,
            retry=patient(retry or RetryPolicy(), patience) if patience else retry,
            on_retry=on_retry,
            wait=wait,
            read_timeout=read_timeout or (LOCAL_SILENCE if is_loopback(base_url) else SILENCE),
            closing=self._stack,
        )
        self._models: dict[str, Model] = {}

    def __enter__(self) -> "ModelPool":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def model(self, name: str) -> Model:
        """The model of this name; raises what its provider raises, and PluginError where that
        can't be loaded."""
        if name not in self._models:
            provider, own_name = split(name)
            self._models[name] = PROVIDERS.get(provider)(own_name, self._connection)
        return self._models[name]


def split(name: str) -> tuple[str, str]:
    """A model's name as the name of its provider and the name that it has there."""
    prefix, colon, rest = name.partition(":")
    return (prefix, rest) if colon and prefix in PROVIDERS else (DEFAULT, name)


def usable(name: str, base_url: str) -> str:
    """A model's name as it is kept with the run.

    Raises InputError when nothing answers to it, PluginError when its provider can't be loaded.
    """
    prefix, own_name = split(name)
    provider = PROVIDERS.get(prefix)
    if not isinstance(provider, NameChecker):
        return name
    kept = provider.usable(own_name, base_url)
    return name.removesuffix(own_name) + kept
