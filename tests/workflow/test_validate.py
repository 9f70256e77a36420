"""Problems: all at once, at the document's own paths, each with what to do."""

import copy
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.workflow.load import examine, parse
from foundry.workflow.problem import json_path
from foundry.workflow.validate import problems

RELEASE = json.loads((Path(__file__).parent / "documents" / "release.json").read_text())


def step(id_: str = "s", **fields: Any) -> dict[str, Any]:
    return {"id": id_, "title": "t", "prompt": "p", **fields}


def loop(id_: str = "l", body: Any = None, **settings: Any) -> dict[str, Any]:
    settings = settings or {"type": "for", "count": 2}
    body = [step("inner")] if body is None else body
    return {
        "id": id_,
        "type": "loop",
        "title": "t",
        "loop": {"maxIterations": 5, **settings},
        "body": body,
    }


def document(*steps: Any, **fields: Any) -> dict[str, Any]:
    return {"id": "w", "name": "n", "description": "d", "version": "1.0.0",
            "steps": list(steps) or [step()], **fields}  # fmt: skip


def told(raw: object, level: str = "error", **options: Any) -> list[tuple[str, str]]:
    return [(each.path, each.message) for each in problems(raw, **options) if each.level == level]


def one(raw: object, level: str = "error", **options: Any) -> tuple[str, str]:
    [found] = problems(raw, **options)
    assert found.level == level
    return found.path, found.message


FUNCTION = {"name": "f", "definition": "do f"}
TYPED = {
    "name": "g",
    "definition": "do g",
    "parameters": [
        {"name": "to", "type": "string", "required": True, "enum": ["a", "b"]},
        {"name": "n", "type": "number"},
    ],
}
EACH = {"type": "forEach", "items": "things"}


def rule(**fields: Any) -> dict[str, Any]:
    return step(validationCriteria=[{"message": "m", **fields}])


def called(**args: Any) -> dict[str, Any]:
    return document(step(functionCalls=[{"name": "g", "args": args}]), functionDefinitions=[TYPED])


