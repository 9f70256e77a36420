"""Criteria: every rule, composition and gate; and that no output and no pattern does any harm."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from foundry.schema.criteria import Criteria
from foundry.workflow.criteria import Verdict, judge

ADAPTER: TypeAdapter[Criteria] = TypeAdapter(Criteria)
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "tags": {"items": {"pattern": "^[a-z]+$"}}},
    "required": ["n"],
    "additionalProperties": False,
}


def verdict(criteria: Any, output: str, **context: Any) -> Verdict:
    return judge(ADAPTER.validate_python(criteria), output, context)


def contains(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "contains", "value": value, "message": f"needs {value}", **more}


def only(kind: str, **fields: Any) -> list[dict[str, Any]]:
    return [{"type": kind, "message": "m", **fields}]


HOLDS: list[tuple[Any, str]] = [
    (only("contains", value="Done"), "all Done."),
    (only("contains", value=""), ""),
    (only("regex", pattern="^a.c$"), "abc"),
    (only("regex", pattern="^a", flags="i"), "Abc"),
    (only("regex", pattern="^b$", flags="gm"), "a\nb\nc"),
    (only("regex", pattern="a.b", flags="s"), "a\nb"),
    (only("regex", pattern="^(?!.*TODO)", flags="s"), "all\ndone"),
    (only("length", min=2, max=2), "äö"),
    (only("length", min=1), "🙂"),
    (only("length", max=1), "🙂"),
    (only("schema", schema=SCHEMA), ' {"n": 1, "tags": ["a"]} '),
    ([contains("a"), contains("b")], "ab"),
    ({"and": [contains("a"), contains("b")]}, "ab"),
    ({"or": [contains("a"), contains("b")]}, "b"),
    ({"not": contains("a")}, "b"),
    ({"not": {"and": [contains("a"), contains("b")]}}, "a"),
    ([contains("a"), {"or": [{"not": contains("x")}, contains("y")]}], "a"),
]

FAILS: list[tuple[Any, str, list[str], list[str]]] = [
    (only("contains", value="Done"), "done", ["m (it does not contain 'Done')"],
     ["Write 'Done' exactly so"]),
    (only("regex", pattern="^a"), "A", ["m (nothing in it matches)"],
     ["Write something that matches '^a'"]),
    (only("regex", pattern="^(?!.*TODO)", flags="s"), "a\nTODO", ["m (nothing in it matches)"],
     ["Write something that matches '^(?!.*TODO)'"]),
    (only("length", min=10), "ä", ["m (it has 1 characters, at least 10 are asked for)"],
     ["Write at least 9 characters more"]),
    (only("length", max=2), "abc", ["m (it has 3 characters, at most 2 are allowed)"],
     ["Shorten it by at least 1 characters"]),
    (only("schema", schema=SCHEMA), '{"n": "1", "tags": ["a", "B"], "x": 1}',
     ["m ($: 'x' is not expected here; $.n: '1' is not of type 'integer'; "
      "$.tags[1]: 'B' does not match '^[a-z]+$')"],
     ["Answer with JSON that keeps to the schema, and nothing around it"]),
    (only("schema", schema={}), "no", ["m (it is not JSON: Expecting value at line 1, column 1)"],
     ["Answer with JSON that keeps to the schema, and nothing around it"]),
    (only("schema", schema={}), "```json\n{}\n```",
     ["m (it is not JSON: Expecting value at line 1, column 1)"],
     ["Answer with JSON that keeps to the schema, and nothing around it"]),
    (only("schema", schema={}), "[NaN]", ["m (it is not JSON: NaN is no JSON value)"],
     ["Answer with JSON that keeps to the schema, and nothing around it"]),
    ([contains("a"), contains("b"), contains("c")], "b",
     ["needs a (it does not contain 'a')", "needs c (it does not contain 'c')"],
     ["Write 'a' exactly so", "Write 'c' exactly so"]),
    ({"or": [contains("a"), {"and": [contains("b"), contains("c")]}]}, "",
     ["None of these will do: needs a (it does not contain 'a') | "
      "needs b (it does not contain 'b') and needs c (it does not contain 'c')"],
     ["Write 'a' exactly so or: Write 'b' exactly so and Write 'c' exactly so"]),
    ({"not": contains("a")}, "a", ["The output must not be like this: it contains 'a'"],
     ["Change it so that not: it contains 'a'"]),
    ({"not": {"or": [contains("a"), {"type": "length", "min": 1, "max": 9, "message": "m"}]}}, "b",
     ["The output must not be like this: (it contains 'a') or "
      "(it has 1 characters or more, up to 9)"],
     ["Change it so that not: (it contains 'a') or (it has 1 characters or more, up to 9)"]),
    ({"not": {"not": {"and": [contains("a")]}}}, "b",
     ["The output must not be like this: not ((it contains 'a'))"],
     ["Change it so that not: not ((it contains 'a'))"]),
]  # fmt: skip


@pytest.mark.parametrize(("criteria", "output"), HOLDS)
def test_an_output_that_will_do(criteria: Any, output: str) -> None:
    assert verdict(criteria, output) == Verdict(True)


@pytest.mark.parametrize(("criteria", "output", "issues", "suggestions"), FAILS)
def test_an_output_that_will_not_do(
    criteria: Any, output: str, issues: list[str], suggestions: list[str]
) -> None:
    assert verdict(criteria, output) == Verdict(False, tuple(issues), tuple(suggestions))


@pytest.mark.parametrize("criteria", [None, ()])
@pytest.mark.parametrize("blank", ["", " \n\t", "\u3000"])
def test_without_criteria_an_output_is_not_blank(criteria: Criteria | None, blank: str) -> None:
    assert not judge(criteria, blank, {}).valid
    assert judge(criteria, blank, {}).suggestions
    assert judge(criteria, f"{blank}x", {}) == Verdict(True)


HIGH = {"var": "priority", "equals": "high"}
LOW = {"var": "priority", "equals": "low"}


@pytest.mark.parametrize(
    ("criteria", "output", "valid"),
    [
        ([contains("x", condition=HIGH)], "", False),
        ([contains("x", condition=LOW)], "", True),
        ({"not": contains("x", condition=HIGH)}, "x", False),
        ({"not": contains("x", condition=LOW)}, "x", True),
        ({"or": [contains("x", condition=HIGH), contains("y", condition=LOW)]}, "x", True),
        ({"or": [contains("x", condition=HIGH), contains("y", condition=LOW)]}, "y", False),
        ({"or": [contains("x", condition=LOW), contains("y", condition=LOW)]}, "", True),
        ({"and": [contains("x", condition=HIGH), contains("y", condition=LOW)]}, "x", True),
        ({"and": [contains("y", condition=LOW)]}, "", True),
        ({"not": {"and": [contains("y", condition=LOW)]}}, "", True),
        ({"not": {"not": contains("y", condition=LOW)}}, "y", True),
    ],
)
def test_a_rule_whose_condition_does_not_hold_is_as_if_not_written(
    criteria: Any, output: str, valid: bool
) -> None:
    assert verdict(criteria, output, priority="high").valid is valid


@pytest.mark.parametrize(
    "output",
    ["[" * 200_000, '{"a":' * 100_000 + "1" + "}" * 100_000, "9" * 10_000, "\ud800", "\x00",
     '"\\ud800"', '{"a": 1, "a": 2}', "[" * 900 + "]" * 900],
)  # fmt: skip
def test_no_output_raises(output: str) -> None:
    endless = {"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}
    for criteria in (
        only("schema", schema={"type": "string", "pattern": "^x$"}),
        only("schema", schema=endless),
        only("regex", pattern="^x$"),
        only("contains", value="y"),
        only("length", min=10**7),
    ):
        found = verdict(criteria, output)
        assert found.valid is (not found.issues)
        assert bool(found.issues) is bool(found.suggestions)


@given(st.text(max_size=30))
@settings(max_examples=50, deadline=None)
def test_not_is_the_opposite(output: str) -> None:
    for rule in (contains("a"), *only("length", min=3, max=9), *only("regex", pattern="[b-d]$")):
        assert verdict([rule], output).valid is not verdict({"not": rule}, output).valid


def test_a_pattern_that_explodes_elsewhere_is_linear_here() -> None:
    output = "a" * 5_000 + "!"
    for pattern in ("^(a+)+$", "(a|a)*$b", "^(?=(a+)+$)(?!(a|aa)+$)x"):
        assert not verdict(only("regex", pattern=pattern), output).valid
    bomb = {"pattern": "^(a+)+$"}
    named = {"patternProperties": {"^(a+)+$": False}, "additionalProperties": False}
    assert not verdict(only("schema", schema=bomb), f'"{output}"').valid
    assert not verdict(only("schema", schema=named), f'{{"{output}": 1}}').valid
