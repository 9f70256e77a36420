"""Documents from disk: two notations, every bad text as an error, names and files, fingerprints."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry import config
from foundry.errors import WorkflowError
from foundry.schema.workflow import LoopStep, Step
from foundry.workflow import load
from foundry.workflow.parsing import read_text

DOCUMENTS = Path(__file__).parent / "documents"
CORPUS = os.environ.get("FOUNDRY_WORKFLOW_CORPUS", "")
INVALID = {
    "invalid-workflow.json",
    "ai-task-prompt-workflow.json",
    "dashboard-template-workflow.json",
}
"""Files of the public repository that its own schema refuses, too."""


def small(**changes: Any) -> dict[str, Any]:
    return {
        "id": "small",
        "name": "Small",
        "description": "One step",
        "version": "1.0.0",
        "steps": [{"id": "only", "title": "Only", "prompt": "Do it"}],
        **changes,
    }


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refused(path: Path) -> str:
    """The error of a file, which `examine` tells as problems."""
    with pytest.raises(WorkflowError) as caught:
        load.load(path)
    problems = load.examine(path)
    assert problems
    assert all(str(each) in str(caught.value) for each in problems if each.level == "error")
    return str(caught.value)


def test_yaml_and_json_are_the_same_document() -> None:
    yaml_file, json_file = DOCUMENTS / "release.yaml", DOCUMENTS / "release.json"
    assert load.examine(yaml_file) == load.examine(json_file) == ()
    assert load.read(yaml_file) == load.read(json_file)
    assert load.load(yaml_file) == load.load(json_file)
    assert "$schema" not in load.read(yaml_file)


def test_the_example_uses_every_field_of_the_format() -> None:
    from foundry.workflow.json_schema import json_schema

    schema = json_schema()
    fields = {name for each in (schema, *schema["$defs"].values()) for name in each["properties"]}
    used: set[str] = set()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            used.update(value)
        for each in value.values() if isinstance(value, dict) else value:
            if isinstance(each, dict | list):
                collect(each)

    collect(json.loads((DOCUMENTS / "release.json").read_text()))
    assert fields - used == set()


def test_bodies_by_id_stand_in_their_loops() -> None:
    workflow = load.load(DOCUMENTS / "release.yaml")
    polish = next(step for step in workflow.steps if step.id == "polish")
    assert isinstance(polish, LoopStep)
    assert [step.id for step in polish.steps] == ["improve"]
    assert "improve" not in [step.id for step in workflow.steps]


def test_yaml_says_what_yaml_1_2_says(tmp_path: Path) -> None:
    text = """
      a: [yes, no, on, off, 12:30, 1_000, 0o17, 0x1F, 1.5e3, .5, -3, +4, ~, "null", !!str 5, '7']
      b: {x: , y: null, z: TRUE}
      c: &one {k: 1, l: 2}
      d: {<<: *one, l: 3}
      e: {<<: [{k: 4}, *one], m: 5}
      f: {l: 6, <<: *one}
      g: "<<"
      h: *one
    """
    read = read_text(text, json=False)
    assert read.findings == []
    assert read.value == {
        "a": ["yes", "no", "on", "off", "12:30", "1_000", 15, 31, 1500, 0.5, -3, 4, None, "null",
              "5", "7"],
        "b": {"x": None, "y": None, "z": True},
        "c": {"k": 1, "l": 2},
        "d": {"k": 1, "l": 3},
        "e": {"k": 4, "l": 2, "m": 5},
        "f": {"k": 1, "l": 6},
        "g": "<<",
        "h": {"k": 1, "l": 2},
    }  # fmt: skip


SIGNS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\x85\u2028\u2029")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(SIGNS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc<: ", max_size=3),
                                                                inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(st.dictionaries(st.text("abc", max_size=3), JSON, max_size=4))
@settings(max_examples=60, deadline=None)
def test_a_value_is_the_same_from_json_and_from_yaml(value: dict[str, Any]) -> None:
    from_json = read_text(json.dumps(value), json=True)
    from_yaml = read_text(json.dumps(value, ensure_ascii=False), json=False)
    dumped = yaml.safe_dump(value, allow_unicode=True, default_style='"')
    from_dump = read_text(dumped, json=False)  # every scalar with its tag
    assert from_json.value == value
    assert from_yaml.value == from_dump.value == value
    assert not (from_json.findings or from_yaml.findings or from_dump.findings)


TWICE = "given twice"


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.json", "{", "is not valid JSON at line 1, column 2"),
        ("a.json", "", "is not valid JSON at line 1, column 1"),
        ("a.json", "[]", "$: is a list: a workflow is an object"),
        ("a.yaml", "", "$: is nothing: a workflow is an object"),
        ("a.yaml", "just text", "a workflow is an object"),
        ("a.yaml", "a: [1", "is not valid YAML at line"),
        ("a.yaml", "a:\n\t- b", "is not valid YAML at line 2"),
        ("a.yaml", "a: \x07", "is not valid YAML"),
        ("a.yaml", "a: *b", "the alias *b names no value"),
        ("a.yaml", "a: &b [*b]", "the alias *b names no value"),
        ("a.yaml", "a: &b 1\nc: &b [*b]", "the alias *b names no value"),
        ("a.yaml", "a: 1\n---\nb: 2", "a second document begins here"),
        ("a.yaml", b"a: \xff", "is not UTF-8 text (byte 3)"),
        ("a.json", b"\xff\xfe", "is not UTF-8 text (byte 0)"),
        ("a.json", '{"id": NaN}', "$.id: nan is no number that JSON has"),
        ("a.json", '{"id": 1e999}', "$.id: inf is no number that JSON has"),
        ("a.json", '{"id": ' + "9" * 5000 + "}", "thousands of digits"),
        ("a.json", '{"id": ' + "9" * 400 + "}", "$.id: is too large a number"),
        ("a.yaml", "id: " + "9" * 5000, "$.id: inf is no number that JSON has"),
        ("a.json", '{"id": "\\ud800"}', "$.id: has half of a character"),
        ("a.yaml", "id: .nan", "$.id: nan is no number that JSON has"),
        ("a.yaml", "version: 2024-01-01", "$.version: 2024-01-01 is a date"),
        ("a.yaml", "context: {at: 2024-01-01 10:00:00}", "$.context.at: 2024-01-01 10:00:00 is a"),
        ("a.yaml", "context: {1: a}", "$.context['1']: this key is not text"),
        ("a.yaml", "context: {? [a] : a}", "$.context['?']: this key is not text"),
        ("a.yaml", "context: !!set {a, b}", "$.context: the tag 'tag:yaml.org,2002:set'"),
        ("a.yaml", "context: {a: !!binary aGk=}", "$.context.a: the tag"),
        ("a.yaml", "context: !!python/object:os.system {}", "$.context: the tag"),
        ("a.yaml", "context: {<<: 3}", "`<<` takes an object over"),
        ("a.json", '{"id": "a", "id": "b"}', f"$.id: this key is {TWICE}"),
        ("a.json", '{"context": [{"k": 1, "k": 1}]}', f"$.context[0].k: this key is {TWICE}"),
        ("a.yaml", "id: a\nid: b", f"$.id: this key is {TWICE}"),
        ("a.yaml", "steps: [{id: a, prompt: x, id: a}]", f"$.steps[0].id: this key is {TWICE}"),
    ],
)
def test_a_bad_text_is_an_error_that_says_where(
    tmp_path: Path, name: str, text: str | bytes, told: str
) -> None:
    assert told in refused(written(tmp_path, name, text))


def test_a_bad_text_and_a_bad_document_are_told_together(tmp_path: Path) -> None:
    told = refused(written(tmp_path, "a.yaml", "id: a\nid: b\nname: 3\ncontext: {at: 2024-01-01}"))
    for part in ("$.id: this key", "$.context.at: 2024", "$.name: is 3", "'steps' is missing"):
        assert part in told


def test_what_is_wrong_with_the_text_of_a_value_is_told_once(tmp_path: Path) -> None:
    text = json.dumps(small()).replace('"1.0.0"', "2024-01-01")
    [problem] = load.examine(written(tmp_path, "a.yaml", text))
    assert problem.path == "$.version"
    assert "is a date" in problem.message


@pytest.mark.parametrize("depth", [65, 2_000, 200_000])
@pytest.mark.parametrize(
    ("name", "opening"),
    [("a.json", "["), ("a.json", '{"a":'), ("a.yaml", "["), ("a.yaml", "- "), ("a.yaml", "? "),
     ("a.yaml", "{a: ")],
)  # fmt: skip
def test_deep_nesting_is_an_error(tmp_path: Path, name: str, opening: str, depth: int) -> None:
    closing = {"[": "]", '{"a":': "}", "{a: ": "}"}.get(opening, "")
    value = "null" if name == "a.json" else "x"
    told = refused(written(tmp_path, name, opening * depth + value + closing * depth))
    assert "nested more than 64 levels deep" in told


@pytest.mark.parametrize("as_json", [True, False])
def test_a_text_with_half_a_character_is_an_error(as_json: bool) -> None:
    [problem] = load.examine_text('{"id": "\ud800"}', json=as_json)
    assert (problem.path, problem.level) == ("$", "error")


def test_an_alias_bomb_is_an_error(tmp_path: Path) -> None:
    lines = ["a0: &a0 " + "x" * 100]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    assert "has too many values" in refused(written(tmp_path, "a.yaml", "\n".join(lines)))


def test_a_chain_of_aliases_is_as_deep_as_it_is_written_out(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 200))]
    assert "nested more than 64 levels deep" in refused(
        written(tmp_path, "a.yaml", "\n".join(lines))
    )


@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
def test_a_file_that_is_too_large_is_an_error(tmp_path: Path, name: str) -> None:
    text = json.dumps(small(description="x" * 5_000_000))
    assert "has more than 5,000,000 bytes" in refused(written(tmp_path, name, text))


def test_a_file_that_is_not_there_or_is_a_folder_is_an_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(WorkflowError, match="cannot read"):
            load.load(path)


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbf" + json.dumps(small()).encode()
    assert load.load(written(tmp_path, "a.json", text)).id == "small"


def test_types_are_strict(tmp_path: Path) -> None:
    loop = {"type": "for", "count": True, "maxIterations": "3"}
    body = [{"id": "s", "title": "s", "prompt": "p", "askForFiles": "true"}]
    steps = [{"id": "l", "title": 5, "type": "loop", "loop": loop, "body": body}]
    path = written(tmp_path, "a.json", json.dumps(small(steps=steps)))
    assert [each.path for each in load.examine(path)] == [
        "$.steps[0].title",
        "$.steps[0].loop.count",
        "$.steps[0].loop.maxIterations",
        "$.steps[0].body[0].askForFiles",
    ]


def test_python_names_are_no_fields(tmp_path: Path) -> None:
    steps = [{"id": "s", "title": "s", "prompt": "p", "run_condition": {"var": "x"}}]
    path = written(tmp_path, "a.json", json.dumps(small(steps=steps)))
    [problem] = load.examine(path)
    assert str(problem) == (
        "$.steps[0].run_condition: unknown field 'run_condition': did you mean 'runCondition'?"
    )


def test_whole_numbers_are_whole_however_they_are_written(tmp_path: Path) -> None:
    text = json.dumps(small(context={"n": 3.0})).replace("3.0", "3.0e0")
    assert load.load(written(tmp_path, "a.json", text)).context == {"n": 3}
    assert isinstance(load.load(tmp_path / "a.json").context["n"], int)


def own(name: str, text: str) -> Path:
    return written(config.home() / "workflows", name, text)


def test_a_name_finds_ones_own_before_a_built_in(tmp_path: Path) -> None:
    assert load.find("build").origin == "builtin"
    path = own("mine.yml", json.dumps(small(id="build", name="My build")))
    found = load.find("build")
    assert (found.path, found.origin, found.name, found.version) == (
        path, "user", "My build", "1.0.0",
    )  # fmt: skip
    assert load.find("mine") == found


def test_a_path_finds_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "here.json", json.dumps(small()))
    assert load.find(str(path)).origin == "file"
    monkeypatch.chdir(tmp_path)
    assert load.find("here.json").id == "small"
    written(tmp_path, "build", "a script")
    assert load.find("build").origin == "builtin"
    written(tmp_path, "other", json.dumps(small(id="other")))
    assert load.find("other").path == Path("other")


def test_an_unknown_name_lists_what_there_is() -> None:
    own("release.yaml", json.dumps(small(id="release-notes")))
    with pytest.raises(WorkflowError) as caught:
        load.find("relase-notes")
    assert "no workflow 'relase-notes': did you mean 'release-notes'?" in str(caught.value)
    assert "build" in caught.value.hint
    assert str(config.home() / "workflows") in caught.value.hint
    with pytest.raises(WorkflowError, match=r"there is no file 'x/y\.yaml'"):
        load.find("x/y.yaml")


def test_the_library_shows_broken_documents_as_such() -> None:
    own("a.yaml", "id: [")
    own("b.json", json.dumps(small(name=3)))
    own("c.txt", "not a document")
    own("d.yaml/e", "a folder")
    broken, fine, *shipped = load.library()
    assert (broken.id, broken.name) == ("a", "a.yaml")
    assert "is not valid YAML" in broken.problem
    assert (fine.id, fine.name, fine.problem) == ("small", "", "")
    assert {each.origin for each in shipped} == {"builtin"}
    assert "build" in [each.id for each in shipped]


@pytest.mark.parametrize("name", sorted(path.stem for path in load.BUILTIN.glob("*.yaml")))
def test_what_ships_has_no_problem_at_all(name: str) -> None:
    path = load.find(name).path
    assert [each for each in load.examine(path) if each.level == "error"] == []
    assert load.builtin(name) is load.builtin(name)
    assert load.builtin(name).id == name


@pytest.mark.parametrize("name", ["nothing", "../builtin/build", "build.yaml", ""])
def test_only_what_ships_is_built_in(name: str) -> None:
    with pytest.raises(WorkflowError, match=r"ships with Foundry\. There are: build"):
        load.builtin(name)


def test_the_fingerprint_is_that_of_what_is_done() -> None:
    workflow = load.parse(small(), "test")
    same = load.parse(json.loads(json.dumps(small())), "test")
    other = load.parse(small(steps=[{"id": "only", "title": "Only", "prompt": "Do more"}]), "test")
    assert load.fingerprint(workflow) == load.fingerprint(same)
    assert load.fingerprint(workflow) != load.fingerprint(other)
    assert len(load.fingerprint(workflow)) == 16


def test_parse_says_where_the_document_came_from() -> None:
    with pytest.raises(WorkflowError, match=r"^the request is not a valid workflow:\n  \$: "):
        load.parse(None, "the request")


@pytest.mark.skipif(not CORPUS, reason="FOUNDRY_WORKFLOW_CORPUS names no folder of documents")
def test_every_document_of_the_corpus_is_valid_but_those_that_nobody_reads() -> None:
    from jsonschema import Draft202012Validator

    from foundry.workflow.json_schema import json_schema

    validator = Draft202012Validator(json_schema())
    looked_at = 0
    for path in sorted(Path(CORPUS).rglob("*.json")):
        raw = json.loads(path.read_text(encoding="utf-8"))
        if "steps" not in raw:
            continue
        errors = [each for each in load.examine(path) if each.level == "error"]
        structural = list(validator.iter_errors(raw))
        if path.name in INVALID:
            assert errors, path
            assert structural, path
        else:
            assert errors == [], path
            assert structural == [], path
            workflow = load.load(path)
            assert all(isinstance(step, Step | LoopStep) for step in workflow.steps)
        looked_at += 1
    assert looked_at