STRUCTURE: list[tuple[str, object, str, str]] = [
    ("null", None, "$", "is nothing: a workflow is an object with steps"),
    ("list", [1], "$", "is a list: a workflow is an object with steps"),
    ("typo", document(step(promt="x")), "$.steps[0].promt",
     "unknown field 'promt': did you mean 'prompt'?"),
    ("no such field", document(loop(type="for", count=1, foo=1)), "$.steps[0].loop.foo",
     "unknown field 'foo': remove it (the fields here are type, maxIterations, items"),
    ("odd key", document(**{"a b'c": 1}), "$['a b\\'c']", "unknown field"),
    ("missing", {k: v for k, v in document().items() if k != "version"}, "$",
     "'version' is missing: such as 1.0.0"),
    ("missing in a loop", document({"id": "l", "type": "loop", "title": "t", "body": "s",
                                    "loop": {"type": "for", "count": 1}}, step()),
     "$.steps[0].loop", "'maxIterations' is missing: a whole number from 1 to 1000"),
    ("no steps", {**document(), "steps": []}, "$.steps", "is empty: it needs at least one"),
    ("steps no list", {**document(), "steps": {}}, "$.steps", "is an object: it has to be a list"),
    ("a step no object", document("s"), "$.steps[0]", "is the text 's': it has to be an object"),
    ("number as text", document(loop(type="for", count=1, maxIterations="3")),
     "$.steps[0].loop.maxIterations",
     "is the text '3': it has to be a whole number (take the quotes away)"),
    ("text as number", document(id=5), "$.id", "is 5: it has to be text (put it in quotes)"),
    ("text as bool", document(step(hasValidation="true")), "$.steps[0].hasValidation",
     "is the text 'true': it has to be true or false (take the quotes away)"),
    ("no list", document(step(guidance="x")), "$.steps[0].guidance",
     "is the text 'x': it has to be a list"),
    ("too many iterations", document(loop(type="for", count=1, maxIterations=2000)),
     "$.steps[0].loop.maxIterations", "is 2000: it has to be at most 1000"),
    ("no iteration", document(loop(type="for", count=1, maxIterations=0)),
     "$.steps[0].loop.maxIterations", "is 0: it has to be at least 1"),
    ("half an iteration", document(loop(type="for", count=1, maxIterations=1.5)),
     "$.steps[0].loop.maxIterations", "is 1.5: it has to be a whole number"),
    ("long prompt", document(step(prompt="x" * 8193)), "$.steps[0].prompt",
     "is 8,193 characters long: at most 8,192 are allowed, so shorten it"),
    ("empty title", document(step(title="")), "$.steps[0].title", "is empty: write something"),
    ("id", document(step("no good")), "$.steps[0].id", "'no good' is no id: use letters, digits"),
    ("version", document(version="1"), "$.version", "'1' is no version: write three numbers"),
    ("name", document(functionDefinitions=[{"name": "1f", "definition": "x"}]),
     "$.functionDefinitions[0].name", "'1f' is no name: use letters, digits and '_'"),
    ("choice", document(step(onFailure="retry")), "$.steps[0].onFailure",
     "is the text 'retry': it has to be 'stop', 'unverified' or 'ignore'"),
    ("loop type", document(loop(type="each", items="x", count=1)), "$.steps[0].loop.type",
     "is the text 'each': it has to be 'for', 'forEach', 'while' or 'until'"),
    ("while without condition", document(loop(type="while")), "$.steps[0].loop",
     "a while loop needs a `condition`"),
    ("for without count", document(loop(type="for")), "$.steps[0].loop",
     "a for loop needs a `count`"),
    ("forEach without items", document(loop(type="forEach")), "$.steps[0].loop",
     "a forEach loop needs `items`"),
    ("count", document(loop(type="for", count=[])), "$.steps[0].loop.count",
     "is a list: it has to be a number, or the name of one in the context"),
    ("confirmation", document(step(requireConfirmation="yes")), "$.steps[0].requireConfirmation",
     "is the text 'yes': it has to be true, false or a condition"),
    ("a confirmation's condition", document(step(requireConfirmation={"var": "x", "gt": "1"})),
     "$.steps[0].requireConfirmation.gt", "is the text '1': it has to be a number"),
    ("body", document(loop(body=5)), "$.steps[0].body",
     "is 5: it has to be a list of steps, or the id of a step"),
    ("empty body", document(loop(body=[])), "$.steps[0].body", "is empty: it needs at least one"),
    ("in a body", document(loop(body=[step("x", title=3)])), "$.steps[0].body[0].title",
     "is 3: it has to be text"),
    ("condition in a body", document(loop(body=[step("x", runCondition={"and": "x"})])),
     "$.steps[0].body[0].runCondition.and", "is the text 'x': it has to be a list"),
    ("comparison without var", document(step(runCondition={"equals": 1})),
     "$.steps[0].runCondition", "'equals' compares a variable: name it with `var`"),
    ("two conditions in one", document(step(runCondition={"or": [], "not": {}})),
     "$.steps[0].runCondition", "can't stand together"),
    ("deep condition", document(step(runCondition={"or": [{"not": {"var": 1}}]})),
     "$.steps[0].runCondition.or[0].not.var", "is 1: it has to be text"),
    ("unknown operator", document(step(runCondition={"var": "x", "eq": 1})),
     "$.steps[0].runCondition.eq", "unknown field 'eq'"),
    ("criteria", document(step(validationCriteria=3)), "$.steps[0].validationCriteria",
     "is 3: it has to be a list of rules, or an object"),
    ("rule", document(rule(type="regex")), "$.steps[0].validationCriteria[0]",
     "a regex rule needs 'pattern'"),
    ("rule's field", document(rule(type="contains", value="x", rule=1)),
     "$.steps[0].validationCriteria[0].rule", "unknown field 'rule'"),
    ("nested criteria",
     document(step(validationCriteria={"and": [{"not": {"type": "length", "message": "m",
                                                        "min": "1"}}]})),
     "$.steps[0].validationCriteria.and[0].not.min", "is the text '1': it has to be a number"),
    ("a rule's condition",
     document(rule(type="contains", value="x", condition={"or": [{"var": 3}]})),
     "$.steps[0].validationCriteria[0].condition.or[0].var", "is 3: it has to be text"),
    ("enum", document(functionDefinitions=[
        {"name": "f", "definition": "x",
         "parameters": [{"name": "p", "type": "string", "enum": [None]}]}]),
     "$.functionDefinitions[0].parameters[0].enum[0]", "is nothing: it has to be a list of texts"),
    ("nothing to do", document({"id": "s", "title": "t"}), "$.steps[0]", "a step needs a `prompt`"),
    ("a date", document(context={"at": date(2024, 1, 1)}), "$.context.at",
     "is a date, which JSON has not: write it as text"),
    ("not a number", document(context={"x": [float("nan")]}), "$.context.x[0]", "nan is no number"),
    ("half a character", document(name="\ud800"), "$.name", "has half of a character"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "path", "message"), [case[1:] for case in STRUCTURE], ids=[c[0] for c in STRUCTURE]
)
def test_a_fault_of_structure(raw: object, path: str, message: str) -> None:
    found = one(raw)
    assert found[0] == path
    assert message in found[1]


