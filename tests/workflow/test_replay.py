"""Where somebody stands who only says what is done."""

from typing import Any

import pytest

from foundry.errors import WorkflowError
from foundry.schema.workflow import Workflow
from foundry.workflow.cursor import Finished, Instruction, due
from foundry.workflow.replay import replay


def step(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "title": name.upper(), "prompt": "Do it", **more}


def loop(name: str, body: list[dict[str, Any]], **config: Any) -> dict[str, Any]:
    return {
        "id": name, "title": name.upper(), "type": "loop", "body": body,
        "loop": {"maxIterations": 5, **config},
    }  # fmt: skip


COUNTED = {"type": "while", "condition": {"var": "count", "lt": 3}}

WORKFLOW = Workflow.model_validate({
    "id": "sample", "name": "Sample", "description": "A sample", "version": "1.0.0",
    "steps": [
        step("first"),
        step("maybe", runCondition={"var": "wanted"}),
        loop("again", [step("try"), step("look", runCondition={"var": "careful"})], **COUNTED),
        loop("each", [step("handle")], type="forEach", items="items"),
        step("last"),
    ],
})  # fmt: skip


def coming(completed: list[str], **context: Any) -> tuple[str, int] | None:
    found = due(WORKFLOW, replay(WORKFLOW, completed, context))
    if isinstance(found, Finished):
        return None
    assert isinstance(found, Instruction)
    return found.step.id, found.number


def test_the_past_is_taken_as_it_is_told_and_only_the_next_step_is_judged() -> None:
    assert coming([], count=0) == ("first", 0)
    assert coming(["first"], count=0, wanted=True) == ("maybe", 0)
    assert coming(["first"], count=0) == ("try", 1)
    assert coming(["first", "try"], count=1) == ("try", 2)
    assert coming(["first", "try"], count=1, careful=True) == ("look", 1)
    assert coming(["first", "try", "look", "try"], count=2, careful=True) == ("look", 2)
    # the condition is false by now, and still the loop has been walked
    assert coming(["first", "try", "try", "try"], count=3, items=["a", "b"]) == ("handle", 1)
    assert coming(["first", "try", "handle"], count=3, items=["a", "b"]) == ("handle", 2)
    assert coming(["first", "handle", "handle"], count=3, items=["a", "b"]) == ("last", 0)
    assert coming(["last"], count=3) is None


def test_an_iteration_may_be_named() -> None:
    assert coming(["again[4]/try"], count=0) == ("try", 5)
    assert coming(["again[5]/try"], count=0, items=[]) == ("last", 0)


@pytest.mark.parametrize(
    ("completed", "said"),
    [
        (["first", "nope"], "there is no step 'nope' in 'sample'. Its steps are first, maybe, try"),
        (["maybe", "first"], r"completedSteps\[1\]: 'first' can't follow 'maybe'. Name"),
        (["first", "first"], r"completedSteps\[1\]: 'first' can't follow 'first'"),
        (["try", "last", "try"], r"completedSteps\[2\]: 'try' can't follow 'last'"),
        (["handle"], "each: 'items', which it repeats over, is missing"),
        (["again"], "there is no step 'again'"),
    ],
)
def test_what_cannot_have_happened_is_refused(completed: list[str], said: str) -> None:
    with pytest.raises(WorkflowError, match=said):
        replay(WORKFLOW, completed, {"count": 0})
