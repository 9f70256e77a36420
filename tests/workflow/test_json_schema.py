"""The published schema says of a document what we say of its structure, both ways."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from foundry.workflow.json_schema import DRAFT, ID, json_schema
from foundry.workflow.load import BUILTIN, read
from foundry.workflow.validate_structure import validated

RELEASE = json.loads((Path(__file__).parent / "documents" / "release.json").read_text())
SCHEMA = json_schema()
VALIDATOR = Draft202012Validator(SCHEMA)

LOOP = {"type": "for", "count": 1, "maxIterations": 1}
FUNCTION = {"name": "f", "definition": "x"}
PARAMETER = {"name": "p", "type": "string"}


def by_schema(document: Any) -> bool:
    return VALIDATOR.is_valid(document)


def by_us(document: Any) -> bool:
    document = {key: value for key, value in document.items() if key != "$schema"}
    return validated(document)[0] is not None


def changed(path: tuple[Any, ...], value: Any) -> Any:
    document = copy.deepcopy(RELEASE)
    parent = document
    for part in path[:-1]:
        parent = parent[part]
    parent[path[-1]] = copy.deepcopy(value)
    return document


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    return [path, *(each for key, part in inner for each in paths_of(part, (*path, key)))]


PATHS = [path for path in paths_of(RELEASE) if path]
PLACES = {
    "step": ("steps", 0),
    "loop step": ("steps", 1),
    "loop": ("steps", 1, "loop"),
    "body step": ("steps", 1, "body", 0),
    "condition": ("steps", 0, "runCondition"),
    "rule": ("steps", 0, "validationCriteria", 0),
    "criteria": ("steps", 0, "validationCriteria"),
    "function": ("functionDefinitions", 0),
    "parameter": ("functionDefinitions", 0, "parameters", 0),
    "call": ("steps", 0, "functionCalls", 0),
    "confirmation": ("steps", 0, "requireConfirmation"),
    "version": ("version",),
    "title": ("steps", 0, "title"),
    "id": ("steps", 0, "id"),
}

VALUES: list[tuple[str, Any, bool]] = [
    ("step", {"id": "s", "title": "t", "prompt": "p"}, True),
    ("step", {"id": "s", "title": "t", "template": "p"}, True),
    ("step", {"id": "s", "title": "t", "action": "p"}, True),
    ("step", {"id": "s", "title": "t"}, False),
    ("step", {"id": "s", "title": "t", "prompt": ""}, False),
    ("step", {"id": "s", "title": "t", "prompt": "p", "type": "step"}, False),
    ("step", {"id": "s", "title": "t", "prompt": "p", "loop": LOOP}, False),
    ("step", {"id": "s", "title": "t", "prompt": "p", "runCondition": None}, True),
    ("step", "s", False),
    ("step", {"id": "s", "title": "t", "prompt": "p" * 8193}, False),
    ("step", {"id": "s", "title": "t", "prompt": "ä" * 8192}, True),
    ("loop step", {"id": "s", "title": "t", "type": "loop", "loop": LOOP, "body": "x"}, True),
    ("loop step", {"id": "s", "title": "t", "type": "loop", "loop": LOOP, "body": []}, False),
    ("loop step", {"id": "s", "title": "t", "type": "loop", "loop": LOOP, "body": ["x"]}, False),
    ("loop step", {"id": "s", "title": "t", "type": "loop", "loop": LOOP, "body": "x",
                   "prompt": "p"}, False),
    ("body step", {"id": "s", "title": "t", "type": "loop", "loop": LOOP, "body": "x"}, False),
    ("loop", LOOP, True),
    ("loop", {**LOOP, "count": 1.5}, True),
    ("loop", {**LOOP, "count": "n"}, True),
    ("loop", {**LOOP, "count": ""}, False),
    ("loop", {**LOOP, "count": None}, False),
    ("loop", {**LOOP, "count": -1}, False),
    ("loop", {**LOOP, "count": True}, False),
    ("loop", {**LOOP, "maxIterations": 1001}, False),
    ("loop", {**LOOP, "maxIterations": "1"}, False),
    ("loop", {**LOOP, "maxIterations": 1.5}, False),
    ("loop", {"type": "for", "maxIterations": 1}, False),
    ("loop", {"type": "forEach", "maxIterations": 1}, False),
    ("loop", {"type": "forEach", "maxIterations": 1, "items": ""}, False),
    ("loop", {"type": "forEach", "maxIterations": 1, "items": "x.y"}, True),
    ("loop", {"type": "while", "maxIterations": 1}, False),
    ("loop", {"type": "until", "maxIterations": 1, "condition": None}, False),
    ("loop", {"type": "until", "maxIterations": 1, "condition": {}}, True),
    ("loop", {"type": "each", "maxIterations": 1}, False),
    ("condition", {}, True),
    ("condition", {"var": "x"}, True),
    ("condition", {"var": ""}, False),
    ("condition", {"var": None}, False),
    ("condition", {"equals": 1}, False),
    ("condition", {"var": "x", "equals": None, "not_equals": [1]}, True),
    ("condition", {"var": "x", "gt": None}, False),
    ("condition", {"var": "x", "gt": "1"}, False),
    ("condition", {"var": "x", "notEquals": 1}, False),
    ("condition", {"var": "x", "in": []}, True),
    ("condition", {"var": "x", "in": "x"}, False),
    ("condition", {"and": [], "or": []}, False),
    ("condition", {"and": [{"var": "x"}], "var": "x"}, False),
    ("condition", {"and": []}, True),
    ("condition", {"and": None}, False),
    ("condition", {"not": {"or": [{"equals": 1}]}}, False),
    ("confirmation", True, True),
    ("confirmation", "true", False),
    ("confirmation", None, False),
    ("confirmation", {"var": "x"}, True),
    ("criteria", None, True),
    ("criteria", [], True),
    ("criteria", {}, False),
    ("criteria", {"and": []}, False),
    ("criteria", {"and": [{"type": "contains", "message": "m", "value": "v"}]}, True),
    ("criteria", {"not": {"type": "contains", "message": "m", "value": "v"},
                  "or": [{"type": "contains", "message": "m", "value": "v"}]}, False),
    ("criteria", {"type": "contains", "message": "m", "value": "v"}, False),
    ("rule", {"type": "contains", "message": "m"}, False),
    ("rule", {"type": "contains", "message": "m", "value": None}, False),
    ("rule", {"type": "contains", "message": "", "value": "v"}, False),
    ("rule", {"type": "regex", "message": "m", "value": "v"}, False),
    ("rule", {"type": "length", "message": "m", "max": 1}, True),
    ("rule", {"type": "length", "message": "m"}, False),
    ("rule", {"type": "length", "message": "m", "min": None}, False),
    ("rule", {"type": "schema", "message": "m", "schema": {}}, True),
    ("rule", {"type": "schema", "message": "m", "schema": True}, False),
    ("function", {**FUNCTION, "parameters": []}, True),
    ("function", {**FUNCTION, "scope": "global"}, False),
    ("function", {**FUNCTION, "scope": None}, True),
    ("function", {**FUNCTION, "name": "a-b"}, False),
    ("parameter", {**PARAMETER, "enum": ["a", 1, True]}, True),
    ("parameter", {**PARAMETER, "enum": []}, False),
    ("parameter", {**PARAMETER, "enum": [None]}, False),
    ("parameter", {**PARAMETER, "type": "any"}, False),
    ("call", {"name": "f"}, True),
    ("call", {"name": "f()"}, False),
    ("call", {"name": "f", "args": []}, False),
    ("version", "1.0", False),
    ("version", "01.0.0", False),
    ("version", "1.0.0-a.1+b", True),
    ("title", "", False),
    ("title", "x" * 129, False),
    ("id", "-a", False),
    ("id", "A_b-1", True),
    ("id", "a" * 65, False),
]  # fmt: skip


def test_it_is_a_schema_of_its_draft() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert (SCHEMA["$schema"], SCHEMA["$id"], SCHEMA["title"]) == (DRAFT, ID, "Foundry workflow")


def test_every_field_is_explained() -> None:
    classes = {"Workflow": SCHEMA, **SCHEMA["$defs"]}
    assert len(classes) >= 10
    unexplained = [
        f"{owner}.{name}"
        for owner, definition in classes.items()
        for name, field in definition["properties"].items()
        if not field.get("description")
    ]
    assert unexplained == []


def test_documents_that_we_read_are_valid() -> None:
    assert by_schema(RELEASE)
    shipped = list(BUILTIN.glob("*.yaml"))
    assert shipped
    for path in shipped:
        assert by_schema(read(path)), path


@pytest.mark.parametrize(("place", "value", "valid"), VALUES)
def test_both_judge_a_part_alike(place: str, value: Any, valid: bool) -> None:
    document = changed(PLACES[place], value)
    assert (by_schema(document), by_us(document)) == (valid, valid)


def test_both_judge_an_unknown_and_a_missing_field_alike() -> None:
    for path in PATHS:
        if not isinstance(path[-1], str):
            continue
        unknown = changed((*path[:-1], "zzz"), 1)
        assert by_schema(unknown) is by_us(unknown), path
        document = copy.deepcopy(RELEASE)
        parent = document
        for part in path[:-1]:
            parent = parent[part]
        del parent[path[-1]]
        assert by_schema(document) is by_us(document), path


OTHER = st.sampled_from([None, True, False, 0, 1, -1, 2.5, "", "x", "a b", "loop", [], [1], ["x"],
                         [{}], {}, {"x": 1}, {"var": "x"}, {"type": "loop"}])  # fmt: skip


@given(st.sampled_from(PATHS), OTHER)
@settings(max_examples=150, deadline=None)
def test_both_judge_any_value_anywhere_alike(path: tuple[Any, ...], value: Any) -> None:
    document = changed(path, value)
    told = validated({key: each for key, each in document.items() if key != "$schema"})[1]
    if path == ("$schema",) or any("nothing can be that long" in each.message for each in told):
        return  # what a schema can't say: min is not above max
    assert by_schema(document) is (not told)
