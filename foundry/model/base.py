"""What answers: the interface between a conversation and any model."""

from collections.abc import Callable
from typing import Protocol

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