MEANING: list[tuple[str, object, str, str]] = [
    ("id twice", document(step("a"), step("b"), step("a")), "$.steps[2].id",
     "the id 'a' is that of $.steps[0] already"),
    ("id twice in a body", document(step("a"), loop(body=[step("a")])), "$.steps[1].body[0].id",
     "the id 'a' is that of $.steps[0] already"),
    ("a loop's id in its body", document(loop("a", body=[step("a")])), "$.steps[0].body[0].id",
     "the id 'a' is that of $.steps[0]"),
    ("body that is not there", document(loop(body="stpe"), step("step")), "$.steps[0].body",
     "there is no step 'stpe': did you mean 'step'? (steps are: step)"),
    ("body that is the loop", document(loop("l", body="l")), "$.steps[0].body",
     "a loop can't be its own body"),
    ("body that is a loop", document(loop("a", body="b"), loop("b")), "$.steps[0].body",
     "'b' is a loop: a loop can't stand in another's body"),
    ("body inside of another", document(loop("a", body="x"), loop("b", body=[step("x")])),
     "$.steps[0].body", "'x' stands in another loop's body: move it to the top level"),
    ("body with a condition", document(loop(body="s"), step(runCondition={"var": "x"})),
     "$.steps[1].runCondition", "this step is the body of the loop 'l'"),
    ("nested loop", document(loop("a", body=[loop("b")])), "$.steps[0].body[0]",
     "a loop can't stand in another's body: put it on the top level"),
    ("a reference to nothing", document(step(functionReferences=["ff()"]),
                                        functionDefinitions=[FUNCTION]),
     "$.steps[0].functionReferences[0]",
     "no function 'ff' is defined here: did you mean 'f'? (defined are: f)"),
    ("a reference without any definition", document(step(functionReferences=["ff()"])),
     "$.steps[0].functionReferences[0]", "no function 'ff' is defined here (defined are: none)"),
    ("no reference", document(step(functionReferences=["f(x)"]), functionDefinitions=[FUNCTION]),
     "$.steps[0].functionReferences[0]", "'f(x)' is no reference: write `name()`"),
    ("a call of nothing", document(step(functionCalls=[{"name": "f", "args": {}}])),
     "$.steps[0].functionCalls[0].name", "no function 'f' is defined here"),
    ("another step's function", document(step("a", functionDefinitions=[FUNCTION]),
                                         step("b", functionReferences=["f"])),
     "$.steps[1].functionReferences[0]", "no function 'f' is defined here"),
    ("defined twice", document(functionDefinitions=[FUNCTION, FUNCTION]),
     "$.functionDefinitions[1].name", "'f' is defined twice in this scope"),
    ("a reference that two loops share",
     document(loop("a", body="s"), loop("b", body="s"), step(functionReferences=["f"])),
     "$.steps[2].functionReferences[0]", "no function 'f' is defined here"),
    ("missing argument", called(), "$.steps[0].functionCalls[0]", "the argument 'to' is missing"),
    ("unknown argument", called(to="a", nn=1), "$.steps[0].functionCalls[0].args.nn",
     "there is no parameter 'nn': did you mean 'n'? (they are: n, to)"),
    ("type of an argument", called(to="a", n=True), "$.steps[0].functionCalls[0].args.n",
     "is true, and the parameter takes a number"),
    ("choice of an argument", called(to="c"), "$.steps[0].functionCalls[0].args.to",
     "is the text 'c', and the parameter takes one of a, b"),
    ("type of a default", document(functionDefinitions=[
        {"name": "f", "definition": "x",
         "parameters": [{"name": "p", "type": "array", "default": {}}]}]),
     "$.functionDefinitions[0].parameters[0].default",
     "is an object, and the parameter takes a array"),
    ("two variables of one name", document(loop(**EACH, itemVar="x", indexVar="x")),
     "$.steps[0].loop.indexVar", "itemVar and indexVar are both 'x'"),
    ("a default's name", document(loop(**EACH, iterationVar="currentItem")),
     "$.steps[0].loop.type", "iterationVar and itemVar are both 'currentItem'"),
    ("regex of a condition", document(step(runCondition={"or": [{"var": "x", "matches": "("}]})),
     "$.steps[0].runCondition.or[0].matches", "no regular expression"),
    ("regex of a loop's condition",
     document(loop(type="while", condition={"var": "x", "matches": r"(a)\1"})),
     "$.steps[0].loop.condition.matches", "no regular expression"),
    ("pattern of a rule", document(rule(type="regex", pattern="(?<=a)b")),
     "$.steps[0].validationCriteria[0].pattern", "no regular expression"),
    ("flags of a rule", document(rule(type="regex", pattern="flags: x", flags="x")),
     "$.steps[0].validationCriteria[0].flags", "unknown flags 'x'"),
    ("pattern in a composition", document(step(validationCriteria={"not": {"or": [
        {"type": "regex", "message": "m", "pattern": "["}]}})),
     "$.steps[0].validationCriteria.not.or[0].pattern", "no regular expression"),
    ("schema of a rule", document(rule(type="schema", schema={"type": "objct"})),
     "$.steps[0].validationCriteria[0].schema.type", "is no JSON Schema"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "path", "message"), [case[1:] for case in MEANING], ids=[c[0] for c in MEANING]
)
def test_a_fault_of_meaning(raw: object, path: str, message: str) -> None:
    found = one(raw)
    assert found[0] == path
    assert message in found[1]


