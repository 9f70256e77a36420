"""What a reader is told: everything, or what it does not have yet, and never less than it needs."""

import json
from typing import Any

import pytest

from foundry.schema.workflow import Workflow
from foundry.workflow.cursor import Instruction, begin, complete, due
from foundry.workflow.disclosure import Disclosure, Reader, disclose

LONG = "Read the module, its tests and whoever calls it. " * 20


def function(name: str, definition: str) -> dict[str, str]:
    return {"name": name, "definition": definition}


WORKFLOW = Workflow.model_validate({
    "id": "review", "name": "Review", "description": "Review modules", "version": "1.0.0",
    "functionDefinitions": [function("note", "Write one line to notes.md."),
                            function("rate", "The workflow's rating."),
                            function("unused", "Nobody refers to this.")],
    "steps": [
        {"id": "list", "title": "List", "prompt": "List the modules, then note() them."},
        {"id": "modules", "title": "Go through {{count}} modules", "type": "loop",
         "loop": {"type": "forEach", "items": "modules", "maxIterations": 10, "itemVar": "module"},
         "functionDefinitions": [function("rate", "The loop's rating, from 1 to 5.")],
         "body": [
             {"id": "read", "title": "Read {{module.name}}", "agentRole": "You read closely.",
              "prompt": LONG + "\nThe module is {{module.name}}.\nUse {a brace} and {{ x + 1 }}.",
              "guidance": ["Be calm", "Mind {{module.risk}}"],
              "functionReferences": ["rate()", "note"],
              "validationCriteria": [{"type": "contains", "value": "risk",
                                      "message": "Name the risk"}]},
             {"id": "mend", "title": "Mend", "prompt": "Mend it, then check() it.",
              "functionDefinitions": [function("check", "Run the tests.")],
              "runCondition": {"var": "module.risk", "equals": "high"}},
         ]},
    ],
})  # fmt: skip

CONTEXT: dict[str, Any] = {
    "count": 3,
    "modules": [{"name": "io", "risk": "low"}, {"name": "core", "risk": "high"},
                {"name": "ui", "risk": "low"}],
}  # fmt: skip


def instructions() -> list[Instruction]:
    cursor, found = begin(WORKFLOW, CONTEXT), []
    while isinstance(coming := due(WORKFLOW, cursor), Instruction):
        found.append(coming)
        cursor = complete(WORKFLOW, cursor)
    return found


def told(reader: Reader, **how: bool) -> dict[str, Disclosure]:
    return {each.id: disclose(WORKFLOW, each, reader, **how) for each in instructions()}


def size(disclosure: Disclosure) -> int:
    return len(json.dumps([disclosure.step, disclosure.guidance, disclosure.context]))


THREAD = told("thread")
FRESH = told("fresh")


def test_the_first_iteration_brings_overview_functions_and_the_step() -> None:
    first = THREAD["modules[1]/read"]
    assert first.guidance["loopPhaseGuidance"] == {
        "loopId": "modules",
        "phaseTitle": "Go through 3 modules",
        "totalSteps": 2,
        "totalItems": 3,
        "steps": [{"id": "read", "title": "Read io"}, {"id": "mend", "title": "Mend"}],
        "loop": {"type": "forEach", "maxIterations": 10, "items": "modules", "itemVar": "module"},
    }
    assert first.guidance["functionDefinitions"] == [
        function("rate", "The loop's rating, from 1 to 5."),
        function("note", "Write one line to notes.md."),
    ]
    prompt = first.guidance["prompt"]
    for part in (LONG.strip(), "The module is io.", "You read closely.", "- Mind low",
                 "Name the risk", "Iteration 1 of 3", "{a brace} and {{ x + 1 }}"):  # fmt: skip
        assert part in prompt
    assert first.step["title"] == "Read io"
    assert first.step["validationCriteria"][0]["message"] == "Name the risk"
    assert "phaseReference" not in first.guidance


def test_later_ones_bring_what_changed_and_references() -> None:
    later = THREAD["modules[2]/read"]
    assert later.step == {"id": "read", "title": "Read core"}
    assert later.guidance["functionReferences"] == ["rate()", "note()"]
    assert "rehydrate" in later.guidance["phaseReference"]
    prompt = later.guidance["prompt"]
    assert prompt == (
        "The same step again, with these values:\n- module.risk: high (was low)\n"
        "- module.name: core (was io)\n\nIteration 2 of 3."
    )
    assert "loopPhaseGuidance" not in later.guidance
    assert later.context["_currentLoop"] == {
        "loopId": "modules", "loopType": "forEach", "iteration": 2, "isFirstIteration": False,
    }  # fmt: skip
    assert later.context["module"] == {"name": "core", "risk": "high"}
    assert size(later) < 0.4 * size(THREAD["modules[1]/read"])


def test_a_step_that_was_skipped_before_comes_whole_and_its_loop_as_a_reference() -> None:
    mend = THREAD["modules[2]/mend"]
    assert "Mend it, then check() it." in mend.guidance["prompt"]
    assert mend.guidance["functionDefinitions"] == [function("check", "Run the tests.")]
    assert "above" in mend.guidance["phaseReference"]


