"""The JSON Schema of a workflow document, for editors and for those who write documents.

Generated from the models, with the rules that a model checks as a whole put into words of JSON
Schema, and with a description of every field. What needs more than one place of the document (ids
that are unique, functions that are defined) is found by `problems` alone.
"""

from collections.abc import Iterator
from typing import Any

from foundry.schema.condition import OPERATORS
from foundry.schema.workflow import Workflow
from foundry.workflow.descriptions import DESCRIPTIONS

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