def test_structure_is_told_first_and_meaning_once_it_is_mended() -> None:
    """What has no place in a model can't be asked for its meaning."""
    raw = document(step("a", title=3), step("b", prompt="{{who}}"), step("b"))
    assert [path for path, _ in told(raw)] == ["$.steps[0].title"]
    assert told(raw, "warning") == []
    raw["steps"][0]["title"] = "t"
    assert [path for path, _ in told(raw)] == ["$.steps[2].id"]
    assert [path for path, _ in told(raw, "warning")] == ["$.steps[1].prompt"]


def test_a_loop_in_a_body_is_one_fault_whatever_it_holds() -> None:
    raw = document(loop("a", body=[{"type": "x", "loop": 3}, step("s", title=3)]))
    assert [path for path, _ in told(raw)] == ["$.steps[0].body[0]", "$.steps[0].body[1].title"]


FINE: list[tuple[str, object]] = [
    ("the same function in two scopes",
     document(step(functionDefinitions=[FUNCTION]), functionDefinitions=[FUNCTION])),
    ("a reference with and without parentheses",
     document(step(functionReferences=["f", "f()"]), functionDefinitions=[FUNCTION])),
    ("a loop's function in its body by id",
     document({**loop(body="s"), "functionDefinitions": [FUNCTION]},
              step(functionReferences=["f"]))),
    ("an argument that the run fills in", called(to="{{who}}", n="{{n}}")),
    ("a body that two loops share", document(loop("a", body="s"), loop("b", body="s"), step())),
    ("a body step with a condition",
     document(loop(body=[step(runCondition={"var": "x"})]))),
    ("a schema key for editors", document(**{"$schema": "x"})),
]  # fmt: skip


@pytest.mark.parametrize("raw", [case[1] for case in FINE], ids=[case[0] for case in FINE])
def test_what_is_allowed(raw: object) -> None:
    assert problems(raw, names={"who", "n"}) == ()
    parse(raw, "test")


def test_one_object_tells_all_that_is_wrong_with_its_fields() -> None:
    """What an object says as a whole is looked at when its fields are right."""
    raw = document(
        {"id": "a", "promt": "x"},
        loop("b", type="forEach", maxIterations="3", itemVar="1"),
        rule(type="regex", message=""),
        version=None,
    )
    assert told(raw) == [
        ("$.version", "is nothing: it has to be text"),
        ("$.steps[0]", "'title' is missing: a line that says what it is about"),
        ("$.steps[0].promt", "unknown field 'promt': did you mean 'prompt'?"),
        ("$.steps[1].loop.maxIterations",
         "is the text '3': it has to be a whole number (take the quotes away)"),
        ("$.steps[1].loop.itemVar",
         "'1' is no name: use letters, digits and '_', beginning with a letter or '_'"),
        ("$.steps[2].validationCriteria[0].message", "is empty: write something"),
    ]  # fmt: skip


