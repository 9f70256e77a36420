"""Real runners, called as projects call them, write down what they ran."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from foundry.engine.evidence.test_ledger import judge_tests
from foundry.engine.evidence.test_reports.reporter import HOOKS, Reporter

PASSING = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "CI": "1"}
CASES = """
import pytest, unittest
def test_ok(): pass
@pytest.mark.skip
def test_skipped(): pass
@pytest.mark.xfail
def test_expected(): assert 0
@pytest.mark.parametrize("v", [1, "a b"])
def test_many(v): pass
class TestU(unittest.TestCase):
    def test_parts(self):
        with self.subTest(1): pass
"""
PYTEST_IDS = {
    "tests/test_a.py::test_ok": "passed",
    "tests/test_a.py::test_skipped": "skipped",
    "tests/test_a.py::test_expected": "xfailed",
    "tests/test_a.py::test_many[1]": "passed",
    "tests/test_a.py::test_many[a b]": "passed",
    "tests/test_a.py::TestU::test_parts": "passed",
}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def write(root, files) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def run(root, command, *, junit="", environment=()):
    """Exit code, output and report of a command in the folder."""
    folder = root.parent / f"private-{len(list(root.parent.iterdir()))}"
    folder.mkdir()
    base = {
        **PASSING,
        "HOME": str(root.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        **dict(environment),
    }
    started = time.time()
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=root,
        env={**base, **Reporter(folder).environment(base)},
        capture_output=True,
        text=True,
        check=False,
    )
    output = done.stdout + done.stderr
    return done.returncode, output, Reporter(folder).read(output, root, started, junit)


def reason(ran, *, promised=False):
    """Why the check does not hold although its command said so."""
    code, output, report = ran
    assert code == 0, output
    return judge_tests("check", report, promised, False)


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q",
        "python -m pytest -p no:cacheprovider -qq",
        "make test",
        "sh t.sh",
        "pytest -n 2",
    ],
)
def test_pytest_is_heard_however_it_is_called(root, command) -> None:
    write(root, {"tests/test_a.py": CASES, "Makefile": "test:\n\tpytest\n", "t.sh": "pytest\n"})
    code, output, report = run(root, command)
    assert (code, report.outcomes, report.incomplete) == (0, PYTEST_IDS, ""), output
    assert (report.runner, report.ids_known, report.counts.xfailed) == ("pytest", True, 1)


def test_several_runs_of_one_command_are_one_report(root) -> None:
    one = "def test_one(): pass\n"
    write(root, {"a/pytest.ini": "[pytest]", "a/test_x.py": one, "test_x.py": one})
    _, _, report = run(root, "pytest test_x.py && cd a && pytest")
    assert set(report.outcomes) == {"test_x.py::test_one", "a/test_x.py::test_one"}


@pytest.mark.parametrize("many", ["", " -n 2"])
def test_what_was_deselected_is_told(root, many) -> None:
    write(root, {"tests/test_a.py": CASES})
    _, _, report = run(root, "pytest -k ok" + many)
    assert (set(report.outcomes), report.deselected) == ({"tests/test_a.py::test_ok"}, 5)


def test_a_pythonpath_of_the_command_costs_the_ids_and_nothing_else(root) -> None:
    write(root, {"tests/test_a.py": CASES})
    for command in ("PYTHONPATH=. pytest", "python -I -m pytest", "PYTHONPATH= python -S -c ''"):
        code, output, report = run(root, command)
        assert code == 0, output
        if "pytest" in command:
            assert (report.ids_known, report.counts.total, report.counts.skipped) == (False, 6, 2)


UNITTEST = """
import unittest
class T(unittest.TestCase):
    def test_a(self): pass
    @unittest.skip("not now")
    def test_b(self): pass
    @unittest.expectedFailure
    def test_c(self): self.fail()
    def test_d(self):
        with self.subTest(1): self.fail()
