"""The telling cases of the public format, as documents through `foundry workflow`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from foundry.cli.main import run
from tests.support.workflows import loop, saved, step

Capture = pytest.CaptureFixture[str]
Object = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """A document, what is fed to it, and which steps run: `body@iteration` in a loop."""

    steps: Sequence[Object]
    runs: str
    context: Object = field(default_factory=dict)
    patches: Sequence[Object] = ()
    warning: str = ""
    error: str = ""


def when(name: str, condition: Object) -> dict[str, Any]:
    return step(name, runCondition=condition)


def equal(var: str, value: Any) -> dict[str, Any]:
    return {"var": var, "equals": value}


def item(name: str, index: int) -> dict[str, Any]:
    both = [equal("currentItem", name), equal("currentIndex", index)]
    return when(name, {"and": both})


ROUNDS = [when(f"r{n}", equal("currentIteration", n)) for n in (1, 2, 3, 4)]
BELOW_3 = {"var": "counter", "lt": 3}
EACH: dict[str, Any] = {"type": "forEach", "items": "fruits"}
THREE = ["apple", "banana", "cherry"]
FRUITS = [item(name, index) for index, name in enumerate(THREE)]
ALWAYS = equal("missing", None)
AFTER = step("after")

CASES = {
    "01 while": Case(
        [loop("l", [step("b")], type="while", condition=BELOW_3)], "b@0 b@1 b@2",
        patches=[{"counter": n} for n in range(4)]),
    "02 until": Case(
        [loop("l", [step("b")], type="until", condition={"var": "done"}), AFTER], "b@0 b@1 after",
        patches=[{}, {}, {"done": True}]),
    "03 for": Case(
        [loop("l", ROUNDS, type="for", count=3), AFTER], "r1@0 r2@1 r3@2 after"),
    "04 for a variable": Case(
        [loop("l", ROUNDS, type="for", count="repeatCount")], "r1@0 r2@1",
        context={"repeatCount": 2}),
    "05 forEach": Case(
        [loop("l", FRUITS, **EACH), AFTER], "apple@0 banana@1 cherry@2 after",
        context={"fruits": THREE}),
    "06 forEach over nothing": Case(
        [loop("l", FRUITS, **EACH), AFTER], "after", context={"fruits": []}),
    "07 forEach over a text": Case(
        [step("a"), loop("l", FRUITS, **EACH), AFTER], "a", context={"fruits": "apple"},
        error="missing-items"),
    "07 forEach over a text, skipped": Case(
        [loop("l", FRUITS, **EACH, onMissing="skip"), AFTER], "after",
        context={"fruits": "apple"}, warning="'fruits'"),
    "08 forEach over what is missing": Case(
        [step("a"), loop("l", FRUITS, **EACH), AFTER], "a", error="missing-items"),
    "08 forEach over what is missing, skipped": Case(
        [loop("l", FRUITS, **EACH, onMissing="skip"), AFTER], "after", warning="missing"),
    "09 while false at entry": Case(
        [loop("l", [step("b")], type="while", condition=BELOW_3), AFTER], "after",
        context={"counter": 3}),
    "10 while for ever": Case(
        [loop("l", [step("b")], type="while", condition=ALWAYS, maxIterations=2), AFTER],
        "b@0 b@1 after", warning="maximum iterations (2)"),
    "11 count above the maximum": Case(
        [loop("l", [step("b")], type="for", count=10, maxIterations=5)],
        "b@0 b@1 b@2 b@3 b@4", warning="maximum iterations (5)"),
    "12 two body steps": Case(
        [loop("l", [step("a"), step("b")], type="for", count=2), step("final")],
        "a@0 b@0 a@1 b@1 final"),
    "13 the item stays within a pass": Case(
        [loop("l", [item("apple", 0), when("again", equal("currentItem", "apple")),
                    item("banana", 1)], **EACH), AFTER],
        "apple@0 again@0 banana@1 after", context={"fruits": THREE[:2]},
        patches=[{}, {"fruits": ["other"], "currentItem": "other"}]),
    "14 a body condition that flips": Case(
        [loop("l", [step("a"), when("b", {"var": "flag"})], type="for", count=2), AFTER],
        "a@0 b@0 a@1 after", context={"flag": True}, patches=[{}, {}, {}, {"flag": False}]),
    "15 count equal to the maximum": Case(
        [loop("l", ROUNDS, type="for", count=4, maxIterations=4), AFTER],
        "r1@0 r2@1 r3@2 r4@3 after"),
    "16 the loop's condition is false": Case(
        [{**loop("l", [step("b")], type="for", count=2), "runCondition": {"var": "no"}}, AFTER],
        "after"),
    "17 three loops in a row": Case(
        [loop("l", [step("a")], type="for", count=2), loop("m", FRUITS, **EACH),
         loop("n", [step("b")], type="while", condition=BELOW_3)],
        "a@0 a@1 apple@0 banana@1 b@0 b@1", context={"fruits": THREE[:2]},
        patches=[*[{}] * 4, {"counter": 1}, {"counter": 2}, {"counter": 3}]),
    "18 a name of one's own for the iteration": Case(
        [loop("l", [when("own", equal("turn", 2)), when("usual", {"var": "currentIteration"})],
              type="for", count=3, iterationVar="turn")], "own@1"),
    "23 skipped steps use up iterations": Case(
        [loop("l", [ROUNDS[1]], type="for", count=3), AFTER], "r2@1 after"),
    "23 skipped steps end at the maximum too": Case(
        [loop("l", [ROUNDS[1]], type="while", condition=ALWAYS, maxIterations=3)], "r2@1",
        warning="maximum iterations (3)"),
    "25 nothing is equal to, or greater than, what is missing": Case(
        [when("equal", equal("missing", 0)), when("greater", {"var": "missing", "gt": -1}),
         when("unequal", {"var": "missing", "not_equals": 0})], "unequal"),
    "25 a count that is no number": Case(
        [loop("l", [step("b")], type="for", count="n"), AFTER], "after", context={"n": "two"},
        warning="no number"),
}  # fmt: skip


def short(line: Object) -> str:
    place = line["loopPath"]
    return line["step"] + "".join(f"@{each['iteration']}" for each in place)


@pytest.mark.parametrize("name", CASES)
def test_a_case_runs_these_steps(name: str, tmp_path: Path, capsys: Capture) -> None:
    case = CASES[name]
    file, patches = saved(tmp_path, *case.steps), tmp_path / "patches.jsonl"
    patches.write_text("".join(json.dumps(each) + "\n" for each in case.patches))
    context = json.dumps(case.context)
    code = run(["workflow", "trace", str(file), "--context", context, "--patches", str(patches)])
    out, err = capsys.readouterr()
    *lines, end = map(json.loads, out.splitlines())
    assert " ".join(map(short, lines)) == case.runs
    if case.error:
        assert (code, end["error"]["code"], end["error"]["step"]) == (1, case.error, "l")
        assert end["error"]["message"] in err
        return
    warnings = end.pop("warnings", [])
    assert (code, end, len(warnings)) == (0, {"complete": True}, int(bool(case.warning)))
    assert all(case.warning in each for each in warnings)
    assert err == "".join(f"warning: {each}\n" for each in warnings)


def test_24_an_error_about_a_list_names_what_there_is(tmp_path: Path, capsys: Capture) -> None:
    file = saved(tmp_path, loop("l", FRUITS, **EACH))
    assert run(["workflow", "trace", str(file), "--context", '{"fruit": ["apple"]}']) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert "'fruits'" in error["message"]
    assert "which holds fruit;" in error["hint"]
    assert "onMissing: skip" in error["hint"]


def one(name: str, body: Any = None, **config: Any) -> dict[str, Any]:
    return loop(name, body or [step("b")], **config)


INVALID = {
    "21 while without a condition": ([one("l", type="while")], "$.steps[0].loop"),
    "21 for without a count": ([one("l", type="for")], "$.steps[0].loop"),
    "21 forEach without items": ([one("l", type="forEach")], "$.steps[0].loop"),
    "21 too large a maximum": (
        [one("l", type="for", count=1, maxIterations=2000)], "$.steps[0].loop.maxIterations"),
    "21 a body that is not there": (
        [one("l", "nowhere", type="for", count=1)], "$.steps[0].body"),
    "21 a loop in a loop": (
        [one("l", [one("m", type="for", count=1)], type="for", count=1)], "$.steps[0].body[0]"),
    "21 an id twice": ([step("a"), step("a")], "$.steps[1].id"),
    "21 an id twice, in a body": ([step("b"), one("l", type="for", count=1)],
                                  "$.steps[1].body[0].id"),
    "22 a referred body with a condition": (
        [one("l", "b", type="for", count=1), when("b", {"var": "x"})], "$.steps[1].runCondition"),
    "25 and of no list": ([when("a", {"and": "x"})], "$.steps[0].runCondition.and"),
}  # fmt: skip


@pytest.mark.parametrize("name", INVALID)
def test_a_case_is_invalid_and_says_where(name: str, tmp_path: Path, capsys: Capture) -> None:
    steps, path = INVALID[name]
    file = saved(tmp_path, *steps)
    assert run(["workflow", "validate", str(file)]) == 1
    *problems, count = capsys.readouterr().out.splitlines()
    assert count == f"{len(problems)} problem{'s' * (len(problems) > 1)} in 1 file"
    assert any(each.startswith(f"{file}: {path}") for each in problems), problems


def test_an_invalid_document_is_traced_not_at_all(tmp_path: Path, capsys: Capture) -> None:
    file = saved(tmp_path, one("l", type="while"), one("m", type="until"))
    assert run(["workflow", "validate", str(file)]) == 1
    *problems, _ = capsys.readouterr().out.splitlines()
    assert len(problems) == 2
    assert run(["workflow", "trace", str(file)]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["code"] == "invalid-workflow"
    assert err.splitlines()[:2] == problems
    assert err.splitlines()[2].startswith("error: ")