WARNINGS: list[tuple[str, object, str, str]] = [
    ("unknown name", document(step(prompt="{{who}}"), context={"what": 1}), "$.steps[0].prompt",
     "nothing is named 'who': it stays as written; the names are what"),
    ("in a title", document(step(title="{{who}}")), "$.steps[0].title", "nothing is named 'who'"),
    ("in guidance", document(step(guidance=["x", "{{who}}"])), "$.steps[0].guidance[1]",
     "nothing is named 'who'"),
    ("a loop's variable outside of it",
     document(loop(**EACH), step(prompt="{{currentItem.name}}")), "$.steps[1].prompt",
     "nothing is named 'currentItem.name'"),
    ("an item in a for loop", document(loop(body=[step(prompt="{{currentItem}}")])),
     "$.steps[0].body[0].prompt", "the names are currentIteration"),
    ("a variable that hides the context's", document(loop(**EACH, itemVar="x"), context={"x": 1}),
     "$.steps[0].loop.itemVar", "'x' hides the variable of the context"),
    ("a variable that hides its list", document(loop(**EACH, itemVar="things")),
     "$.steps[0].loop.itemVar", "'things' hides what the loop runs over"),
    ("validation without criteria", document(step(hasValidation=True)),
     "$.steps[0].hasValidation", "there are no validationCriteria"),
    ("items of a while loop",
     document(loop(type="while", condition={"var": "x"}, items="things")), "$.steps[0].loop.items",
     "means nothing to a while loop, only to forEach"),
    ("more than the most", document(loop(type="for", count=9)), "$.steps[0].loop.count",
     "is 9, but the loop ends at maxIterations: 5"),
    ("never", document(loop(type="for", count=0)), "$.steps[0].loop.count",
     "is 0: the loop's steps never run"),
    ("a long rule", document(metaGuidance=["x" * 257]), "$.metaGuidance[0]",
     "is 257 characters long: WorkRail itself refuses more than 256"),
    ("a field of another rule", document(rule(type="contains", value="x", pattern="y")),
     "$.steps[0].validationCriteria[0].pattern", "means nothing to a contains rule"),
    ("a pattern that every text matches", document(rule(type="regex", pattern="(?!.*TODO)")),
     "$.steps[0].validationCriteria[0].pattern", "every text matches '(?!.*TODO)'"),
    ("a function in prose",
     document(step(functionReferences=["f()", "h()"]), metaGuidance=["f(): do it"])
     | {"steps": [step(functionReferences=["f()"])]},
     "$.steps[0].functionReferences[0]", "'f' is defined nowhere, at most told of in metaGuidance"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "path", "message"), [case[1:] for case in WARNINGS], ids=[c[0] for c in WARNINGS]
)
def test_a_warning_that_is_an_error_when_strict(raw: object, path: str, message: str) -> None:
    found = one(raw, "warning")
    assert found[0] == path
    assert message in found[1]
    assert one(raw, "error", strict=True) == found
    parse(raw, "test")


@pytest.mark.parametrize(
    "steps",
    [
        (step(prompt="{{given}} {{ given.deep }} {{brought}}"),),
        (step(prompt="{{asked}}"), step("b", runCondition={"not": {"var": "asked.x"}})),
        (step(prompt="{{asked}}"), rule(type="contains", value="x", condition={"var": "asked"})
         | {"id": "b"}),
        (loop(**EACH, body=[step(prompt="{{currentItem}}{{currentIndex}}{{currentIteration}}")]),),
        (loop(**EACH, itemVar="thing", body=[step(prompt="{{thing.name}} of {{things.length}}")]),),
        (loop(**EACH, itemVar="thing", body="s"), step(prompt="{{thing.name}}")),
        (loop(type="for", count="often", body=[step(prompt="{{often}}")]),),
        (step(prompt='{{given + 1}} {{"Mermaid"}} {{ }} {{#if x}}'),),
    ],
)  # fmt: skip
def test_names_that_something_provides(steps: tuple[Any, ...]) -> None:
    assert problems(document(*steps, context={"given": {}}), names={"brought"}) == ()


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("given + 1", True),
        ("(given * 2).toFixed(1)", True),
        ('"given <br/> text"', False),
        ("other + 1", False),
        ("x.given + 1", False),
        ("#each prose", False),
    ],
)
def test_strict_tells_of_an_expression_over_a_name(inside: str, expected: bool) -> None:
    raw = document(step(prompt=f"a {{{{{inside}}}}}"), context={"given": 1})
    assert problems(raw) == ()
    found = told(raw, strict=True)
    assert [path for path, _ in found] == ["$.steps[0].prompt"] * expected
    assert all("is not worked out" in message for _, message in found)


