"""Which files test others."""

import pytest

from foundry.engine.evidence.test_files import is_test_file

TESTS = """
tests/a.py test/helper.js Tests/AppTests/A.swift tests/fixtures/data.json src/a/__tests__/a.ts
test_a.py a/test_b.py a_test.py b_tests.py conftest.py a_test.go a.test.ts a.spec.js a-test.js
src/a.test.tsx a.spec.mjs spec/models/user_spec.rb spec/spec_helper.rb user_spec.rb test_helper.rb
src/test/java/A.java src/main/FooTest.java FooTests.cs FooIT.java FooSpec.scala TestFoo.java
App.Tests/Foo.cs tests/FooTest.php a/testdata/in.txt fixtures/a.json __snapshots__/a.snap
test.sh tests.py test scripts/test check.bats a.cy.ts e2e/login.ts jest.config.js vitest.config.ts
t/basic.t features/step_definitions/a.rb src/androidTest/A.kt integration-tests/a.rs
a/test_utils/b.py unit_tests/a.c
""".split()  # noqa: SIM905
OTHERS = """
src/a.py contest.py latest.py attestation.go src/Latest.java testimony.py protest/a.py Contest.cs
src/features/cart.ts inspect.py spec.py src/specification.ts greatest.rb test.d/x.conf
src/main/java/A.java lib/a.rb Testament.java bestiary/a.php manifest.rs README.md check.sh
""".split()  # noqa: SIM905


@pytest.mark.parametrize("path", TESTS)
def test_a_test_by_its_name(path):
    assert is_test_file(path)


@pytest.mark.parametrize("path", OTHERS)
def test_no_test_by_its_name(path):
    assert not is_test_file(path)


@pytest.mark.parametrize(("command", "path"), [
    ("sh check.sh", "check.sh"),
    ("./check", "check"),
    ("cd . && sh ./ci/check.sh", "ci/check.sh"),
    ("npm ci; node verify.js", "verify.js"),
    ("python -m pytest checks/all.py -q", "checks/all.py"),
    ("pytest checks/all.py::test_one", "checks/all.py"),
    ("node --test a.mjs b.mjs", "b.mjs"),
    ("npx mocha 'checks/a b.js'", "checks/a b.js"),
    ("set -e\nbash check.sh\n", "check.sh"),
])  # fmt: skip
def test_what_a_test_command_runs(command, path):
    assert not is_test_file(path)
    assert is_test_file(path, [command])


@pytest.mark.parametrize(("command", "path"), [
    ("python todo.py add milk", "todo.py"),
    ("python hello.py | grep -q hello", "hello.py"),
    ('test "$(python hello.py)" = hello', "hello.py"),
    ("python hello.py > out.txt", "hello.py"),
    ("sh check.sh", "other.sh"),
    ("sh 'check.sh", "check.sh"),
    ("", "check.sh"),
])  # fmt: skip
def test_what_a_command_only_uses_is_no_test(command, path):
    assert not is_test_file(path, [command])
