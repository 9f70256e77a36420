"""What the views share that do not move."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foundry.schema.permission import Answer, Question


class Still:
    """What views share that need no setting up: no words, nobody to ask."""

    on_text: Callable[[str], None] | None = None

    def __exit__(self, *_: object) -> None:
        return None

    def ask(self, question: str) -> bool | None:
        """Nobody is there."""
        return None

    def approve(self, question: "Question") -> "Answer | None":
        """Nobody is there."""
        return None