@pytest.mark.parametrize("name", list(FRESH))
def test_a_reader_that_lost_its_thread_gets_everything_again(name: str) -> None:
    again = told("thread", rehydrate=True)[name]
    assert not {"phaseReference", "functionReferences"} & set(again.guidance)
    fresh = FRESH[name].guidance["prompt"]
    for paragraph in again.guidance["prompt"].split("\n\n"):
        assert paragraph in fresh
    for each in again.guidance.get("functionDefinitions", []):
        assert each["definition"] in json.dumps(WORKFLOW.model_dump())
    if name.startswith("modules"):
        overview = THREAD["modules[1]/read"].guidance["loopPhaseGuidance"]
        item = CONTEXT["modules"][int(name[8]) - 1]["name"]
        titles = [{"id": "read", "title": f"Read {item}"}, {"id": "mend", "title": "Mend"}]
        assert again.guidance["loopPhaseGuidance"] == {**overview, "steps": titles}


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_fresh_conversation_gets_one_text_with_everything_in_every_iteration(number: int) -> None:
    told_fresh = FRESH[f"modules[{number}]/read"]
    assert list(told_fresh.guidance) == ["prompt"]
    name = CONTEXT["modules"][number - 1]["name"]
    prompt = told_fresh.guidance["prompt"]
    for part in (LONG.strip(), f"The module is {name}.", "You read closely.", "Name the risk",
                 "`rate()`: The loop's rating", "`note()`: Write one line", "Go through 3 modules",
                 f"Read {name} → Mend", f"Iteration {number} of 3"):  # fmt: skip
        assert part in prompt


def test_functions_come_from_the_nearest_scope_and_only_those_that_are_meant() -> None:
    prompt = FRESH["modules[1]/read"].guidance["prompt"]
    assert "`rate()`: The loop's rating" in prompt
    assert "The workflow's rating" not in prompt
    assert "Nobody refers to this" not in prompt
    assert "`note()`: Write one line" in FRESH["list"].guidance["prompt"]


def test_a_name_that_nobody_has_stays_and_is_told_of() -> None:
    cursor = begin(WORKFLOW, {**CONTEXT, "modules": [{"name": "io"}]})
    cursor = complete(WORKFLOW, cursor)
    coming = due(WORKFLOW, cursor)
    assert isinstance(coming, Instruction)
    found = disclose(WORKFLOW, coming, "fresh")
    assert "- Mind {{module.risk}}" in found.guidance["prompt"]
    (warning,) = found.warnings
    assert "'module.risk'" in warning
    assert "count" in warning


def test_a_step_outside_a_loop_is_the_same_to_every_reader() -> None:
    assert THREAD["list"].step == FRESH["list"].step
    assert THREAD["list"].guidance["prompt"] in FRESH["list"].guidance["prompt"]
    assert THREAD["list"].guidance["functionDefinitions"] == [
        function("note", "Write one line to notes.md.")
    ]
    assert THREAD["list"].context == {}


def test_the_same_words_again_are_not_repeated() -> None:
    loop: dict[str, Any] = {"type": "for", "count": 2, "maxIterations": 5}
    body = [{"id": "try", "title": "Try", "prompt": LONG}]
    document = {"id": "w", "name": "W", "description": "D", "version": "1.0.0", "steps": [
        {"id": "twice", "title": "Twice", "type": "loop", "loop": loop, "body": body}]}  # fmt: skip
    workflow = Workflow.model_validate(document)
    coming = due(workflow, complete(workflow, begin(workflow)))
    assert isinstance(coming, Instruction)
    later = disclose(workflow, coming, "thread")
    assert later.guidance["prompt"] == "The same step again.\n\nIteration 2."


def _twice(prompt: str, **patches: Any) -> str:
    """What the second iteration is told when variables changed as `patches` has them."""
    loop: dict[str, Any] = {"type": "for", "count": 2, "maxIterations": 5}
    body = [{"id": "try", "title": "Try", "prompt": prompt}]
    document = {"id": "w", "name": "W", "description": "D", "version": "1.0.0", "steps": [
        {"id": "twice", "title": "Twice", "type": "loop", "loop": loop, "body": body}]}  # fmt: skip
    workflow = Workflow.model_validate(document)
    context = {name: before for name, (before, _) in patches.items()}
    patch = {name: after for name, (_, after) in patches.items()}
    coming = due(workflow, complete(workflow, begin(workflow, context), patch))
    assert isinstance(coming, Instruction)
    return str(disclose(workflow, coming, "thread").guidance["prompt"])


@pytest.mark.parametrize(
    ("before", "after"), [("one", "two"), (True, 1), ([1], [True]), (None, "x"), ("x", None)]
)
def test_whatever_reads_differently_is_told(before: Any, after: Any) -> None:
    assert "- flag: " in _twice("It is {{flag}}.", flag=(before, after))
    assert "- my-flag: " in _twice("It is {{my-flag}}.", **{"my-flag": (before, after)})


def test_criteria_are_told_as_they_are_judged() -> None:
    criteria = [{"type": "contains", "value": "{{name}}", "message": "Say it"}]
    step = {"id": "s", "title": "S", "prompt": "P {{name}}", "validationCriteria": criteria}
    document = {"id": "w", "name": "W", "description": "D", "version": "1.0.0", "steps": [step]}
    workflow = Workflow.model_validate(document)
    coming = due(workflow, begin(workflow, {"name": "Ann"}))
    assert isinstance(coming, Instruction)
    prompt = disclose(workflow, coming, "fresh").guidance["prompt"]
    assert "P Ann" in prompt
    assert "contains '{{name}}'" in prompt
