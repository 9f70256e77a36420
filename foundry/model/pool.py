"""From a model's name to something that answers, once per name.

`rehearsal:NAME` is a scripted model: its server runs in this process for as long as the pool is
open. Nothing above this module can tell it from any other server with the Messages API.
"""

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from foundry.errors import InputError
from foundry.model.anthropic import AnthropicModel
from foundry.model.base import Model
from foundry.model.endpoint import is_loopback
from foundry.model.retry import RetryNotice, RetryPolicy, patient

REHEARSAL = "rehearsal:"
REHEARSAL_KEY = "sk-for-the-rehearsal-only"
REHEARSED_MODEL = "claude-sonnet-5-5"
"""The model whose prices and window a rehearsal has, so that its figures mean something."""

SILENCE = 120.0
LOCAL_SILENCE = 900.0
"""Seconds within a reply. A model on this machine may read a long prompt for minutes."""

SCRIPTS = Path(__file__).parent / "rehearsal" / "scripts"


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
        self._base_url = base_url
        self._on_retry = on_retry
        self._retry = patient(retry or RetryPolicy(), patience) if patience else retry
        self._wait = wait
        self._read_timeout = read_timeout or (LOCAL_SILENCE if is_loopback(base_url) else SILENCE)
        self._models: dict[str, Model] = {}
        self._stack = ExitStack()

    def __enter__(self) -> "ModelPool":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def model(self, name: str) -> Model:
        """The model of this name."""
        if name not in self._models:
            self._models[name] = self._open(name)
        return self._models[name]

    def _open(self, name: str) -> Model:
        if name.startswith(REHEARSAL):
            return self._connect(REHEARSED_MODEL, self._rehearse(name), REHEARSAL_KEY)
        require_loopback(self._base_url)
        return self._connect(name, self._base_url or None, None)

    def _connect(self, name: str, base_url: str | None, api_key: str | None) -> Model:
        model = AnthropicModel(
            name,
            base_url=base_url,
            api_key=api_key,
            retry=self._retry,
            read_timeout=self._read_timeout,
            on_retry=self._on_retry,
            wait=self._wait,
        )
        self._stack.callback(model.close)
        model.warm()
        return model

    def _rehearse(self, name: str) -> str:
        from foundry.model.rehearsal.scenes import load
        from foundry.model.rehearsal.server import RehearsalServer

        server = RehearsalServer(load(script_path(name.removeprefix(REHEARSAL))), keep=0)
        return self._stack.enter_context(server).url


def script_path(name: str) -> Path:
    """A shipped script by its name, or any other by its path."""
    shipped = SCRIPTS / f"{name}.yaml"
    path = shipped if shipped.is_file() else Path(name)
    if not path.is_file():
        known = ", ".join(sorted(each.stem for each in SCRIPTS.glob("*.yaml")))
        raise InputError(f"there is no rehearsal {name!r}", hint=f"Shipped ones: {known}")
    return path


def has_model(base_url: str) -> bool:
    """Whether there is anything to talk to: a key, or a server of the person's own."""
    keys = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")
    return bool(base_url or any(os.environ.get(key) for key in keys))


def require_loopback(base_url: str) -> None:
    """The kill switch of the tests: with FOUNDRY_LOOPBACK_ONLY no request leaves this machine."""
    if not os.environ.get("FOUNDRY_LOOPBACK_ONLY"):
        return
    url = base_url or os.environ.get("ANTHROPIC_BASE_URL", "")
    if not is_loopback(url):
        raise InputError(
            f"FOUNDRY_LOOPBACK_ONLY is set and {url or 'the Anthropic API'} is not this machine",
            hint="Unset it to allow real requests",
        )
