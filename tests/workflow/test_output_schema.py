"""JSON Schemas of outputs: what is no schema is told, nothing is fetched, and drafts are kept."""

import socket
from typing import Any

import pytest

from foundry.workflow.output_schema import MOST, faults, violations

DRAFT7 = "http://json-schema.org/draft-07/schema#"

FAULTY: list[tuple[dict[str, Any], tuple[Any, ...], str]] = [
    ({"type": "objct"}, ("type",), "is no JSON Schema"),
    ({"properties": []}, ("properties",), "is no JSON Schema: [] is not of type 'object'"),
    ({"$schema": "https://example.org/mine"}, ("$schema",), "is no draft of JSON Schema"),
    ({"$schema": 7}, ("$schema",), "is no draft of JSON Schema"),
    ({"$ref": "#/$defs/x"}, ("$ref",), "'#/$defs/x' is not in this schema, and nothing is fetched"),
    ({"items": {"$ref": "http://127.0.0.1:9/s"}}, ("items", "$ref"), "nothing is fetched"),
    ({"anyOf": [{"$ref": "other.json"}]}, ("anyOf", 0, "$ref"), "nothing is fetched"),
    ({"items": {"$ref": "file:///etc/passwd"}}, ("items", "$ref"), "nothing is fetched"),
    ({"$ref": "#"}, ("$ref",), "refers to itself without end"),
    ({"$ref": "http://["}, ("$ref",), "nothing is fetched"),
    ({"$id": "http://x", "items": {"$id": "http://["}}, (), "mend its $id and $ref"),
    ({"$ref": "#/x", "x": {"required": 5}}, ("$ref",), "what it refers to is no JSON Schema"),
    ({"$ref": "#/x", "x": 5}, ("$ref",), "what it refers to is no JSON Schema"),
    ({"$ref": "#/x", "x": {"pattern": "("}}, ("$ref", "pattern"), "no regular expression"),
    ({"pattern": "(?=a)"}, ("pattern",), "no regular expression"),
    ({"properties": {"a": {"items": {"pattern": "["}}}},
     ("properties", "a", "items", "pattern"), "no regular expression"),
    ({"patternProperties": {"(": True}}, ("patternProperties", "("), "no regular expression"),
    ({"allOf": [{"patternProperties": {"a": True}}], "unevaluatedProperties": False}, (),
     "can't stand in one schema here"),
    ({"items": {"$schema": DRAFT7}}, ("items", "$schema"), "can't be of another draft"),
    ({"$schema": DRAFT7, "items": [{"type": "x"}]}, ("items", 0, "type"), "is no JSON Schema"),
]  # fmt: skip

SOUND: list[dict[str, Any]] = [
    {},
    {"$schema": DRAFT7, "definitions": {"a": {}}, "$ref": "#/definitions/a"},
    {"$defs": {"a": {"$anchor": "here"}}, "items": {"$ref": "#here"}},
    {"$id": "http://x/y", "$defs": {"a": {"$id": "z"}}, "items": {"$ref": "z"}},
    {"properties": {"next": {"$ref": "#"}}},
    {"$ref": "https://json-schema.org/draft/2020-12/schema"},
    {"const": {"$ref": "nowhere", "pattern": "("}},
    {"enum": [{"pattern": "("}]},
    {"properties": {"pattern": {"type": "string"}, "$ref": {}}},
    {"unevaluatedProperties": False},
]


@pytest.mark.parametrize(("schema", "place", "message"), FAULTY)
def test_a_fault_is_told_at_its_place(
    schema: dict[str, Any], place: tuple[Any, ...], message: str
) -> None:
    found = list(faults(schema))
    assert [where for where, _ in found] == [place]
    assert message in found[0][1]
    assert violations(schema, {"a": [1, "x"]})


@pytest.mark.parametrize("schema", SOUND)
def test_a_sound_schema_has_none(schema: dict[str, Any]) -> None:
    assert list(faults(schema)) == []


def test_a_server_that_a_schema_names_is_never_asked() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        place = f"http://127.0.0.1:{server.getsockname()[1]}/schema"
        for schema in ({"$ref": place}, {"$schema": place}, {"$id": place, "$ref": "other"}):
            assert list(faults(schema))
            assert violations(schema, 1)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_the_draft_is_the_one_that_the_schema_names() -> None:
    tuple_of_7 = {"$schema": DRAFT7, "items": [{"type": "string"}]}
    tuple_of_2020 = {"prefixItems": [{"type": "string"}]}
    wrong = (("$[0]", "1 is not of type 'string'"),)
    assert violations(tuple_of_7, [1, 1]) == violations(tuple_of_2020, [1, 1]) == wrong


@pytest.mark.parametrize(
    ("schema", "value", "paths"),
    [
        ({"pattern": "b"}, "abc", []),
        ({"pattern": "^b"}, "abc", ["$"]),
        ({"pattern": "^b"}, 5, []),
        ({"patternProperties": {"^n": {"type": "number"}}}, {"n1": "x", "m": "x"}, ["$.n1"]),
        ({"additionalProperties": False, "properties": {"a": {}}, "patternProperties": {"^n": {}}},
         {"a": 1, "n": 1, "x": 1}, ["$"]),
        ({"additionalProperties": {"type": "string"}, "properties": {"a": {}}},
         {"a": 1, "b c": 1}, ["$['b c']"]),
        ({"additionalProperties": True}, {"a": 1}, []),
        ({"additionalProperties": False}, [1], []),
        ({"properties": {"a": {"properties": {"b": {"const": 1}}}}}, {"a": {"b": 2}}, ["$.a.b"]),
        (False, 1, ["$"]),
    ],
)  # fmt: skip
def test_where_a_value_does_not_keep_to_it(schema: Any, value: Any, paths: list[str]) -> None:
    schema = schema if isinstance(schema, dict) else {"allOf": [schema]}
    assert list(faults(schema)) == []
    assert [path for path, _ in violations(schema, value)] == paths


def test_the_faults_of_one_value_are_bounded() -> None:
    found = violations({"items": {"type": "string"}}, [1] * 1_000)
    assert len(found) == MOST
    assert all(len(message) < 300 for _, message in violations({"type": "null"}, "x" * 10_000))


def test_references_that_unfold_without_end_are_a_fault_and_no_wait() -> None:
    """Each level has the one below twice: 2 to the power of 40 comparisons."""
    levels = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n - 1}"}] * 2} for n in range(1, 41)}
    bomb = {"$defs": {"a0": {"type": "object"}, **levels}, "$ref": "#/$defs/a40"}
    assert any("unfold to more than" in fault for _, fault in faults(bomb))
    hidden = {"properties": {"x": {"$ref": "#/$defs/a40"}}, "$defs": bomb["$defs"]}
    ((_, said),) = violations(hidden, {"x": {}})
    assert "unfold to more than" in said
