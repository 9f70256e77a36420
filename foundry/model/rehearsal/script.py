"""What the rehearsal model answers: a script turns a request into a turn, from the request alone.

Nothing is remembered between requests, so a build that was killed goes on with a new server as
if it were the old one.

A script is a function, or YAML that is written by hand:

scenes:
  - name: scout                       # in ids and messages; by default its first match
    match: "Step: scout"              # or a list: all must occur in the first user message
    unless: "Iteration: 2"            # or a list: none may
    rounds:                           # of thinking before the first turn; left out: none
      - say: The parser is the risk.
        call: continue_thinking
        with: {continueThinking: false}
    turns:
      - say: Let me look around.      # text, then the call: one reply
        call: list_files
        with: {path: .}
      - - say: Two calls at once.     # a list is one reply with several blocks
        - call: read_file
          with: {path: README.md}
        - call: read_file
          with: {path: setup.py}
      - call: submit
        with: {stack: Python}
        fault: {kind: reset, after: 3}    # fields of Fault
        usage: {input_tokens: 150000}     # instead of the bill
        stop: max_tokens                  # instead of the derived stop_reason
        think: Hm, why that?              # a thought of the model's own, before its words
shared: ...                           # ignored: a place for YAML anchors
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from foundry.errors import InputError
from foundry.model.rehearsal.faults import Fault
from foundry.model.rehearsal.rules import ApiError, blocks_of
from foundry.schema.base import Value
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


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str | dict) else value


Strings = Annotated[list[str], BeforeValidator(_as_list)]


class _Part(Value):
    """One mapping of a turn."""

    think: str = ""
    say: str = ""
    call: str = ""
    arguments: dict[str, Any] | None = Field(default=None, alias="with")
    fault: Fault | None = None
    usage: Usage | None = None
    stop: str = ""

    @model_validator(mode="after")
    def _whole(self) -> "_Part":
        if self.arguments is not None and not self.call:
            raise ValueError("`with` needs a `call`")
        if not (self.say.strip() or self.think or self.call or self.fault or self.stop):
            raise ValueError("a turn needs `say`, `think`, `call`, `fault` or `stop`")
        return self

    def blocks(self) -> list[Block]:
        texts = [think(self.think)] if self.think.strip() else []
        texts += [say(self.say)] if self.say.strip() else []
        calls = [call(self.call, **(self.arguments or {}))] if self.call else []
        return [*texts, *calls]


Reply = Annotated[list[_Part], BeforeValidator(_as_list), Field(min_length=1)]


class _Scene(Value):
    match: Annotated[Strings, Field(min_length=1)]
    unless: Strings = Field(default_factory=list)
    name: str = ""
    rounds: list[Reply] = Field(default_factory=list)
    turns: list[Reply] = Field(min_length=1)

    def scene(self) -> Scene:
        name = self.name or self.match[0]
        slug = _slug(name)
        turns = (_turn(f"{slug}_{n}", parts) for n, parts in enumerate(self.turns, 1))
        rounds = (_turn(f"{slug}_round_{n}", parts) for n, parts in enumerate(self.rounds, 1))
        return Scene(name, tuple(self.match), tuple(turns), tuple(self.unless), tuple(rounds))


class _Document(Value):
    scenes: list[_Scene] = Field(min_length=1)
    shared: Any = None

    @model_validator(mode="after")
    def _unique(self) -> "_Document":
        seen: set[str] = set()
        for scene in self.scenes:
            slug = _slug(scene.name or scene.match[0])
            if slug in seen:
                raise ValueError(f"two scenes are called {slug!r}: give each its own `name`")
            seen.add(slug)
        return self


def load(path: Path) -> SceneScript:
    """Read a script. Raises InputError that names file, field and reason."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the rehearsal script {path}: {error}") from error
    return parse(text, str(path))


def parse(text: str, source: str = "script") -> SceneScript:
    """The script in `text`; raises InputError, which names `source`, for an invalid one."""
    try:
        document = _Document.model_validate(_yaml(text, source))
    except ValidationError as error:
        raise InputError(f"{source}: {_problems(error)}") from error
    return SceneScript(tuple(scene.scene() for scene in document.scenes))


def _yaml(text: str, source: str) -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]
        """YAML lets a second key of the same name win in silence; a script must not."""

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [key.value for key, _ in node.value]
            twice = {key for key in keys if keys.count(key) > 1}
            if twice:
                problem = f"{twice.pop()!r} occurs twice in one mapping"
                raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
            return super().construct_mapping(node, deep=deep)

    try:
        return yaml.load(text, Loader)
    except yaml.YAMLError as error:
        raise InputError(f"{source}: not valid YAML: {_one_line(error)}") from error


def _turn(id: str, parts: Iterable[_Part]) -> Turn:
    parts = list(parts)
    return Turn(
        content=tuple(block for part in parts for block in part.blocks()),
        stop_reason=next((part.stop for part in parts if part.stop), ""),
        fault=next((part.fault for part in parts if part.fault), None),
        usage=next((part.usage for part in parts if part.usage), None),
        id=id,
    )


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")


def _problems(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(
        f"{'.'.join(str(part) for part in problem['loc']) or '(whole)'}: {problem['msg']}"
        for problem in problems
    )


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
