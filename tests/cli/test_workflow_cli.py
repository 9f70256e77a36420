"""The commands around workflow documents: list, show, validate, schema, new, graph, trace."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from foundry.cli.main import run
from foundry.schema.workflow import LoopStep, Step
from foundry.workflow.graph import graph
from foundry.workflow.load import builtin, load
from tests.support.workflows import document, loop, saved, step

WAIT = 30
HOSTILE = "a\x1b]0;owned\x07b\u202e"


class Called:
    """What a command printed, and its exit code."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def objects(self) -> list[Any]:
        return [json.loads(line) for line in self.lines]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Any:
    """Calls `foundry workflow` in this process."""

    def called(*arguments: object) -> Called:
        capsys.readouterr()
        code = run(["workflow", *map(str, arguments)])
        return Called(code, *capsys.readouterr())

    return called


def process(*arguments: object, stdin: str = "") -> Called:
    """Calls it as a process of its own."""
    command = [sys.executable, "-m", "foundry", "workflow", *map(str, arguments)]
    done = subprocess.run(
        command, input=stdin, capture_output=True, text=True, timeout=WAIT, check=False
    )
    return Called(done.returncode, done.stdout, done.stderr)


def own(tmp_path: Path) -> Path:
    return tmp_path / "home" / "workflows"


# -- list and show ---------------------------------------------------------------------------


def test_the_list_has_the_shipped_ones_and_ones_own(call: Any, tmp_path: Path) -> None:
    mine = saved(own(tmp_path), step("a"), loop("l", [step("b"), step("c")], type="for", count=1))
    rows = {row["id"]: row for row in json.loads(call("list", "--json").out)}
    assert rows["mine"] == {
        "id": "mine", "name": "My way", "version": "0.1.0", "origin": "user", "path": str(mine),
        "description": "How I do it.", "steps": 3, "loops": 1, "problem": "",
    }  # fmt: skip
    assert (rows["build"]["origin"], rows["build"]["loops"]) == ("builtin", 2)
    cells = [line.split() for line in call("list").lines]
    assert cells[0] == ["workflow", "version", "from", "steps", "loops"]
    assert ["mine", "0.1.0", "user", "3", "1", "How", "I", "do", "it."] in cells


def test_the_list_names_what_is_no_workflow(call: Any, tmp_path: Path) -> None:
    saved(own(tmp_path), step("a"), step("a"), name="twice.json")
    (own(tmp_path) / "broken.yaml").write_text("steps: [")
    (own(tmp_path) / "latin.yaml").write_bytes(b"name: caf\xe9")
    rows = {row["path"]: row["problem"] for row in json.loads(call("list", "--json").out)}
    assert "$.steps[1].id" in rows[str(own(tmp_path) / "twice.json")]
    assert "YAML" in rows[str(own(tmp_path) / "broken.yaml")]
    assert "UTF-8" in rows[str(own(tmp_path) / "latin.yaml")]
    assert call("list").code == 0


RICH = document(
    step("a", requireConfirmation=True, role="writer", budget={"turns": 3, "minutes": 5}),
    {**loop("l", [step("b", functionReferences=["check()"],
                       runCondition={"not": {"var": "done"}})],
            type="until", condition={"var": "n", "gt": 2}),
     "functionDefinitions": [{"name": "check", "definition": "Look twice."}]},
    step("c", validationCriteria=[{"type": "contains", "value": "x", "message": "Say x."}]),
    preconditions=["A tree."], clarificationPrompts=["Why?"], metaGuidance=["Be kind."],
    context={"n": 0}, functionDefinitions=[{"name": "rate", "definition": "One to five."}],
)  # fmt: skip

OUTLINE = """\
My way  mine 0.1.0
How I do it.

What has to be there
    - A tree.

To settle first
    - Why?

Rules for every step
    - Be kind.

Variables
    - n: 0

Functions
    - rate(): One to five.

Steps
    1  a  The step a
        a person agrees first
        role writer · 3 turns, 5 minutes
    2  l  Loop l
        repeated until n > 2, at most 5 times
        function check(): Look twice.
        2.1  b  The step b
            only if not done
            follows check()
    3  c  The step c
        What the output has to be like:
        - Say x. (contains 'x')
"""


