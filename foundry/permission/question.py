"""A call as it is shown to a person: what it would do, and what `always` would stand for."""

import shlex
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from foundry.permission.globs import known, literal
from foundry.permission.operation import COMMAND, WRITE, Part
from foundry.schema.permission import Effect, Question, Rule, Verdict
from foundry.tools.base import Tool

ANSWER = "answer"
"""The source of rules that a person's `always` has made."""

_WRITERS = (WRITE, "edit_file")
"""Who may write the files of a folder may do it with either."""


def question(
    step: str, tool: Tool[Any], arguments: BaseModel, verdict: Verdict, asked: Iterable[Part]
) -> Question:
    """The question about a call; `asked` are the parts of it that are not allowed already."""
    return Question(
        step=step,
        tool=tool.name,
        subject=tool.subject(arguments),
        shown=tool.shown(arguments),
        why=verdict.why,
        always=lasting(asked),
        arguments=arguments.model_dump(mode="json", exclude_defaults=True),
        editable=tool.editable,
    )


def lasting(parts: Iterable[Part]) -> tuple[Rule, ...]:
    """The rules that allow these parts from now on; none when one can't be put as a rule."""
    rules = [_lasting(part) for part in parts]
    return () if None in rules else tuple(dict.fromkeys(rule for rule in rules if rule))


def _lasting(part: Part) -> Rule | None:
    """This very command, or the files of this folder."""
    if part.opaque or not all(map(known, part.words)):
        return None
    if part.tool == COMMAND:
        words = " ".join(shlex.quote(literal(word)) for word in part.words)
        return Rule(effect=Effect.ALLOW, tools=(COMMAND,), commands=(words,), source=ANSWER)
    paths = {_folder_of(place.inside) for place in part.places if place.inside}
    if not paths or len(paths) < len({place.inside for place in part.places}):
        return None
    tools = _WRITERS if part.tool in _WRITERS else (part.tool,)
    return Rule(effect=Effect.ALLOW, tools=tools, paths=tuple(sorted(paths)), source=ANSWER)


def _folder_of(path: str) -> str:
    folder, slash, _ = path.rpartition("/")
    return f"./{literal(folder)}/**" if slash else f"./{literal(path)}"
