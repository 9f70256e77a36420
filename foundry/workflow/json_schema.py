"""The JSON Schema of a workflow document, for editors and for those who write documents.

Generated from the models, with the rules that a model checks as a whole put into words of JSON
Schema, and with a description of every field. What needs more than one place of the document (ids
that are unique, functions that are defined) is found by `problems` alone.
"""

from collections.abc import Iterator
from typing import Any

from foundry.schema.condition import OPERATORS
from foundry.schema.workflow import Workflow

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
ID = "urn:context-foundry:workflow"


def json_schema() -> Schema:
    """The schema, of JSON Schema 2020-12; a document that we read is valid by it."""
    schema = Workflow.model_json_schema(by_alias=True, mode="validation")
    classes = {**schema["$defs"], "Workflow": schema}
    for name, definition in classes.items():
        _explain(name, definition["properties"])
        definition.update(_RULES.get(name, {}))
    for field in classes["Condition"]["properties"].values():
        _not_null(field)
    for field in classes["Loop"]["properties"]["count"]["anyOf"]:
        if field["type"] == "number":
            field["minimum"] = 0
    schema["properties"]["$schema"] = {"type": "string", "description": "this schema, for editors"}
    head = {"$schema": DRAFT, "$id": ID, "title": "Foundry workflow", "description": _ABOUT}
    return {**head, **{key: value for key, value in schema.items() if key not in head}}


_ABOUT = (
    "A named, ordered list of steps, as JSON or as YAML. Documents of the public WorkRail format "
    "are valid by it."
)


def _explain(owner: str, properties: Schema) -> None:
    """Say what each field is, and leave out titles that only repeat its name."""
    for name, field in properties.items():
        field.pop("title", None)
        if "description" not in field:
            field["description"] = DESCRIPTIONS.get(f"{owner}.{name}", DESCRIPTIONS.get(name, ""))


def _not_null(field: Schema) -> None:
    """A condition that says null means it: only `equals` and `not_equals` may."""
    branches = field.pop("anyOf", [])
    kept = [each for each in branches if each != {"type": "null"}]
    if len(kept) == 1:
        field |= kept[0]
        field.pop("default", None)
    elif branches:
        field["anyOf"] = branches


def _has(name: str, **of: Any) -> Schema:
    """It has the field, and the field is like this."""
    return {"required": [name], "properties": {name: of}}


def _if_type(kinds: tuple[str, ...], then: Schema) -> Schema:
    return {"if": _has("type", enum=list(kinds)), "then": then}


def _alone(names: tuple[str, ...]) -> Iterator[Schema]:
    for name in names:
        yield {"if": {"required": [name]}, "then": {"maxProperties": 1}}


_RULES: dict[str, Schema] = {
    "Step": {"anyOf": [_has(name, minLength=1) for name in ("prompt", "template", "action")]},
    "Loop": {
        "allOf": [
            _if_type(("forEach",), _has("items", minLength=1)),
            _if_type(("while", "until"), _has("condition", type="object")),
            _if_type(("for",), _has("count", type=["number", "string"], minLength=1)),
        ]
    },
    "Condition": {
        "dependentRequired": {name: ["var"] for name in OPERATORS},
        "allOf": list(_alone(("and", "or", "not"))),
    },
    "Rule": {
        "allOf": [
            _if_type(("contains",), _has("value", type="string")),
            _if_type(("regex",), _has("pattern", type="string")),
            _if_type(("schema",), _has("schema", type="object")),
            _if_type(("length",), {"anyOf": [_has("min", type="number"),
                                             _has("max", type="number")]}),
        ]
    },
    "Composition": {
        "oneOf": [_has("and", type="array"), _has("or", type="array"), _has("not", type="object")]
    },
}  # fmt: skip
"""What the models check as a whole, by model."""

DESCRIPTIONS: dict[str, str] = {
    "id": "a short name of its own: letters, digits, '-' and '_'",
    "title": "what the step is, in a line; `{{name}}` is filled in",
    "phase": "steps of one phase are shown and skipped together; left out: the step's id",
    "runCondition": "it runs only where this holds; a loop: asked once, before it begins",
    "functionDefinitions": "guidance with a name, for what stands here and inside of it",
    # workflow
    "Workflow.id": "the name that it is called by",
    "Workflow.name": "what it is called in lists",
    "Workflow.description": "what it is for, in a sentence",
    "Workflow.functionDefinitions": "guidance with a name, for every step",
    "version": "three numbers, such as 1.0.0",
    "steps": "what is done, in this order; a step that a loop names as its body runs only there",
    # step
    "guidance": "advice for this step, a line each; `{{name}}` is filled in",
    "hasValidation": "the output is judged by `validationCriteria`",
    "validationCriteria": "rules that all have to hold for the output, or one composition of them",
    "functionCalls": "functions that are to be followed, with their arguments",
    "budget": "what the step's conversation may use before it is ended",
    "action": "something that the harness does itself, without a conversation",
    "attempts": "how often it is tried before it counts as failed",
    # loop
    "LoopStep.type": "says that this is a loop",
    "loop": "how often the body is repeated",
    "body": "the steps that are repeated in order, or the id of one that stands on the top level",
    "Loop.type": "for: a number of times; forEach: for each item of a list; while, until: as long "
    "as a condition holds, or does not. Checked before every iteration",
    "maxIterations": "it ends after as many in any case, with a warning",
    "Loop.condition": "while, until: what is asked before every iteration",
    "iterationVar": "variable with the number of the iteration, from 1",
    "itemVar": "forEach: variable with the item",
    "indexVar": "forEach: variable with the item's place, from 0",
    # condition
    "equals": "it is this: case does not matter, '3' is 3, and null is what is missing",
    "not_equals": "it is not this",
    "gt": "it is a number and greater",
    "gte": "it is a number and greater or the same",
    "lt": "it is a number and less",
    "lte": "it is a number and less or the same",
    "contains": "a text with this in it, or a list with this member",
    "startsWith": "a text that begins so",
    "endsWith": "a text that ends so",
    "in": "it is one of these",
    "and": "all of these hold",
    "or": "one of these holds",
    "not": "this does not hold",
    # criteria
    "Rule.type": "contains: a text; regex: a pattern; length: characters; schema: JSON of a schema",
    "message": "what is wrong when the rule does not hold",
    "value": "contains: what the output has to have in it, as written",
    "pattern": "regex: a regular expression in RE2's syntax, anywhere in the output",
    "max": "length: characters at most",
    # functions
    "name": "letters, digits and '_'",
    "definition": "what it stands for, in words; it is never executed",
    "parameters": "what it takes; arguments of `functionCalls` are checked against it",
    "scope": "where it is meant to be known; it is known where it is defined",
    "args": "arguments by parameter",
    "Parameter.type": "of the argument",
    "Parameter.required": "a call has to give it",
    "description": "what it is for",
    "enum": "the values that it may have",
    "default": "its value where a call gives none",
}
"""What fields are whose models don't say it: by name, or by `Model.name` where the name alone would
mislead."""
