"""Scripts as YAML, written by hand.

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
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from foundry.errors import InputError
from foundry.model.rehearsal.faults import Fault
from foundry.model.rehearsal.script import Scene, SceneScript, Turn, call, say, think
from foundry.schema.base import Value
from foundry.schema.messages import Block, Usage


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
    """The script in `text`; `source` names it in the InputError of an invalid one."""
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
