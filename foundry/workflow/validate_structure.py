"""Fields, types and limits: what pydantic finds, at the document's own paths and in plain words."""

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
from foundry.workflow.problem import Finding, Loc, did_you_mean, value_text

Document = dict[str, Any]

NESTED = (
    "a loop can't stand in another's body: put it on the top level. To repeat something for each "
    "pair of two lists, let an earlier step make one list of the pairs for a single forEach"
)

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

_NEEDED = {
    "id": "a short name of its own",
    "title": "a line that says what it is about",
    "name": "what it is called",
    "description": "a sentence that says what it is for",
    "version": "such as 1.0.0",
    "steps": "at least one",
    "type": "what kind it is",
    "loop": "how often the body is repeated",
    "body": "the steps that are repeated, or the id of one",
    "maxIterations": "a whole number from 1 to 1000, after which it ends in any case",
    "message": "what is wrong when the rule does not hold",
    "definition": "what the function stands for, in words",
}
_PATTERNS = {
    "id": "is no id: use letters, digits, '-' and '_', beginning with a letter or a digit",
    "body": "is no id: use letters, digits, '-' and '_', beginning with a letter or a digit",
    "version": "is no version: write three numbers such as 1.0.0",
}
_NAME = "is no name: use letters, digits and '_', beginning with a letter or '_'"
_UNIONS = {
    "requireConfirmation": "true, false or a condition",
    "body": "a list of steps, or the id of a step",
    "count": "a number, or the name of one in the context",
    "enum": "a list of texts, numbers, true or false",
    "validationCriteria": "a list of rules, or an object with one of and, or, not",
}
_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}


def validated(document: Document) -> tuple[Workflow | None, tuple[Finding, ...]]:
    """The workflow of a document, or None and what is wrong with its structure.

    What an object says as a whole is looked at only when its own fields are right.
    """
    text = json.dumps(document)
    try:
        workflow = Workflow.model_validate_json(text, strict=True, by_alias=True, by_name=False)
    except ValidationError as error:
        return None, tuple(dict.fromkeys(_findings(document, error)))
    return workflow, ()


def _findings(document: Document, error: ValidationError) -> Iterator[Finding]:
    for each in error.errors(include_url=False):
        if located := _located(each, document):
            loc, owner = located
            nested = _nested_loop(document, loc)
            yield Finding(nested, NESTED) if nested else _message(loc, owner, each)


def _nested_loop(document: Document, loc: Loc) -> Loc:
    """Where the loop stands in whose body a location is, if that stands in a body itself."""
    match loc:
        case ("steps", int(outer), "body", int(inner), *_):
            step = document["steps"][outer]["body"][inner]
            if isinstance(step, dict) and ("type" in step or "loop" in step):
                return loc[:4]
    return ()


def _located(error: Any, document: Document) -> tuple[Loc, type[BaseModel]] | None:
    """Where in the document an error is, and the model that it is a field of.

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
    return tuple(loc), owner


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


def _message(loc: Loc, owner: type[BaseModel], error: Any) -> Finding:
    """One error of a field of `owner`, and what to do about it."""
    kind, last, value = error["type"], loc[-1] if loc else "", error.get("input")
    match kind:
        case "missing":
            needed = _NEEDED.get(str(last), "")
            return Finding(loc[:-1], f"{last!r} is missing{f': {needed}' if needed else ''}")
        case "extra_forbidden":
            return Finding(loc, f"unknown field {last!r}{_instead(str(last), owner)}")
        case "value_error":
            return Finding(loc, str(error["msg"]).removeprefix("Value error, "))
        case "string_pattern_mismatch":
            return Finding(loc, f"{value!r} {_PATTERNS.get(str(last), _NAME)}"[:400])
        case "literal_error":
            expected = error["ctx"]["expected"]
            return Finding(loc, f"is {value_text(value)}: it has to be {expected}")
    return Finding(loc, _limit(error) or _type(loc, error))


def _instead(name: str, owner: type[BaseModel]) -> str:
    """The field that was meant, or all that there are."""
    known = [field.alias or name for name, field in owner.model_fields.items()]
    return (
        did_you_mean(name.replace("_", ""), known)
        or f": remove it (the fields here are {', '.join(known)})"
    )


def _limit(error: Any) -> str:
    kind, value, about = error["type"], error.get("input"), error.get("ctx", {})
    if kind in _BOUNDS:
        bound, key = _BOUNDS[kind]
        return f"is {value_text(value)}: it has to be {bound} {about[key]:g}"
    if kind == "string_too_long":
        most = about["max_length"]
        return f"is {len(value):,} characters long: at most {most:,} are allowed, so shorten it"
    if kind == "string_too_short":
        return "is empty: write something"
    return "is empty: it needs at least one" if kind == "too_short" else ""


def _type(loc: Loc, error: Any) -> str:
    kind, value = error["type"], error.get("input")
    field = next((part for part in reversed(loc) if isinstance(part, str)), "")
    if field in _UNIONS and (loc[-1] == field or field == "enum"):
        return f"is {value_text(value)}: it has to be {_UNIONS[field]}"
    if kind not in _TYPES:
        return str(error["msg"])
    return f"is {value_text(value)}: it has to be {_TYPES[kind]}{_quotes(kind, value)}"


def _quotes(kind: str, value: Any) -> str:
    if kind == "string_type" and isinstance(value, bool | int | float):
        return " (put it in quotes)"
    if not isinstance(value, str):
        return ""
    number = value.strip().replace(".", "", 1).lstrip("-+").isdecimal()
    meant_as = {"int_type": number, "float_type": number, "bool_type": value in ("true", "false")}
    return " (take the quotes away)" if meant_as.get(kind) else ""