if __name__ == "__main__": unittest.main()
"""


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python -m unittest", "test_u"),
        ("python test_u.py", "test_u.py"),
        ("python -c 'import unittest; unittest.main(None)' discover", "test_u"),
    ],
)
def test_unittest_is_heard_however_it_is_called(root, command, name) -> None:
    write(root, {"test_u.py": UNITTEST})
    _, output, report = run(root, command)
    expected = {"a": "passed", "b": "skipped", "c": "xfailed", "d": "failed"}
    assert report.outcomes == {f"{name}.T.test_{k}": v for k, v in expected.items()}, output


def test_another_sitecustomize_still_runs_and_plain_programs_print_what_they_did(root) -> None:
    write(root, {"lib/sitecustomize.py": "print('theirs')"})
    environment = {"PYTHONPATH": str(root / "lib"), "NODE_OPTIONS": "--no-warnings"}
    assert run(root, "python -c 'print(1)'", environment=environment)[:2] == (0, "theirs\n1\n")
    assert Reporter(root).environment(environment)["NODE_OPTIONS"].startswith("--no-warnings --req")


FAILING = "def test_bad(): assert 0\ndef test_good(): pass\n"
REWRITING = """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    result = yield
    result.get_result().outcome = "passed"
"""
ENDING = UNITTEST.replace("def test_a(self): pass", "def test_a(self): os._exit(0)")
SKIPPED = "import pytest\npytest.skip(allow_module_level=True)"
SWALLOWING = "def pytest_runtest_protocol(item, nextitem): return True\n"


@pytest.mark.parametrize(
    ("files", "command", "said"),
    [
        ({"conftest.py": REWRITING}, "pytest", "1 failed"),
        ({"conftest.py": REWRITING}, "pytest -n 1", "1 failed"),
        ({"conftest.py": SWALLOWING}, "pytest", "collected 2 tests and ran 0"),
        ({"conftest.py": "import os; os._exit(0)"}, "pytest", "no session"),
        ({"test_0.py": "import os\ndef test(): os._exit(0)"}, "pytest", "ended before"),
        ({"test_0.py": "import pytest\ndef test(): pytest.exit('', 0)"}, "pytest", "and ran 0"),
        ({"pytest.py": "print('2 passed in 0.01s')"}, "python -m pytest", "no session"),
        ({}, "pytest --collect-only", "collected 2 tests and ran 0"),
        ({}, "pytest || true", "1 failed"),
        ({}, "pytest -k none || true", "no test was run"),
        ({"test_a.py": SKIPPED}, "pytest || :", "all 1"),
        ({"unittest.py": ""}, "python -m unittest", "no session"),
        ({"test_a.py": "import os\n" + ENDING}, "python -m unittest", "ended before"),
    ],
)  # fmt: skip
def test_a_green_exit_code_does_not_hide_what_happened(root, files, command, said) -> None:
    write(root, {"test_a.py": FAILING, **files})
    assert said in reason(run(root, command))


def test_tests_of_tests_are_no_tests_of_the_check(root) -> None:
    inner = """
import subprocess, sys, unittest
def test_outer(tmp_path):
    (tmp_path / "test_i.py").write_text("def test_i(): assert 0")
    assert subprocess.run([sys.executable, "-m", "pytest", str(tmp_path)]).returncode == 1
    class T(unittest.TestCase):
        def test_t(self): self.fail()
    unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(T))
