"""What answers: the interface between a conversation and any model, and who provides one."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from foundry.model.retry import RetryNotice, RetryPolicy
from foundry.schema.messages import ModelRequest, Reply, Usage


class Model(Protocol):
    """A model behind the Messages API.

    `complete` retries what may pass within its policy and raises only ModelError's children:
    ModelUnavailable (may work later), ModelRejected (won't), ContextOverflow.
    """

    @property
    def name(self) -> str:
        """The model id as the server knows it."""

    @property
    def window(self) -> int:
        """The context window in tokens."""

    @property
    def max_output(self) -> int:
        """The most tokens that one reply may have."""

    @property
    def always_thinks(self) -> bool:
        """Whether it thinks before every answer, also where it is asked not to."""

    def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> Reply:
        """Send one request and return the whole reply; `on_text` hears it as it streams."""

    def cost(self, usage: Usage) -> float | None:
        """US dollars for `usage`, or None where no price is known."""


@dataclass(frozen=True, slots=True)
class Connection:
    """What a provider is given beside the model's name.

    `base_url` is the server that the person names, or empty. `retry` is None where the provider
    may choose. `on_retry` hears of every wait, `wait` does the waiting, in seconds.
    """

    base_url: str = ""
    retry: RetryPolicy | None = None
    on_retry: Callable[[RetryNotice], None] | None = None
    wait: Callable[[float], object] = time.sleep
    read_timeout: float = 120.0
    """The longest silence within a reply, in seconds."""
    closing: ExitStack = field(default_factory=ExitStack)
    """What the provider starts is ended by it."""


class Provider(Protocol):
    """Opens models: any function that takes these two does."""

    def __call__(self, name: str, connection: Connection, /) -> Model:
        """The model of this name, which is without the provider's prefix."""


@runtime_checkable
class NameChecker(Protocol):
    """A provider that can tell before a run begins whether it knows a model."""

    def usable(self, name: str, base_url: str, /) -> str:
        """The name as it is kept with the run; raises InputError when nothing answers to it."""
