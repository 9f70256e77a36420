"""Functions: the nearest definition wins, and a step's are those that it names in any way."""

from typing import Any

import pytest

from foundry.schema.workflow import LoopStep, Step, Workflow
from foundry.workflow.functions import called, in_scope, referenced, referred
from foundry.workflow.load import parse


def function(name: str, definition: str) -> dict[str, str]:
    return {"name": name, "definition": definition}


def workflow(**step: Any) -> tuple[Workflow, LoopStep, Step]:
    found = parse(
        {
            "id": "w",
            "name": "w",
            "description": "w",
            "version": "1.0.0",
            "functionDefinitions": [
                function("deep", "workflow"),
                function("mid", "workflow"),
                function("far", "workflow: then deep() and log.mid()"),
            ],
            "steps": [
                {
                    "id": "l",
                    "type": "loop",
                    "title": "l",
                    "loop": {"type": "for", "count": 1, "maxIterations": 1},
                    "functionDefinitions": [function("deep", "loop"), function("mid", "loop")],
                    "body": [
                        {
                            "id": "s",
                            "title": "s",
                            "prompt": "do it",
                            "functionDefinitions": [function("deep", "step: again deep()")],
                            **step,
                        }
                    ],
                }
            ],
        },
        "test",
    )
    loop = found.steps[0]
    assert isinstance(loop, LoopStep)
    return found, loop, loop.steps[0]


def test_the_nearest_definition_wins() -> None:
    whole, loop, step = workflow()
    here = {name: each.definition for name, each in in_scope(whole, loop, step).items()}
    assert here["deep"].startswith("step")
    assert here["mid"] == "loop"
    assert here["far"].startswith("workflow")
    outside = {name: each.definition for name, each in in_scope(whole, None, step).items()}
    assert outside["mid"] == "workflow"


@pytest.mark.parametrize(
    ("step", "names"),
    [
        ({}, []),
        ({"functionReferences": ["mid()"]}, ["mid"]),
        ({"functionReferences": ["mid", "mid()"]}, ["mid"]),
        ({"functionCalls": [{"name": "deep", "args": {}}]}, ["deep"]),
        ({"prompt": "use mid(x), not deep"}, ["mid"]),
        ({"prompt": "amid() and x.mid() and mid ()"}, []),
        ({"guidance": ["first deep()", "then mid()"]}, ["deep", "mid"]),
        ({"prompt": "far()"}, ["far", "deep"]),
    ],
)
def test_a_step_refers_in_every_way_there_is(step: dict[str, Any], names: list[str]) -> None:
    assert [each.name for each in referenced(*workflow(**step))] == names


def test_functions_that_name_each_other_come_once() -> None:
    whole, loop, step = workflow(prompt="deep()")
    assert [each.name for each in referenced(whole, loop, step)] == ["deep"]


def test_a_reference_is_a_name_with_or_without_parentheses() -> None:
    assert referred(" foo() ") == referred("foo") == "foo"
    assert list(called("a(b(c)), d, e.f()")) == ["a", "b"]
