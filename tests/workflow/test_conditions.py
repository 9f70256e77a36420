"""Conditions: every operator, what is refused, and that no pattern can hang."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from foundry.schema.condition import Condition
from foundry.workflow.conditions import holds, lookup, names, problems
from foundry.workflow.regex import compiled

CONTEXT: dict[str, Any] = {
    "n": 3,
    "half": 0.5,
    "zero": 0,
    "word": " High ",
    "empty": "",
    "yes": True,
    "no": False,
    "nothing": None,
    "list": ["a", "B", 3],
    "bare": [],
    "object": {"inner": {"deep": 1}, "a.b": 2},
    "a.b": "exact",
    "a": {"b": "path"},
    "digits": "3",
    "underscored": "1_0",
    "large": "9007199254740993",
}


def judged(condition: dict[str, Any]) -> bool:
    return holds(Condition.model_validate(condition), CONTEXT)


TRUE: list[dict[str, Any]] = [
    {},
    {"var": "n", "equals": 3},
    {"var": "n", "equals": "3"},
    {"var": "digits", "equals": 3},
    {"var": "digits", "equals": 3.0},
    {"var": "word", "equals": "high"},
    {"var": "word", "equals": "HIGH  "},
    {"var": "yes", "equals": True},
    {"var": "yes", "equals": "Yes"},
    {"var": "yes", "equals": "1"},
    {"var": "no", "equals": "no"},
    {"var": "no", "equals": "false"},
    {"var": "missing", "equals": None},
    {"var": "nothing", "equals": None},
    {"var": "list", "equals": ["a", "B", 3]},
    {"var": "n", "not_equals": 4},
    {"var": "missing", "not_equals": "x"},
    {"var": "no", "not_equals": 0},
    {"var": "yes", "not_equals": 1},
    {"var": "n", "gt": 2},
    {"var": "n", "gte": 3},
    {"var": "n", "lt": 3.5},
    {"var": "half", "lte": 0.5},
    {"var": "n", "gte": 1, "lte": 5},
    {"var": "word", "contains": "IG"},
    {"var": "list", "contains": "b"},
    {"var": "list", "contains": "3"},
    {"var": "n", "contains": "3"},
    {"var": "missing", "contains": ""},
    {"var": "word", "startsWith": "hi"},
    {"var": "word", "endsWith": "GH"},
    {"var": "word", "matches": "^h.gh$"},
    {"var": "n", "matches": "[0-9]"},
    {"var": "word", "in": ["low", "high"]},
    {"var": "n", "in": ["3"]},
    {"var": "n"},
    {"var": "bare"},
    {"var": "object"},
    {"not": {"var": "zero"}},
    {"not": {"var": "empty"}},
    {"not": {"var": "missing"}},
    {"and": [{"var": "n"}, {"var": "yes"}]},
    {"and": []},
    {"or": [{"var": "zero"}, {"var": "yes"}]},
    {"var": "object.inner.deep", "equals": 1},
    {"var": "list.1", "equals": "b"},
    {"var": "list.length", "equals": 3},
    {"var": "large", "equals": 9007199254740993},
    {"var": "large", "not_equals": 9007199254740992},
    {"var": "word.length", "equals": 6},
    {"var": "a.b", "equals": "exact"},
]
FALSE: list[dict[str, Any]] = [
    {"var": "n", "equals": 4},
    {"var": "missing", "equals": "x"},
    {"var": "missing", "equals": False},
    {"var": "zero", "equals": False},
    {"var": "yes", "equals": 1},
    {"var": "word", "equals": 3},
    {"var": "word", "equals": True},
    {"var": "n", "not_equals": "3"},
    {"var": "missing", "gt": 0},
    {"var": "missing", "lt": 1},
    {"var": "digits", "gt": 2},
    {"var": "yes", "gte": 1},
    {"var": "n", "gte": 1, "lte": 2},
    {"var": "word", "contains": "low"},
    {"var": "list", "contains": "c"},
    {"var": "missing", "startsWith": "a"},
    {"var": "word", "endsWith": "hig"},
    {"var": "word", "matches": "^igh"},
    {"var": "word", "in": []},
    {"var": "zero"},
    {"var": "empty"},
    {"var": "no"},
    {"var": "missing"},
    {"var": "list.9"},
    {"var": "list." + "9" * 1000},
    {"var": "underscored", "equals": 10},
    {"var": "object.inner.deep.deeper"},
    {"or": []},
    {"and": [{"var": "yes"}, {"var": "no"}]},
    {"not": {"and": [{"var": "yes"}]}},
]


@pytest.mark.parametrize("condition", TRUE, ids=str)
def test_what_holds(condition: dict[str, Any]) -> None:
    assert judged(condition)


@pytest.mark.parametrize("condition", FALSE, ids=str)
def test_what_does_not_hold(condition: dict[str, Any]) -> None:
    assert not judged(condition)


def test_no_condition_always_holds() -> None:
    assert holds(None, {})


MALFORMED: list[tuple[Any, str]] = [
    ({"and": "x"}, "tuple"),
    ({"and": [{"var": "a"}], "or": [{"var": "b"}]}, "'and' and 'or' can't stand together"),
    ({"var": "a", "not": {"var": "b"}}, "'var' and 'not' can't stand together"),
    ({"equals": 3}, "'equals' compares a variable"),
    ({"var": "a", "equal": 3}, "equal"),
    ({"var": ""}, "at least 1 character"),
    ({"var": "a", "gt": "high"}, "number"),
    ({"var": "a", "in": "abc"}, "tuple"),
    ({"var": "a", "matches": None}, "'matches' needs a value"),
    ({"not": None}, "'not' needs a value"),
    ({"not": {"and": 3}}, "tuple"),
    ("always", "dictionary"),
]


@pytest.mark.parametrize(("condition", "said"), MALFORMED, ids=str)
def test_what_is_malformed_is_refused_and_never_false(condition: Any, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Condition.model_validate(condition)


@pytest.mark.parametrize("pattern", ["(a", "(?=a)b", r"(a)\1", "a{2,1}", "[z-a]"])
def test_a_pattern_that_does_not_compile_is_a_problem_with_its_place(pattern: str) -> None:
    condition = Condition.model_validate(
        {"or": [{"var": "a"}, {"not": {"var": "b", "matches": pattern}}]}
    )
    ((path, what),) = problems(condition)
    assert path == ("or", 1, "not", "matches")
    assert repr(pattern) in what


def test_unknown_flags_are_named() -> None:
    with pytest.raises(ValueError, match="unknown flags 'x'"):
        compiled("a", "ix")


@pytest.mark.parametrize(
    ("pattern", "flags", "text", "found"),
    [
        ("^b", "", "a\nb", False),
        ("^b", "m", "a\nb", True),
        ("a.b", "", "a\nb", False),
        ("a.b", "s", "a\nb", True),
        ("A", "", "a", False),
        ("A", "gi", "a", True),
    ],
)
def test_flags_are_those_of_javascript(pattern: str, flags: str, text: str, found: bool) -> None:
    assert (compiled(pattern, flags).search(text) is not None) is found


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*a){20}$", "^(([a-z])+.)+[A-Z]$"])
def test_no_pattern_can_hang(pattern: str) -> None:
    """Each of these takes a backtracking engine longer than the suite may run."""
    assert not holds(
        Condition.model_validate({"var": "text", "matches": pattern}), {"text": "a" * 5000 + "!"}
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(json_values, json_values)
def test_equality_is_symmetric_and_has_an_opposite(left: Any, right: Any) -> None:
    def equal(a: Any, b: Any) -> bool:
        return holds(Condition.model_validate({"var": "x", "equals": b}), {"x": a})

    assert equal(left, right) == equal(right, left)
    assert equal(left, left)
    other = Condition.model_validate({"var": "x", "not_equals": right})
    assert holds(other, {"x": left}) != equal(left, right)


@given(st.text(max_size=12), json_values)
def test_every_path_has_an_answer(path: str, value: Any) -> None:
    assert lookup(path, {}) is None
    assert lookup(path, {path: value}) == value


def test_the_names_that_a_condition_asks_about() -> None:
    condition = Condition.model_validate(
        {"and": [{"var": "a"}, {"not": {"or": [{"var": "b.c", "gt": 1}, {"var": "a"}]}}]}
    )
    assert list(names(condition)) == ["a", "b.c", "a"]
    assert list(names(None)) == []


def test_a_pattern_of_endless_length_is_refused() -> None:
    with pytest.raises(ValueError, match="longer than"):
        compiled("a" * 3000)
