"""Filling texts: what is substituted, what stays, and that nothing is evaluated."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.workflow.placeholders import Filled, fill, in_braces, is_name, unknown_name

CONTEXT: dict[str, Any] = {
    "name": "Ada",
    "n": 3,
    "half": 0.5,
    "yes": True,
    "nothing": None,
    "item": {"title": "ä", "tags": ["a", "b"]},
    "list": [{"id": "first"}, {"id": "second"}],
    "odd-name": "odd",
    "a.b": "exact",
    "nested": "{{name}}",
    "back": r"\1 \g<0>",
}

FILLED = {
    "{{name}}": "Ada",
    "{{ name }} and {{name}}": "Ada and Ada",
    "{{n}}/{{half}}/{{yes}}": "3/0.5/true",
    "{{item}}": '{"title":"ä","tags":["a","b"]}',
    "{{item.title}}": "ä",
    "{{item.tags}}": '["a","b"]',
    "{{item.tags.1}}": "b",
    "{{list.0.id}}": "first",
    "{{list.length}}": "2",
    "{{odd-name}}": "odd",
    "{{a.b}}": "exact",
    "{{nested}}": "{{name}}",
    "{{back}}": r"\1 \g<0>",
    "{{\nname\n}}": "Ada",
    "{{{name}}}": "{Ada}",
}


@pytest.mark.parametrize("text", FILLED)
def test_a_name_that_is_there_is_filled_in(text: str) -> None:
    assert fill(text, CONTEXT) == Filled(FILLED[text], ())


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("{{who}} and {{ who }} and {{name.first}}", ("who", "name.first")),
        ("{{list.2.id}}", ("list.2.id",)),
        ("{{list.-1}}", ()),
        ("{{nothing}}", ("nothing",)),
    ],
)
def test_what_is_not_there_stays_as_written_and_is_told(
    text: str, unknown: tuple[str, ...]
) -> None:
    filled = fill(text, CONTEXT)
    assert (filled.text, filled.unknown) == (text, unknown)


@pytest.mark.parametrize(
    "prose",
    [
        "{{n + 1}}",
        "{{}}",
        "{{ }}",
        '{{"Learning path<br/>Basic"}}',
        "{{(n / 2).toFixed(1)}}",
        "{{n.__class__.__mro__[0]}}",
        "{{n|upper}}",
        "{% if n %}",
        "{{name",
        "name}}",
        "{name}",
    ],
)
def test_other_things_in_braces_are_prose(prose: str) -> None:
    filled = fill(prose, CONTEXT)
    assert (filled.text, filled.unknown) == (prose, ())


def test_attributes_of_values_are_not_reached() -> None:
    filled = fill("{{name.__class__}} {{item.keys}}", CONTEXT)
    assert filled.text == "{{name.__class__}} {{item.keys}}"
    assert filled.unknown == ("name.__class__", "item.keys")


@given(st.text(alphabet="{} na.me0-\n", max_size=60))
def test_without_names_nothing_changes(text: str) -> None:
    filled = fill(text, {})
    assert filled.text == text
    assert set(filled.unknown) == {each for each in in_braces(text) if is_name(each)}


@given(st.text(max_size=40), st.text(max_size=20))
def test_a_value_goes_in_as_it_is(value: str, around: str) -> None:
    before = around.replace("{", "(")
    assert fill(before + "{{x}}", {"x": value}).text == before + value


def test_the_warning_lists_the_names_that_there_are() -> None:
    assert unknown_name("nme", {"name", "age"}) == (
        "nothing is named 'nme': it stays as written; the names are age, name"
    )
    assert unknown_name("nme", {}).endswith("the names are none")
