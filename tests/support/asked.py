"""What the model was asked, read from the requests that a rehearsal recorded."""

from typing import Any

from foundry.model.rehearsal.server import RehearsalServer
from tests.support.builds import step_of


def requests_of(server: RehearsalServer, step: str) -> list[Any]:
    """The bodies of all requests of a step's conversations, oldest first."""
    bodies = (each.body for each in server.requests if each.path == "/v1/messages")
    return [body for body in bodies if step_of(body) == step]


def results(body: Any) -> list[tuple[str, bool]]:
    """The tool results that a request brings: what they say, and whether as an error."""
    return [
        (block["content"], bool(block.get("is_error")))
        for block in body["messages"][-1]["content"]
        if block["type"] == "tool_result"
    ]


def words(body: Any) -> str:
    """All text of a request's last message, tool results included."""
    blocks = body["messages"][-1]["content"]
    return "\n".join(block.get("text") or block.get("content") or "" for block in blocks)