"""
    write(root, {"test_o.py": inner})
    ran = run(root, "pytest")
    assert (reason(ran), set(ran[2].outcomes)) == ("", {"test_o.py::test_outer"})


JUNIT = '<testsuite><testcase classname="c" name="a"/></testsuite>'


def test_a_promised_file_has_to_be_new_and_does_not_speak_against_what_was_seen(root) -> None:
    write(root, {"r.xml": JUNIT, "test_a.py": "def test_a(): pass"})
    os.utime(root / "r.xml", (1, 1))
    assert "promised" in reason(run(root, "pytest", junit="r.xml"), promised=True)
    assert reason(run(root, "pytest --junitxml=r.xml", junit="r.xml"), promised=True) == ""
    write(root, {"test_a.py": FAILING, "by_hand.xml": JUNIT})
    ran = run(root, "pytest; cat by_hand.xml > r.xml", junit="r.xml")
    assert "1 failed" in reason(ran, promised=True)


def test_reports_of_maven_and_gradle_are_found_when_they_are_new(root) -> None:
    where = "m/target/surefire-reports"
    write(root, {f"{where}/TEST-old.xml": JUNIT.replace('"a"', '"old"'), "new.xml": JUNIT})
    os.utime(root / where / "TEST-old.xml", (1, 1))
    _, _, report = run(root, f"cat new.xml > {where}/TEST-new.xml")
    assert report.outcomes == {"c::a": "passed"}


def test_what_a_project_writes_into_the_reports_is_read_with_bounds(root) -> None:
    lines = ["[" * 100_000, '{"e":"test","id":1,"o":"passed"}', "\0", '{"e":"session"}', "{"]
    folder = root.parent / "given"
    folder.mkdir()
    (folder / "1.jsonl").write_text("\n".join(lines))
    (folder / "2.jsonl").symlink_to("/dev/zero")
    assert Reporter(folder).read("", root, 0) is None


node = pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
NODE = """
const { test, describe, it } = require("node:test");
test("x", () => {}); describe("d", () => { it("y", () => {}); it.skip("z", () => {}); });
"""


@node
@pytest.mark.parametrize(
    "command",
    ["node --test", "node --test --test-reporter=spec", "sh t.sh", "node --test a.test.js"],
)
def test_node_is_heard_and_prints_what_it_always_did(root, command) -> None:
    write(root, {"a.test.js": NODE, "t.sh": "node --test\n"})
    code, output, report = run(root, command)
    expected = {"x": "passed", "d > y": "passed", "d > z": "skipped"}
    assert (code, report.outcomes) == (0, {f"a.test.js::{k}": v for k, v in expected.items()})
    assert output.count("duration_ms 0") <= 1
    assert "# pass 2" in output or "\u2139 pass 2" in output


@node
def test_nodes_exit_code_and_plain_programs_stay_as_they_are(root) -> None:
    write(root, {"a.test.js": "require('node:test').test('x', () => { throw 1 })"})
    code, _, report = run(root, "node --test")
    assert (code, report.failing) == (1, ("a.test.js::x",))
    assert run(root, "node -e 'console.log(1)'") == (0, "1\n", None)


@node
@pytest.mark.parametrize("runner", ["jest", "mocha", "vitest run"])
def test_runners_of_node_packages_are_heard(root, runner) -> None:
    packages = Path(os.environ.get("NODE_TEST_RUNNERS", "/nonexistent"))
    if not (packages / ".bin" / runner.split()[0]).exists():
        pytest.skip(f"NODE_TEST_RUNNERS names no node_modules with {runner.split()[0]}")
    (root / "node_modules").symlink_to(packages)
    head = "import { it, describe } from 'vitest';" if "vitest" in runner else ""
    file = "a.test.mjs" if head else "test/a.test.js"
    cases = "it('x',()=>{}); describe('d',()=>{ it('y',()=>{}); it.skip('z',()=>{}) })"
    write(root, {file: head + cases, "package.json": "{}"})
    code, output, report = run(root, f"node_modules/.bin/{runner}")
    expected = {"x": "passed", "d > y": "passed", "d > z": "skipped"}
    assert (code, report.outcomes) == (0, {f"{file}::{k}": v for k, v in expected.items()}), output
    assert "reporter" not in output.lower()


def test_the_hooks_are_there_as_files() -> None:
    for name in ("python/sitecustomize.py", "node/preload.cjs", "ruby/foundry_rspec.rb"):
        assert (HOOKS / name).is_file()
