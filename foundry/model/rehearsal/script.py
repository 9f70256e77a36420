"""What the rehearsal model answers: a script turns a request into a turn, from the request alone.

Nothing is remembered between requests, so a build that was killed goes on with a new server as
if it were the old one.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from foundry.model.rehearsal.faults import Fault
from foundry.model.rehearsal.rules import ApiError, blocks_of
from foundry.schema.messages import Block, Usage

Request = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """One scripted reply.

    `content` holds blocks of the Messages API; a tool_use without an id gets one. An empty
    `stop_reason` is derived from the content. `usage` replaces the bill. `id` names the turn in
    message and tool ids and counts how often its fault struck; without one, equal requests are
    the same turn.
    """

    content: tuple[Block, ...] = ()
    stop_reason: str = ""
    fault: Fault | None = None
    usage: Usage | None = None
    id: str = ""


Script = Callable[[Request], Turn]
"""Answers a request or raises ApiError; called by many threads at once."""


def say(text: str) -> Block:
    """A text block."""
    return {"type": "text", "text": text}


def think(text: str) -> Block:
    """A thought; the server signs it."""
    return {"type": "thinking", "thinking": text}


def call(tool: str, **arguments: Any) -> Block:
    """A tool call with its arguments."""
    return {"type": "tool_use", "name": tool, "input": arguments}


def turn(*blocks: Block, fault: Fault | None = None, usage: Usage | None = None) -> Turn:
    """A turn of these blocks."""
    return Turn(content=blocks, fault=fault, usage=usage)


@dataclass(frozen=True, slots=True)
class Scene:
    """The turns of one conversation.

    It plays in a conversation whose first user message holds all of `match` and none of
    `unless`. `rounds` are those of thinking before its first turn; without any the model does its
    work instead, also where it is asked to think.
    """

    name: str
    match: tuple[str, ...]
    turns: tuple[Turn, ...]
    unless: tuple[str, ...] = ()
    rounds: tuple[Turn, ...] = ()

    def plays(self, text: str) -> bool:
        """Whether this scene answers a conversation that begins with `text`."""
        return all(part in text for part in self.match) and not any(
            part in text for part in self.unless
        )


@dataclass(frozen=True, slots=True)
class SceneScript:
    """A script of scenes: the first that plays gives the turn; past its last is an error."""

    scenes: tuple[Scene, ...]

    def __call__(self, request: Request) -> Turn:
        """The turn whose number is that of the assistant messages so far. Raises ApiError."""
        text = first_user_text(request)
        scene = next((scene for scene in self.scenes if scene.plays(text)), None)
        if scene is None:
            raise ApiError(400, f"no scene matches: {text[:200]}")
        number, asked = assistant_turns(request), asked_round(request)
        if asked and scene.rounds and number == 0:
            return _numbered("round", asked - 1, scene.name, scene.rounds)
        return _numbered("turn", number, scene.name, scene.turns)


def _numbered(what: str, number: int, scene: str, turns: tuple[Turn, ...]) -> Turn:
    if number < len(turns):
        return turns[number]
    raise ApiError(
        400,
        f"the rehearsal has no {what} {number + 1} for scene {scene!r}, "
        f"which ends after {len(turns)}",
    )


def first_user_text(request: Request) -> str:
    """The text of the first user message."""
    for message in request["messages"]:
        if message["role"] == "user":
            blocks = blocks_of(message["content"])
            return "\n".join(b["text"] for b in blocks if b.get("type") == "text")
    return ""


def asked_round(request: Request) -> int:
    """The number of the round of thinking that a request asks for; 0 where it asks for a turn."""
    last = blocks_of(request["messages"][-1]["content"])[-1]
    found = _ROUND.match(last.get("text", ""))
    return int(found[1]) if found else 0


_ROUND = re.compile(r"(?s)(?:.*\n)?Round (\d+) of at most \d+\.[^\n]*$")


def assistant_turns(request: Request) -> int:
    """How often the model has answered in this conversation."""
    return sum(message["role"] == "assistant" for message in request["messages"])