def test_the_outline_tells_all_but_the_prompts(call: Any, tmp_path: Path) -> None:
    file = tmp_path / "rich.json"
    file.write_text(json.dumps(RICH))
    shown = call("show", file)
    assert (shown.code, shown.out) == (0, OUTLINE)


def test_the_document_is_shown_as_it_stands_there(call: Any, tmp_path: Path) -> None:
    own(tmp_path).mkdir(parents=True)
    (own(tmp_path) / "rich.json").write_text(json.dumps(RICH))
    assert json.loads(call("show", "mine", "--json").out) == RICH


def test_an_unknown_name_is_told_what_there_is(call: Any) -> None:
    for command in ("show", "graph", "trace"):
        shown = call(command, "biuld")
        assert shown.code == 1
        assert "'build'" in shown.err


# -- validate --------------------------------------------------------------------------------


def test_every_problem_of_every_file_has_a_line(call: Any, tmp_path: Path) -> None:
    good = saved(tmp_path, step("a"), name="good.json")
    bad = saved(tmp_path, step("a", titel="A"), loop("l", [], type="while"), name="bad.json")
    torn = tmp_path / "torn.yaml"
    torn.write_text("steps: [")
    gone = tmp_path / "gone.yaml"
    shown = call("validate", good, bad, torn, gone)
    assert shown.code == 1
    assert shown.err == ""
    *lines, count = shown.lines
    assert lines[0] == f"{good}: valid"
    of_bad = [line for line in lines if line.startswith(f"{bad}: $")]
    assert {line.split(": ")[1] for line in of_bad} >= {"$.steps[0].titel", "$.steps[1].body"}
    assert lines[-2].startswith(f"{torn}: $: ")
    assert lines[-1].startswith(f"{gone}: $: cannot read")
    assert count == f"{len(lines) - 1} problems in 3 of 4 files"


BRACES = step("a", prompt="Look at {{nowhere}}.")


def test_a_warning_is_an_error_only_when_strict(call: Any, tmp_path: Path) -> None:
    file = saved(tmp_path, BRACES)
    shown = call("validate", file)
    assert shown.code == 0
    warning, valid = shown.lines
    assert warning.startswith(f"{file}: $.steps[0].prompt: warning: ")
    assert "'nowhere'" in warning
    assert valid == f"{file}: valid"
    strict = call("validate", "--strict", file)
    assert strict.code == 1
    assert strict.lines == [warning.replace("warning: ", ""), "1 problem in 1 file"]


def test_what_nobody_here_has_is_a_warning(call: Any, tmp_path: Path) -> None:
    odd = step("a", tools=["teleport"], contract="magic", template="mine.j2")
    file = saved(tmp_path, odd, context={"spec": 1})
    *warnings, valid = call("validate", file).lines
    assert [line.split(": ")[1:4] for line in warnings] == [
        [path, "warning", "can't be run here"]
        for path in ("$.context.spec", "$.steps[0].template", "$.steps[0].contract",
                     "$.steps[0].tools[0]")
    ]  # fmt: skip
    assert valid == f"{file}: valid"
    assert call("validate", "--strict", file).code == 1
    piped = process("validate", "-", "--strict", stdin=file.read_text())
    assert piped.code == 1
    assert "$.steps[0].tools[0]: can't be run here" in piped.out
    (tmp_path / "mine.j2").write_text("{{ step }}")
    assert "template" not in call("validate", file).out


