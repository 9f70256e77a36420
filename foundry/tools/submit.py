"""The call that ends a conversation: its schema is the step's contract."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import BaseModel

from foundry.tools.base import Tool, ToolResult

S = TypeVar("S", bound=BaseModel)

Review = Callable[[BaseModel], Sequence[str]]
"""Judges a submission that fits its schema: the problems, none when it holds."""

NAME = "submit"


def submit_tool(contract: type[S], review: Review) -> Tool[S]:
    """`submit` for a contract. What `review` finds goes back to the model as the reason."""

    def call(submission: S) -> ToolResult:
        problems = review(submission)
        if problems:
            reasons = "\n".join(f"- {problem}" for problem in problems)
            return ToolResult(f"Not accepted:\n{reasons}\nMend this, then submit again.", True)
        return ToolResult("Accepted.", submission=submission)

    return Tool(
        name=NAME,
        description="Hand in the result of this step. The harness checks it; when it is accepted "
        "the conversation is over.",
        arguments=contract,
        call=call,
    )
