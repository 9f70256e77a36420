"""A dry run line by line, and where somebody stands who only says what is done."""

from itertools import islice
from typing import Any

import pytest

from foundry.errors import WorkflowError
from foundry.schema.workflow import Workflow
from foundry.workflow.cursor import Finished, Instruction, due
from foundry.workflow.replay import replay, trace
from tests.support.workflows import document, loop, step

COUNTED = {"type": "while", "condition": {"var": "count", "lt": 3}}

WORKFLOW = Workflow.model_validate(document(
    step("first"),
    step("maybe", runCondition={"var": "wanted"}),
    loop("again", [step("try"), step("look", runCondition={"var": "careful"})], **COUNTED),
    loop("each", [step("handle")], type="forEach", items="items"),
    step("last"),
))  # fmt: skip


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
        (["first", "nope"], "there is no step 'nope' in 'mine'. Its steps are first, maybe, try"),
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


# -- the trace --


def workflow(*steps: Any, **fields: Any) -> Workflow:
    return Workflow.model_validate(document(*steps, **fields)).resolved()


IF_X = {"runCondition": {"var": "x"}}


def test_a_line_holds_the_step_and_its_place_and_nothing_else() -> None:
    lines = list(trace(workflow(step("a"), loop("l", [step("b")], type="for", count=2)), {}))
    assert lines == [
        {"step": "a", "loopPath": []},
        {"step": "b", "loopPath": [{"loopId": "l", "iteration": 0}]},
        {"step": "b", "loopPath": [{"loopId": "l", "iteration": 1}]},
        {"complete": True},
    ]


def steps(traced: list[dict[str, Any]]) -> list[str]:
    return [line["step"] for line in traced if "step" in line]


def test_a_patch_is_there_before_its_line_is_worked_out() -> None:
    flow = workflow(step("a", **IF_X), step("b"), step("c", **IF_X))
    assert steps(list(trace(flow, {}, [{"x": 1}]))) == ["a", "b", "c"]
    assert steps(list(trace(flow, {}, [{}, {"x": 1}]))) == ["b", "c"]
    assert steps(list(trace(flow, {}, [{}, {}, {"x": 1}]))) == ["b"]


def test_patches_go_over_the_context_and_that_over_the_document() -> None:
    flow = workflow(*(step(name, runCondition={"var": "x", "equals": name}) for name in "abc"),
                        context={"x": "a"})  # fmt: skip
    assert steps(list(trace(flow, {}))) == ["a"]
    assert steps(list(trace(flow, {"x": "b"}))) == ["b"]
    assert steps(list(trace(flow, {"x": "b"}, [{"x": "c"}]))) == ["c"]


def test_the_patch_after_the_last_step_decides_whether_a_loop_ends() -> None:
    flow = workflow(loop("l", [step("a")], type="until", condition={"var": "x"}, maxIterations=5))
    assert list(trace(flow, {}, [{}, {}, {"x": 1}]))[2:] == [{"complete": True}]


def test_a_loop_without_its_list_is_an_error_that_says_how_to_go_on() -> None:
    flow = workflow(step("a"), loop("l", [step("b")], type="forEach", items="files"))
    *before, end = trace(flow, {"seen": 1})
    assert steps(before) == ["a"]
    error = end["error"]
    assert set(error) == {"code", "message", "step", "hint"}
    assert (error["code"], error["step"]) == ("missing-items", "l")
    assert "'files'" in error["message"]
    assert "seen" in error["hint"]
    assert "onMissing" in error["hint"]


def test_warnings_stand_at_the_end_however_it_ends() -> None:
    runaway = loop("l", [step("a")], type="while", condition={}, maxIterations=2)
    broken = loop("m", [step("b")], type="forEach", items="files")
    for flow, end in ((workflow(runaway), "complete"), (workflow(runaway, broken), "error")):
        *_, last = trace(flow, {})
        assert end in last
        assert len(last["warnings"]) == 1
        assert "maximum iterations (2)" in last["warnings"][0]


def test_it_is_worked_out_line_by_line() -> None:
    asked: list[int] = []

    def patches() -> Any:
        for number in range(10_000):
            asked.append(number)
            yield {}

    flow = workflow(loop("l", [step("a")], type="for", count=1000))
    assert len(list(islice(trace(flow, {}, patches()), 3))) == 3
    assert asked == [0, 1, 2]