def test_json_is_one_object_a_file(call: Any, tmp_path: Path) -> None:
    good = saved(tmp_path, step("a"), name="good.json")
    odd = saved(tmp_path, BRACES, name="odd.json")
    bad = saved(tmp_path, step("a"), step("a"), name="bad.json")
    shown = call("validate", "--json", good, odd, bad)
    assert shown.code == 1
    assert [(each["file"], each["valid"]) for each in shown.objects] == [
        (str(good), True), (str(odd), True), (str(bad), False)
    ]  # fmt: skip
    assert shown.objects[0] == {"file": str(good), "valid": True, "problems": []}
    problems = [problem for each in shown.objects for problem in each["problems"]]
    assert [(p["path"], p["level"]) for p in problems] == [
        ("$.steps[0].prompt", "warning"), ("$.steps[1].id", "error")
    ]  # fmt: skip
    assert all(set(p) == {"path", "message", "level"} for p in problems)


@pytest.mark.parametrize("dress", ["json", "yaml"])
def test_a_dash_is_stdin(dress: str) -> None:
    text = json.dumps(document(step("a")))
    if dress == "yaml":
        text = "# mine\nid: mine\nname: n\ndescription: d\nversion: 1.0.0\nsteps:\n- {id: a}\n"
    shown = process("validate", "-", stdin=text)
    if dress == "json":
        assert (shown.code, shown.out) == (0, "-: valid\n")
    else:
        assert shown.code == 1
        assert "-: $.steps[0]: 'title' is missing" in shown.out


def test_nothing_in_a_document_controls_the_terminal(call: Any, tmp_path: Path) -> None:
    file = saved(tmp_path, step("a", prompt=f"{{{{x}}}} {HOSTILE}", **{HOSTILE: 1}),
                 description=HOSTILE)  # fmt: skip
    mine = saved(own(tmp_path), step("a"), name="mine.json", description=HOSTILE,
                 preconditions=[HOSTILE], context={HOSTILE: HOSTILE})  # fmt: skip
    for arguments in (("validate", file), ("validate", "--json", file), ("list",), ("show", mine),
                      ("list", "--json"), ("graph", mine), ("trace", file)):  # fmt: skip
        shown = call(*arguments)
        assert shown.out
        assert all(line.isprintable() for line in (shown.out + shown.err).splitlines()), arguments


# -- schema ----------------------------------------------------------------------------------


def test_the_schema_tells_a_workflow_from_what_is_none(call: Any) -> None:
    from jsonschema import Draft202012Validator

    schema = json.loads(call("schema").out)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert list(validator.iter_errors(RICH)) == []
    assert list(validator.iter_errors({**RICH, "steps": []}))


# -- new -------------------------------------------------------------------------------------


def test_a_new_one_is_valid_and_shows_what_there_is(call: Any, tmp_path: Path) -> None:
    shown = call("new", "code-tour", "--dir", tmp_path / "my flows")
    file = tmp_path / "my flows" / "code-tour.yaml"
    assert shown.code == 0
    assert shown.lines[0] == f"wrote    {file}"
    assert f"workflow trace '{file}'" in shown.out
    assert call("validate", "--strict", file).out == f"{file}: valid\n"
    text = file.read_text()
    assert "my-workflow" not in text.lower().replace(" ", "-")
    workflow = load(file)
    assert (workflow.id, workflow.name) == ("code-tour", "Code tour")
    loops = [each for each in workflow.steps if isinstance(each, LoopStep)]
    steps = [each for each in workflow.steps if isinstance(each, Step)]
    assert [each.loop.type for each in loops] == ["forEach"]
    assert any(each.run_condition for each in steps)
    assert any(each.validation_criteria for each in steps)
    assert loops[0].steps[0].function_references == ("severity()",)
    assert steps[-1].model_fields_set >= {"role", "tools", "budget", "attempts", "on_failure"}
    traced = call("trace", file, "--context", '{"thorough": true}')
    assert [each.get("step") for each in traced.objects] == [
        "survey", "measure", "review-area", "review-area", "report", None
    ]  # fmt: skip


