"""Fields, types and limits: what pydantic finds, in plain words and at the document's own paths."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from foundry.schema.condition import Condition
from foundry.schema.criteria import Composition, Rule
from foundry.schema.workflow import (
    Budget,
    Function,
    FunctionCall,
    Loop,
    LoopStep,
    Parameter,
    Reflection,
    Step,
    Workflow,
)
from foundry.workflow.messages import in_words
from foundry.workflow.problem import Finding, Loc
from foundry.workflow.stand_ins import mended
from foundry.workflow.traverse import Document

ROUNDS = 4
"""What an object says as a whole is looked at only when its parts are right: so they are mended,
and it is looked at again. Nothing nests deeper than this in practice."""

_TAGS: dict[str, type[BaseModel]] = {
    "loop": LoopStep,
    "step": Step,
    "rule": Rule,
    "composition": Composition,
}
_FIELDS: dict[str, type[BaseModel]] = {
    "body": Step,
    "loop": Loop,
    "budget": Budget,
    "functionDefinitions": Function,
    "parameters": Parameter,
    "functionCalls": FunctionCall,
    "runCondition": Condition,
    "requireConfirmation": Condition,
    "condition": Condition,
    "reflection": Reflection,
}
_SCALARS = ("bool", "constrained-str", "literal[")
_HOLDERS: dict[str | int, type] = {"requireConfirmation": dict, "body": list, "reflection": dict}
"""Fields that are either one of these or a scalar, which pydantic names as `_SCALARS` begin."""


def validated(document: Document) -> tuple[Workflow | None, tuple[Finding, ...]]:
    """The workflow of a document, or everything that is wrong with its structure."""
    try:
        return _parse(document), ()
    except ValidationError as error:
        return None, tuple(_everything(document, error))


def _parse(document: Document) -> Workflow:
    text = json.dumps(document)
    return Workflow.model_validate_json(text, strict=True, by_alias=True, by_name=False)


def _everything(document: Document, error: ValidationError) -> Iterator[Finding]:
    current = json.loads(json.dumps(document))
    told: set[tuple[Loc, str]] = set()
    broken: set[Loc] = set()
    for _ in range(ROUNDS):
        located = [_fault(each, current) for each in error.errors(include_url=False)]
        faults = [each for each in located if each and not _within(each[0], broken)]
        for loc, owner, each in faults:
            finding = in_words(loc, owner, each)
            if (finding.loc, finding.message) not in told:
                told.add((finding.loc, finding.message))
                yield finding
        whole = {loc for loc, _, each in faults if each["type"] == "value_error"}
        broken |= {loc for loc, _, _ in faults} - whole
        if sum(mended(current, *fault) for fault in faults) == 0:
            return
        try:
            _parse(current)
        except ValidationError as again:
            error = again
        else:
            return


def _within(loc: Loc, broken: set[Loc]) -> bool:
    return any(loc[:length] in broken for length in range(1, len(loc) + 1))


Fault = tuple[Loc, type[BaseModel], Any]


def _fault(error: Any, document: Document) -> Fault | None:
    """An error with its place in the document and the model that it is a field of.

    None for the branch of a union that the document did not take, and for what only follows.
    """
    loc: list[str | int] = []
    owner: type[BaseModel] = Workflow
    tagged = False
    value: Any = document
    parts = error["loc"]
    for number, part in enumerate(parts):
        if not tagged and _has_branches(loc):
            tagged = True
            holder = _HOLDERS.get(loc[-1])
            if holder and str(part).startswith(_SCALARS) == isinstance(value, holder):
                return None
            owner = _TAGS.get(str(part), owner)
            continue
        tagged = False
        loc.append(part)
        value = _at(value, part)
        if isinstance(part, str) and number < len(parts) - 1:
            owner = _FIELDS.get(part, owner)
    if error["type"] == "too_short" and value:
        return None  # it is too short only without what is wrong with its items
    return tuple(loc), owner, error


def _has_branches(loc: list[str | int]) -> bool:
    """Whether the schema has a union here, so that pydantic names the branch next."""
    match loc:
        case ["steps", int()] | [*_, "enum", int()]:
            return True
        case [*_, "requireConfirmation" | "body" | "count" | "validationCriteria" | "reflection"]:
            return True
        case _ if "validationCriteria" in loc:
            rest = loc[loc.index("validationCriteria") + 1 :]
            return "condition" not in rest and (isinstance(rest[-1], int) or rest[-1] == "not")
    return False


def _at(value: Any, part: str | int) -> Any:
    match value, part:
        case dict(), str():
            return value.get(part)
        case list(), int() if part < len(value):
            return value[part]
    return None
