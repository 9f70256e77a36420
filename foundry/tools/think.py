"""The tool that ends a round of thinking: whether there is to be another one, and about what."""

from pydantic import Field

from foundry.errors import ToolError
from foundry.tools.base import Arguments, Tool

NAME = "continue_thinking"


class Thinking(Arguments):
    """What comes after a round. The names of the first three are those of the public format."""

    continueThinking: bool = Field(description="true: one more round; false: act now")
    reason: str = Field("", max_length=1_000, description="why, in a sentence")
    nextFocus: str = Field("", max_length=400, description="what the next round is about")
    summary: str = Field(
        "",
        max_length=1_000,
        description="with false: what you settled on, for those who come later, in a sentence or "
        "two; name files and commands",
    )


def thinking_tool() -> Tool[Thinking]:
    """`continue_thinking`. Rounds read its arguments themselves: outside of one it does nothing."""

    def call(_arguments: Thinking) -> str:
        raise ToolError("this is no round of thinking: go on with your work")

    return Tool(
        NAME,
        "Ends a round of thinking, where you are asked for one: says whether there is to be "
        "another. At other times there is nothing to call it for.",
        Thinking,
        call,
    )