def test_what_is_there_stays(call: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("mine")
    shown = call("new", "mine", "--dir", tmp_path)
    assert (shown.code, shown.out, file.read_text()) == (1, "", "mine")
    assert str(file) in shown.err


@pytest.mark.parametrize("name", ["", "../x", "a b", "-x", "ü", "a/b", "x" * 65, "build"])
def test_a_name_has_to_be_one(name: str, call: Any, tmp_path: Path) -> None:
    shown = call("new", "--dir", tmp_path, "--", name)
    assert (shown.code, shown.out) == (1, "")
    assert list(tmp_path.glob("*.yaml")) == []


@pytest.mark.parametrize("name", ["2024", "no", "true", "0x1f", "1e3", "x.yaml"])
def test_a_name_that_yaml_takes_for_something_else(name: str, call: Any, tmp_path: Path) -> None:
    assert call("new", name, "--dir", tmp_path).code == 0
    (file,) = tmp_path.glob("*.yaml")
    assert load(file).id == file.stem == name.removesuffix(".yaml")
    assert call("validate", "--strict", file).code == 0


# -- graph -----------------------------------------------------------------------------------


def test_the_graph_of_a_name_or_a_file(call: Any, tmp_path: Path) -> None:
    assert call("graph", "build").out == graph(builtin("build"))
    file = saved(tmp_path, step("a"))
    assert call("graph", file).out == graph(load(file))
    bad = call("graph", saved(tmp_path, step("a"), step("a"), name="bad.json"))
    assert (bad.code, bad.out) == (1, "")
    assert "bad.json: $.steps[1].id: " in bad.err


# -- trace -----------------------------------------------------------------------------------

IF_X = {"runCondition": {"var": "x"}}


def test_a_context_from_a_file(call: Any, tmp_path: Path) -> None:
    file, context = saved(tmp_path, step("a", **IF_X)), tmp_path / "context.json"
    context.write_text('{"x": 1}')
    assert len(call("trace", file).lines) == 1
    assert len(call("trace", file, "--context", f"@{context}").lines) == 2


def test_patches_from_stdin_with_blank_lines_and_too_many_of_them(tmp_path: Path) -> None:
    file = saved(tmp_path, step("a"), step("b", **IF_X), step("c"))
    patches = '\n{"x": 1}\n\n{}\n{"y": 1}\n{"y": "\u2028"}\n\n'
    shown = process("trace", file, "--patches", "-", stdin=patches)
    assert shown.out == (
        '{"step": "a", "loopPath": []}\n{"step": "b", "loopPath": []}\n'
        '{"step": "c", "loopPath": []}\n{"complete": true}\n'
    )
    assert (shown.code, shown.err) == (
        0, "note: 2 patches were left over: the workflow ended before\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--context", "[1]", "no JSON object"),
        ("--context", "{", "line 1"),
        ("--context", "@gone.json", "gone.json"),
        ("--patches", "gone.jsonl", "gone.jsonl"),
        ("--patches", "bad.jsonl", "bad.jsonl, line 2"),
    ],
)
def test_what_can_not_be_read_is_an_error_for_scripts_and_people(
    option: str, value: str, told: str, call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.jsonl").write_text("{}\n7\n")
    shown = call("trace", saved(tmp_path, step("a")), option, value)
    assert shown.code == 1
    (line,) = shown.objects
    assert line["error"]["code"] == "invalid-input"
    assert told in line["error"]["message"]
    assert shown.err.startswith("error: ")
    assert told in shown.err


def test_a_reader_that_has_seen_enough_ends_it_quietly(tmp_path: Path) -> None:
    loops = [loop(f"l{n}", [step(f"s{n}")], type="for", count=1000, maxIterations=1000)
             for n in range(5)]  # fmt: skip
    command = [sys.executable, "-m", "foundry", "workflow", "trace", saved(tmp_path, *loops)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tracing:
        assert tracing.stdout is not None
        assert tracing.stderr is not None
        first = json.loads(tracing.stdout.readline())
        tracing.stdout.close()
        told = tracing.stderr.read()
        assert tracing.wait(WAIT) == 0, told
    assert first == {"step": "s0", "loopPath": [{"loopId": "l0", "iteration": 0}]}
    assert told == b""
