"""Whether checks can fail: real projects, whose tests run as processes over hollow code."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from foundry.engine.evidence.can_fail import can_fail, is_code
from foundry.engine.evidence.edits import readable_sources, replaced
from foundry.errors import ProjectError

CODE = """\
def add(a, b):
    return a + b


def greet(name):
    print("hello", name)
"""
GOOD = """\
import unittest
from calc import add, greet
class T(unittest.TestCase):
    def test_add(self): self.assertEqual(add(1, 2), 3)
    def test_greet(self): greet("you")
"""
TAUTOLOGY = GOOD.replace("self.assertEqual(add(1, 2), 3)", "self.assertTrue(True)").replace(
    'greet("you")', "pass"
)
SMOKE = GOOD.replace("self.assertEqual(add(1, 2), 3)", "add(1, 2)")


class Project:
    """Files in a folder and the commands that check them, by name."""

    def __init__(self, root: Path, files: dict[str, str], **checks: tuple[str, ...]) -> None:
        self.root, self.checks = root, checks
        self.runs = 0
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)

    def noticed_by(self) -> tuple[str, ...]:
        self.runs += 1
        return tuple(name for name, command in self.checks.items() if self._run(command))

    def _run(self, command: tuple[str, ...]) -> int:
        return subprocess.run(command, cwd=self.root, capture_output=True, check=False).returncode

    def contents(self) -> dict[str, tuple[bytes, int]]:
        return {
            str(path.relative_to(self.root)): (path.read_bytes(), path.stat().st_mode)
            for path in self.root.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }

    def result(self, *paths: str):
        before = self.contents()
        assert self.noticed_by() == ()  # they hold, and leave their bytecode
        result = can_fail(self.root, dict.fromkeys(paths, "all"), self.noticed_by)
        assert self.contents() == before
        assert self.noticed_by() == ()  # nothing of the hollow code is left
        return result


UNITTEST = (sys.executable, "-m", "unittest", "-q")


def python(tmp_path, test, **files):
    names = {name.replace("_py", ".py"): text for name, text in files.items()}
    return Project(tmp_path, {"calc.py": CODE, "test_calc.py": test, **names}, unit=UNITTEST)


def test_checks_that_look_are_seen_to_fail(tmp_path):
    project = python(tmp_path, GOOD)
    result = project.result("calc.py", "test_calc.py")
    assert result.state == "noticed"
    assert result.noticed == ("raises", "returns")
    assert [run.names for run in result.runs] == [("calc.py:add", "calc.py:greet")] * 2
    assert [run.noticed_by for run in result.runs] == [("unit",)] * 2
    assert project.runs == 4


def test_tests_that_cannot_fail_are_named(tmp_path):
    result = python(tmp_path, TAUTOLOGY).result("calc.py", "test_calc.py")
    assert (result.state, result.noticed) == ("unnoticed", ())
    assert result.unnoticed[0].names == ("calc.py:add", "calc.py:greet")


def test_tests_that_only_call_do_not_notice_an_empty_answer(tmp_path):
    result = python(tmp_path, SMOKE).result("calc.py")
    assert (result.state, result.noticed) == ("unnoticed", ("raises",))
    assert [run.mode for run in result.unnoticed] == ["returns"]


def test_one_check_that_notices_is_enough(tmp_path):
    project = python(tmp_path, TAUTOLOGY)
    project.checks["real"] = (sys.executable, "-c", "from calc import add; assert add(1, 2) == 3")
    result = project.result("calc.py")
    assert result.state == "noticed"
    assert {run.noticed_by for run in result.runs} == {("real",)}


def test_only_changed_functions_are_hollowed(tmp_path):
    project = python(tmp_path, GOOD)
    result = can_fail(tmp_path, {"calc.py": frozenset([6])}, project.noticed_by)
    assert [run.names for run in result.runs] == [("calc.py:greet",)] * 2
    assert result.noticed == ("raises",)


def test_node(tmp_path):
    if not shutil.which("node"):
        pytest.skip("node is not installed")
    files = {
        "add.mjs": "export const add = (a, b) => a + b;\n",
        "add.test.mjs": "import test from 'node:test'; import assert from 'node:assert';\n"
        "import { add } from './add.mjs'; test('adds', () => assert.equal(add(1, 2), 3));\n",
    }
    project = Project(tmp_path, files, unit=("node", "--test"))
    result = project.result(*files)
    assert (result.state, result.runs[0].names) == ("noticed", ("add.mjs:add",))
    (tmp_path / "add.test.mjs").write_text("import './add.mjs';\n")
    assert project.result(*files).state == "unnoticed"


def test_where_there_is_no_function_files_of_code_are_emptied(tmp_path):
    run = (sys.executable, "-c", "import settings; assert settings.LIMIT == 3")
    files = {"settings.py": "LIMIT = 3\n", "notes.md": "notes\n", "data.json": "{}\n"}
    project = Project(tmp_path, files, run=run)
    result = project.result(*files)
    assert result.state == "noticed"
    assert [(run.mode, run.names) for run in result.runs] == [("emptied", ("settings.py",))]
    project.checks["run"] = (sys.executable, "-c", "import settings")
    assert project.result(*files).state == "unnoticed"


def test_a_build_of_documents_is_accused_of_nothing(tmp_path):
    files = {"README.md": "# It\n", "a.json": "{}\n", "package-lock.json": "{}\n", "x.py": "\n"}
    project = Project(tmp_path, files)
    result = can_fail(tmp_path, dict.fromkeys(files, "all"), project.noticed_by)
    assert (result.state, result.runs, project.runs) == ("nothing", (), 0)


def test_what_a_test_command_runs_is_a_test(tmp_path):
    files = {"tool.sh": "f() { echo 1; }\nf\n", "check.sh": 'g() { sh tool.sh; }\n[ "$(g)" = 1 ]\n'}
    project = Project(tmp_path, files, check=("sh", "check.sh"))
    changed = dict.fromkeys(files, "all")
    result = can_fail(tmp_path, changed, project.noticed_by, ["sh check.sh"])
    assert (result.state, result.runs[0].names) == ("noticed", ("tool.sh:f",))


def test_long_lists_are_cut_and_counted(tmp_path):
    text = "".join(f"def f{n}(): return {n}\n" for n in range(30))
    project = Project(tmp_path, {"a.py": text}, run=(sys.executable, "-c", ""))
    run = project.result("a.py").runs[0]
    assert (len(run.names), run.count) == (20, 30)


def test_files_come_back_when_the_checks_break_off(tmp_path):
    project = python(tmp_path, GOOD)
    (tmp_path / "calc.py").chmod(0o755)
    before = project.contents()

    def breaks():
        (tmp_path / "calc.py").unlink()
        raise ProjectError("no more")

    with pytest.raises(ProjectError, match="no more"):
        can_fail(tmp_path, {"calc.py": "all"}, breaks)
    assert project.contents() == before


def test_bytes_come_back_as_they_were(tmp_path):
    odd = b"# \xef\xbb\xbf\r\ndef f():\r\n\treturn '\xc3\xa4'\r\n\x0cx = 1"
    (tmp_path / "a.py").write_bytes(odd)
    seen = []

    def look():
        seen.append((tmp_path / "a.py").read_bytes())
        return ()

    can_fail(tmp_path, {"a.py": "all"}, look)
    assert (tmp_path / "a.py").read_bytes() == odd
    assert len(set(seen)) == 2
    assert odd not in seen


def test_what_leads_out_of_the_tree_is_not_touched(tmp_path):
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    for folder in (outside, tree):
        folder.mkdir()
    (outside / "a.py").write_text(CODE)
    (tree / "link.py").symlink_to(outside / "a.py")
    (tree / "folder").symlink_to(outside)
    changed = dict.fromkeys(["link.py", "folder/a.py", "../outside/a.py", "gone.py"], "all")
    assert can_fail(tree, changed, lambda: ()).state == "nothing"


def test_a_source_that_is_no_text_is_left_alone(tmp_path):
    (tmp_path / "a.py").write_bytes(b"# coding: latin-1\ndef f(): return '\xe4'\n")
    (tmp_path / "b.py").write_text(CODE)
    result = can_fail(tmp_path, {"a.py": "all", "b.py": "all"}, lambda: ("unit",))
    assert result.runs[0].names == ("b.py:add", "b.py:greet")


def test_bytecode_of_the_same_size_and_second_does_not_run_again(tmp_path):
    """Sources that differ by a letter, written faster than a file's time in bytecode can tell."""
    path = tmp_path / "letter.py"
    path.write_text("X = 'o'\n")
    show = (sys.executable, "-c", "import letter; print(letter.X)")
    writing = {name: each for name, each in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def shown():
        done = subprocess.run(
            show, cwd=tmp_path, capture_output=True, text=True, check=True, env=writing
        )
        return done.stdout.strip()

    sources = readable_sources(tmp_path, ["letter.py"])
    said = [shown()]
    for letter in "abcd":
        with replaced(tmp_path, sources, {"letter.py": f"X = '{letter}'\n".encode()}):
            said.append(shown())
        said.append(shown())
    assert "".join(said) == "oaobocodo"
    assert list(tmp_path.glob("__pycache__/letter.*.pyc"))


@pytest.mark.parametrize(("path", "data", "code"), [
    ("a.kt", b"x", True), ("A.C", b"x", True), ("bin/tool", b"#!/bin/sh\n", True),
    ("a.kt", b" \n", False), ("LICENSE", b"x", False), ("a.css", b"x", False),
    ("a.yml", b"x", False), ("Cargo.lock", b"x", False), ("a.html", b"x", False),
])  # fmt: skip
def test_what_counts_as_code(path, data, code):
    assert is_code(path, data) is code
