"""`workflow_next` in this process: what is told, when, and what a repeated or wrong call gets."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from foundry.errors import FoundryError
from foundry.mcp.messages import described
from foundry.mcp.next_step import LIMIT
from foundry.mcp.server import make_server
from foundry.mcp.sessions import Sessions
from foundry.mcp.tools import make_tools
from foundry.mcp.workflows import Catalog
from tests.support.mcp_clients import CONTEXT, PATCHES, STEPS, TOUR, Call, connected, ids, put, walk


def caller() -> Call:
    """The tools as a new process has them."""
    folder = Path(os.environ["FOUNDRY_HOME"]) / "mcp" / "sessions"
    tools = make_tools(Catalog(), Sessions(folder))

    def call(name: str, /, **arguments: Any) -> dict[str, Any]:
        try:
            return tools[name].call(arguments)
        except FoundryError as error:
            return {"error": described(error)}

    return call


@pytest.fixture
def call() -> Call:
    put(TOUR)
    return caller()


def begun(call: Call, **context: Any) -> dict[str, Any]:
    return call("workflow_next", workflowId="tour", context={**CONTEXT, **context})


def refused(reply: dict[str, Any], code: str) -> dict[str, Any]:
    error: dict[str, Any] = reply["error"]
    assert error["code"] == code, error
    assert error["message"]
    assert error["hint"]
    return error


def test_a_walk_goes_through_all_loops(call: Call) -> None:
    replies = walk(call, begun(call))
    assert ids(replies) == STEPS
    assert [reply["isComplete"] for reply in replies] == [False] * len(STEPS) + [True]
    last = replies[-1]
    assert last["step"] is None
    assert last["context"] == {}
    assert any("maximum iterations (2)" in each for each in last["warnings"])


def test_every_reply_has_the_fields_of_the_format(call: Call) -> None:
    for reply in walk(call, begun(call)):
        assert set(reply) == {"step", "guidance", "isComplete", "context", "token", "warnings"}
        assert reply["guidance"]["prompt"]


def test_the_first_reply_brings_the_rules_of_the_whole(call: Call) -> None:
    first, second, *_ = walk(call, begun(call), until=1)
    assert first["guidance"]["preconditions"] == ["a table"]
    assert first["guidance"]["clarificationPrompts"] == ["How large a table?"]
    assert first["guidance"]["metaGuidance"] == ["Work slowly."]
    assert not {"preconditions", "metaGuidance"} & set(second["guidance"])


def test_the_rules_are_filled_in_and_warned_of_like_a_prompt(call: Call) -> None:
    rules = {"metaGuidance": ["Be {{mood}}.", "As {{ written here }}."],
             "preconditions": ["{{nobody}}"], "clarificationPrompts": []}  # fmt: skip
    put({**TOUR, "id": "moody", **rules})
    context = {**CONTEXT, "mood": "calm"}
    first = call("workflow_next", workflowId="moody", context=context)
    stateless = call("workflow_next", workflowId="moody", context=context, completedSteps=[])
    for reply in (first, stateless):
        assert reply["guidance"]["metaGuidance"] == ["Be calm.", "As {{ written here }}."]
        assert reply["guidance"]["preconditions"] == ["{{nobody}}"]
        assert "clarificationPrompts" not in reply["guidance"]
        (warning,) = reply["warnings"]
        assert warning.startswith("preconditions: nothing is named 'nobody'")
    changed = call("workflow_next", token=first["token"], context={"mood": "glad"})
    again = call("workflow_next", token=changed["token"], rehydrate=True)
    assert again["guidance"]["metaGuidance"][0] == "Be glad."


def test_confirmation_and_criteria_are_in_the_step(call: Call) -> None:
    step = begun(call)["step"]
    assert step["requiresConfirmation"] is True
    assert step["validationCriteria"] == TOUR["steps"][0]["validationCriteria"]
    _, second = walk(call, begun(call), until=1)
    assert "requiresConfirmation" not in second["step"]


def test_confirmation_is_asked_for_in_every_iteration(call: Call) -> None:
    body = [{"id": "press", "title": "Press", "prompt": "Press.", "requireConfirmation": True}]
    loop = {"type": "for", "count": 3, "maxIterations": 3}
    step = {"id": "thrice", "type": "loop", "title": "Thrice", "loop": loop, "body": body}
    put({**TOUR, "id": "presses", "functionDefinitions": [], "steps": [step]})
    replies = walk(call, call("workflow_next", workflowId="presses"))
    assert [reply["step"]["requiresConfirmation"] for reply in replies[:-1]] == [True] * 3


def test_later_iterations_refer_to_the_first(call: Call) -> None:
    replies = walk(call, begun(call), until=3)
    first, second = replies[1], replies[2]
    assert first["guidance"]["functionDefinitions"] == [TOUR["functionDefinitions"][0]]
    assert first["guidance"]["loopPhaseGuidance"]["loopId"] == "each-thing"
    assert "Clean the cup" in first["guidance"]["prompt"]
    assert set(second["guidance"]) == {"prompt", "phaseReference", "functionReferences"}
    assert second["guidance"]["functionReferences"] == ["polish()"]
    assert len(json.dumps(second)) < len(json.dumps(first)) / 2
    assert second["context"]["thing"] == "plate"
    assert second["context"]["_currentLoop"] == {
        "loopId": "each-thing",
        "loopType": "forEach",
        "iteration": 2,
        "isFirstIteration": False,
    }
    assert "least" not in second["context"]


def test_the_same_call_gets_the_same_reply_byte_for_byte(call: Call) -> None:
    replies = walk(call, begun(call))
    again = [begun(call)]
    tokens = [reply["token"] for reply in replies]
    assert len(set(tokens)) == len(tokens)
    for done, reply in enumerate(replies[1:]):
        context = PATCHES.get(done, {})
        for other in (call, caller()):  # as does a process that has just begun
            told = other("workflow_next", token=tokens[done], context=context)
            assert json.dumps(told) == json.dumps(reply)
    assert again[0]["token"] not in tokens  # every beginning is a walk of its own


def test_no_context_is_an_empty_one(call: Call) -> None:
    first = begun(call)
    told = call("workflow_next", token=first["token"])
    assert call("workflow_next", token=first["token"], context={}) == told
    assert call("workflow_next", token=first["token"], context=None) == told


def test_a_used_token_with_another_context_is_refused_and_says_how_to_go_on(call: Call) -> None:
    replies = walk(call, begun(call), until=3)
    error = refused(
        call("workflow_next", token=replies[1]["token"], context={"broken": True}), "token-used"
    )
    assert error["token"] == replies[-1]["token"]
    assert error["step"] == "each-thing[2]/mend"
    assert ids(walk(call, replies[-1], done=3)) == STEPS[3:]


def test_rehydrate_tells_the_step_in_full_and_goes_nowhere(call: Call) -> None:
    replies = walk(call, begun(call), until=3)
    for reply, thing in zip(replies[1:3], ("cup", "plate"), strict=True):
        told = call("workflow_next", token=reply["token"], rehydrate=True)
        assert told["token"] == reply["token"]
        assert f"Clean the {thing}" in told["guidance"]["prompt"]
        assert told["guidance"]["functionDefinitions"] == [TOUR["functionDefinitions"][0]]
        assert told["guidance"]["metaGuidance"] == ["Work slowly."]
        assert told["context"] == reply["context"]
    assert ids(walk(call, replies[-1], done=3)) == STEPS[3:]


def test_what_is_sent_back_of_ours_sets_nothing(call: Call) -> None:
    plain, echoing = walk(call, begun(call)), [begun(call)]
    for done in range(len(STEPS)):
        patch = PATCHES.get(done, {})
        sent = {**echoing[-1]["context"], **patch}
        echoing.append(call("workflow_next", token=echoing[-1]["token"], context=sent))
    told = [{**reply, "token": ""} for reply in plain]
    assert [{**reply, "token": ""} for reply in echoing] == told
    files = (Path(os.environ["FOUNDRY_HOME"]) / "mcp" / "sessions").glob("*.jsonl")
    one, two = (path.read_text().splitlines()[1:] for path in files)
    assert one == two  # what stands on the disk is the same, too


def test_an_unknown_list_blocks_until_it_is_there(call: Call) -> None:
    first = call("workflow_next", workflowId="tour", context={})
    blocked = call("workflow_next", token=first["token"])
    error = refused(blocked, "missing-items")
    assert error["step"] == "each-thing"
    assert blocked["step"] is None
    assert blocked["isComplete"] is False
    assert call("workflow_next", token=blocked["token"]) == blocked
    still = call("workflow_next", token=blocked["token"], context={"things": "cup"})
    refused(still, "missing-items")
    free = call("workflow_next", token=still["token"], context={"things": ["cup"]})
    assert free["step"]["title"] == "Clean cup"
    assert call("workflow_next", token=blocked["token"]) == blocked
    assert (
        caller()("workflow_next", token=free["token"], rehydrate=True)["context"]["thing"] == "cup"
    )


def test_after_the_end_nothing_can_be_added(call: Call) -> None:
    last = walk(call, begun(call))[-1]
    assert call("workflow_next", token=last["token"]) == last
    refused(call("workflow_next", token=last["token"], context={"more": 1}), "complete")


def test_a_session_keeps_the_document_that_it_began_with(call: Call) -> None:
    first = begun(call)
    steps = [{"id": "other", "title": "Other", "prompt": "Something else."}]
    put({**TOUR, "steps": steps})
    assert begun(call)["step"]["id"] == "other"
    assert ids(walk(call, first)) == STEPS
    assert ids(walk(caller(), first)) == STEPS


def test_a_warning_is_told_once_and_again_at_the_end(call: Call) -> None:
    replies = walk(call, begun(call))
    told = [n for n, reply in enumerate(replies) if any("maximum" in w for w in reply["warnings"])]
    assert told == [STEPS.index("push"), len(STEPS)]
    full = call("workflow_next", token=replies[-2]["token"], rehydrate=True)
    assert any("maximum" in each for each in full["warnings"])


def test_a_variable_that_there_is_not_is_warned_of(call: Call) -> None:
    first = call("workflow_next", workflowId="tour", context={"things": []})
    (warning,) = first["warnings"]
    assert "'least'" in warning
    assert "{{least}}" in first["guidance"]["prompt"]


# -- without a token -----------------------------------------------------------------------------


def test_the_stateless_form_walks_the_same_way(call: Call) -> None:
    completed: list[str] = []
    context: dict[str, Any] = dict(CONTEXT)
    seen = []
    for done in range(len(STEPS) + 1):
        reply = call("workflow_next", workflowId="tour", completedSteps=completed, context=context)
        assert set(reply) == {"step", "guidance", "isComplete", "context", "warnings"}
        assert reply["isComplete"] or reply["context"].items() >= {"least": 2, "knocks": 2}.items()
        if reply["isComplete"]:
            break
        seen.append(reply["step"]["id"])
        completed.append(reply["step"]["id"])
        patch = PATCHES.get(done, {})
        context = {**reply["context"], **patch}  # as clients of the format do: all of it goes back
    assert seen == STEPS


def test_the_stateless_form_refers_to_what_was_told_too(call: Call) -> None:
    def told(*completed: str, **more: Any) -> dict[str, Any]:
        return call("workflow_next", workflowId="tour", completedSteps=completed, context=CONTEXT,
                    **more)["guidance"]  # fmt: skip

    assert "Take your time" in told("begin")["prompt"]
    assert "Take your time" not in told("begin", "clean")["prompt"]
    assert "phaseReference" in told("begin", "clean")
    assert "Take your time" in told("begin", "clean", rehydrate=True)["prompt"]


def test_the_stateless_form_brings_the_rules_at_first_and_when_asked(call: Call) -> None:
    def told(*completed: str, **more: Any) -> dict[str, Any]:
        return call("workflow_next", workflowId="tour", completedSteps=completed, context=CONTEXT,
                    **more)["guidance"]  # fmt: skip

    rules = {"preconditions": ["a table"], "clarificationPrompts": ["How large a table?"],
             "metaGuidance": ["Work slowly."]}  # fmt: skip
    for guidance in (told(), told("begin", rehydrate=True)):
        assert rules.items() <= guidance.items()
    assert not rules.keys() & told("begin").keys()


def test_a_loop_s_variables_do_not_outlive_it_in_an_echoed_context(call: Call) -> None:
    """As with a token, where they never get among the variables."""
    own = {"thing", "place", "currentIteration", "_currentLoop"}
    context: dict[str, Any] = {**CONTEXT, "currentItem": "mine", "place": "mine too"}
    completed: list[str] = []
    seen = []
    while True:
        reply = call("workflow_next", workflowId="tour", completedSteps=completed, context=context)
        if reply["isComplete"]:
            break
        seen.append((reply["step"]["id"], sorted(own & reply["context"].keys())))
        completed.append(reply["step"]["id"])
        context = {**reply["context"], **PATCHES.get(len(completed) - 1, {})}
    each, others = sorted(own), ["_currentLoop", "currentIteration"]
    assert seen == [
        ("begin", ["place"]),
        *((step, each) for step in STEPS[1:6]),
        *((step, others) for step in STEPS[6:11]),
        ("end", []),
    ]
    assert reply["context"] == {**CONTEXT, "currentItem": "mine", "broken": True, "open": True}


def test_a_loop_variable_that_the_workflow_begins_with_stays(call: Call) -> None:
    put({**TOUR, "id": "placed", "context": {"place": "here"}})
    completed = [*STEPS[:3], "clean"]
    context = {**CONTEXT, "place": 2, "thing": "spoon"}
    reply = call("workflow_next", workflowId="placed", completedSteps=completed, context=context)
    assert reply["step"]["id"] == "once"
    assert reply["context"]["place"] == 2
    assert "thing" not in reply["context"]


@pytest.mark.parametrize("completed", [["begin"], ["begin", "clean"]])
def test_the_stateless_form_says_that_a_list_is_missing(call: Call, completed: list[str]) -> None:
    told = call("workflow_next", workflowId="tour", completedSteps=completed, context={"least": 1})
    error = refused(told, "missing-items")
    assert "'things'" in error["message"]
    assert "token" not in error["hint"]
    context = {"least": 1, "things": ["cup", "plate"]}
    told = call("workflow_next", workflowId="tour", completedSteps=completed, context=context)
    assert told["step"]["id"] == "clean"


def test_the_stateless_form_refuses_what_can_not_have_been(call: Call) -> None:
    reply = call("workflow_next", workflowId="tour", completedSteps=["end", "begin"])
    assert "begin" in reply["error"]["message"]
    assert reply["error"]["hint"]
    reply = call("workflow_next", workflowId="tour", completedSteps=["nonsense"])
    assert "nonsense" in reply["error"]["message"]


# -- wrong calls ---------------------------------------------------------------------------------


def test_calls_that_make_no_sense_are_refused(call: Call) -> None:
    first = begun(call)["token"]
    for arguments in (
        {},
        {"workflowId": 7},
        {"workflowId": "tour", "surprise": 1},
        {"workflowId": "tour", "rehydrate": True},
        {"workflowId": "tour", "context": []},
        {"token": first, "workflowId": "build"},
        {"token": first, "completedSteps": ["begin"]},
        {"token": first, "rehydrate": True, "context": {"a": 1}},
        {"workflowId": "tour", "context": {"a": float("nan")}},
        {"workflowId": "tour", "context": {"a": "\ud800"}},
    ):
        refused(call("workflow_next", **arguments), "invalid-arguments")
    assert call("workflow_next", token=first, workflowId="tour")["step"]["id"] == "clean"


def test_an_unknown_workflow_names_the_known_ones(call: Call) -> None:
    for tool, key in (("workflow_next", "workflowId"), ("workflow_get", "id")):
        error = refused(call(tool, **{key: "tuor"}), "unknown-workflow")
        assert "tour" in error["hint"]


def test_a_path_is_no_workflow(call: Call) -> None:
    path = put(TOUR)
    refused(call("workflow_next", workflowId=str(path)), "unknown-workflow")


def test_a_disk_that_can_not_be_used_is_said(tmp_path: Path) -> None:
    put(TOUR)
    server = make_server()
    (Path(os.environ["FOUNDRY_HOME"]) / "mcp").write_text("in the way")
    with connected(lambda: server, "legacy") as call:
        error = call("workflow_next", workflowId="tour")["error"]
        assert "mcp" in error["message"]
        assert error["hint"]


def test_an_unknown_session_is_refused(call: Call) -> None:
    first = begun(call)
    (file,) = (Path(os.environ["FOUNDRY_HOME"]) / "mcp" / "sessions").glob("*.jsonl")
    file.unlink()
    refused(call("workflow_next", token=first["token"]), "token-unknown")
    refused(caller()("workflow_next", token=first["token"]), "token-unknown")


def test_too_large_a_context_is_refused_and_a_large_one_warned_of(call: Call) -> None:
    refused(begun(call, big="x" * LIMIT), "context-too-large")
    first = begun(call, big="x" * (LIMIT * 85 // 100))
    assert any("bytes of at most" in each for each in first["warnings"])
    more = {"more": "x" * (LIMIT // 4)}
    refused(call("workflow_next", token=first["token"], context=more), "context-too-large")
    second = call("workflow_next", token=first["token"], context={"big": ""})
    assert second["step"]["id"] == "clean"  # the refused call completed nothing
    assert second["warnings"] == []


# -- the other tools of workflows ----------------------------------------------------------------


def test_the_list_has_shipped_and_own_workflows(call: Call) -> None:
    listed = {each["id"]: each for each in call("workflow_list")["workflows"]}
    assert {"build", "tour"} <= set(listed)
    assert listed["tour"] == {
        "id": "tour",
        "name": "Tour",
        "description": TOUR["description"],
        "category": "default",
        "version": "1.0.0",
    }
    put({**TOUR, "id": "second", "name": "Second"})
    assert "second" in {each["id"] for each in call("workflow_list")["workflows"]}


def test_a_workflow_is_described(call: Call) -> None:
    told = call("workflow_get", id="tour", mode="metadata")
    assert told == {
        "id": "tour",
        "name": "Tour",
        "description": TOUR["description"],
        "version": "1.0.0",
        "preconditions": ["a table"],
        "clarificationPrompts": ["How large a table?"],
        "metaGuidance": ["Work slowly."],
        "functionDefinitions": TOUR["functionDefinitions"],
        "totalSteps": 6,
    }
    preview = call("workflow_get", id="tour")
    assert preview.items() >= told.items()
    assert preview["firstStep"]["id"] == "begin"
    assert "List the things" in preview["firstStep"]["prompt"]


def test_a_preview_says_where_the_words_of_a_step_without_a_prompt_are(call: Call) -> None:
    told = call("workflow_get", id="build")["firstStep"]["prompt"]
    assert told
    assert told in call("workflow_next", workflowId="build")["guidance"]["prompt"]


def test_output_is_judged_by_the_criteria_of_its_step(call: Call) -> None:
    def judge(output: str, **more: Any) -> dict[str, Any]:
        return call("workflow_validate", workflowId="tour", stepId="begin", output=output, **more)

    assert judge("a thing") == {"valid": True, "issues": [], "suggestions": []}
    bad = judge("no such")
    assert bad["valid"] is False
    assert "names a thing" in " ".join(bad["issues"])
    assert judge("a thing", context={"strict": True})["valid"] is False
    assert judge("one more thing", context={"strict": True})["valid"] is True


def test_output_of_steps_inside_loops_is_judged_too(call: Call) -> None:
    for step in ("clean", "each-thing[2]/clean"):
        told = call("workflow_validate", workflowId="tour", stepId=step, output="It is clean.")
        assert told["valid"] is True
        told = call("workflow_validate", workflowId="tour", stepId=step, output=" ")
        assert told["valid"] is False
    error = refused(
        call("workflow_validate", workflowId="tour", stepId="cleen", output="x"), "unknown-step"
    )
    assert "clean" in error["hint"]
    refused(call("workflow_validate", workflowId="tour", stepId="clean", output="x" * 10_001),
            "invalid-arguments")  # fmt: skip


def test_a_document_is_judged_as_text_and_as_an_object(call: Call) -> None:
    good = {"valid": True, "issues": [], "suggestions": []}
    assert call("workflow_validate_json", workflowJson=TOUR)["valid"] is True
    assert call("workflow_validate_json", workflowJson=json.dumps(TOUR))["valid"] is True
    plain = {**TOUR, "steps": TOUR["steps"][-1:], "functionDefinitions": []}
    assert call("workflow_validate_json", workflowJson=plain) == good
    twice = {**TOUR, "steps": [TOUR["steps"][-1]] * 2}
    told = call("workflow_validate_json", workflowJson=twice)
    assert told["valid"] is False
    assert any("end" in each for each in told["issues"])
    told = call("workflow_validate_json", workflowJson="{not json")
    assert told["valid"] is False
    assert told["issues"]


def test_the_schema_is_one_of_workflow_documents(call: Call) -> None:
    import jsonschema

    schema = call("workflow_get_schema")["schema"]
    validator = jsonschema.Draft202012Validator(schema)
    assert not list(validator.iter_errors(TOUR))
    assert list(validator.iter_errors({**TOUR, "steps": []}))