def test_errors_come_first_and_then_the_order_of_the_document() -> None:
    raw = document(
        step("b", prompt="{{w}}"),
        step("a", guidance=["{{v}}"], functionReferences=["f"]),
        step("a"),
        metaGuidance=["x" * 300],
        functionDefinitions=[FUNCTION | {"name": "g"}] * 2,
    )
    assert [(each.level, each.path) for each in problems(raw)] == [
        ("error", "$.steps[1].functionReferences[0]"),
        ("error", "$.steps[2].id"),
        ("error", "$.functionDefinitions[1].name"),
        ("warning", "$.steps[0].prompt"),
        ("warning", "$.steps[1].guidance[0]"),
        ("warning", "$.metaGuidance[0]"),
    ]
    broken = document(step(title=3, guidance=[5, "v", 6]), step(), nope=1)
    assert [each.path for each in problems(broken)] == [
        "$.steps[0].title", "$.steps[0].guidance[0]", "$.steps[0].guidance[2]", "$.nope",
    ]  # fmt: skip


def test_a_repeated_id_is_that_of_the_first() -> None:
    found = told(document(step("a"), step("a"), step("a")))
    assert [path for path, _ in found] == ["$.steps[1].id", "$.steps[2].id"]
    assert all("that of $.steps[0] already" in message for _, message in found)


def test_paths_are_json_paths() -> None:
    assert json_path(()) == "$"
    assert json_path(("steps", 2, "loop", "count")) == "$.steps[2].loop.count"
    assert json_path(("a b", "it's", "\\", "\n")) == "$['a b']['it\\'s']['\\\\']['\\n']"


def test_the_document_is_left_as_it_is() -> None:
    raw = {**copy.deepcopy(RELEASE), "more": 1}
    before = copy.deepcopy(raw)
    problems(raw, strict=True)
    assert raw == before


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    return [path, *(each for key, part in inner for each in paths_of(part, (*path, key)))]


PATHS = [path for path in paths_of(RELEASE) if path]
OTHER = st.sampled_from([None, True, -1, 2.5, "", "x", "{{", [], [[]], {}, {"type": "loop"},
                         {"id": []}, {"and": {}}, [{"body": [{"loop": {}}]}]])  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(PATHS), OTHER), min_size=1, max_size=4))
@settings(max_examples=150, deadline=None)
def test_whatever_is_in_a_document_problems_are_told_at_places_in_it(
    changes: list[tuple[tuple[Any, ...], Any]],
) -> None:
    raw = copy.deepcopy(RELEASE)
    for path, value in changes:
        if path in paths_of(raw):  # an earlier change may have taken it away
            parent = raw
            for part in path[:-1]:
                parent = parent[part]
            parent[path[-1]] = copy.deepcopy(value)
    places = {json_path(path) for path in paths_of(raw)}
    found = problems(raw, strict=True)
    assert {each.path for each in found} - places <= {"$"}
    assert len(set(found)) == len(found)
    if not any(each.level == "error" for each in problems(raw)):
        parse(raw, "test")


def test_examine_tells_a_file_what_problems_tell_a_value(tmp_path: Path) -> None:
    raw = document(step(promt="x", prompt="{{who}}"))
    (tmp_path / "a.json").write_text(json.dumps(raw))
    assert examine(tmp_path / "a.json") == problems(raw)
    assert examine(tmp_path / "a.json", strict=True, names={"who"}) == problems(
        raw, strict=True, names={"who"}
    )
