"""Single statements taken away, and who misses them."""

import subprocess
import sys
from itertools import count

import pytest

from foundry.engine.evidence.deletion import delete_statements, deletions
from foundry.engine.evidence.hollow import parsed

CODE = """\
import logging
LIMIT = 3


def take(items, n):
    logging.debug("taking %s", n)
    if n < 0:
        raise ValueError(n)
    if n > LIMIT:
        n = LIMIT
    taken = items[
        :n
    ]
    del items[:n]
    return taken


def each(items):
    found = yield
    yield from items
"""
TEST = "from shop import take; x = [1, 2, 3, 4]; assert take(x, 2) == [1, 2] and x == [3, 4]"


def statements(text, changed="all"):
    return sorted((each.line, each.statement) for each in deletions("a.py", text, changed))


def test_statements_whose_absence_leaves_a_program():
    assert statements(CODE) == [
        (6, 'logging.debug("taking %s", n)'),
        (7, "if n < 0: raise ValueError(n)"),
        (8, "raise ValueError(n)"),
        (10, "n = LIMIT"),
        (11, "taken = items[ :n ]"),
    ]
    assert statements(CODE, frozenset([12])) == [(11, "taken = items[ :n ]")]
    assert all(parsed(each.source.decode()) for each in deletions("a.py", CODE, "all"))


def test_what_is_no_guard_or_no_python_stays():
    text = """\
def f(x):
    '''What.'''
    if x: return 1
    elif x > 2: return 2
    if x: return 1
    else: return 2
    y: int
    ...
    return x
def test_f():
    f(1)
"""
    assert statements(text) == []
    assert deletions("a.js", "f();\n", "all") == []


@pytest.fixture
def shop(tmp_path):
    (tmp_path / "shop.py").write_text(CODE)

    def noticed_by():
        command = (sys.executable, "-c", TEST)
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        return ("unit",) if ran.returncode else ()

    return tmp_path, noticed_by


def test_survivors_are_named(shop):
    tree, noticed_by = shop
    result = delete_statements(tree, {"shop.py": "all"}, noticed_by, seconds=600)
    assert (result.candidates, result.tried, result.noticed, result.share) == (5, 5, 1, 0.2)
    assert sorted((each.path, each.line) for each in result.survivors) == [
        ("shop.py", 6), ("shop.py", 7), ("shop.py", 8), ("shop.py", 10),
    ]  # fmt: skip
    assert (tree / "shop.py").read_text() == CODE
    assert noticed_by() == ()


def tried(tree, changed, seconds, commands=()):
    """What is tried when each run takes two seconds of a clock that ticks when it is asked."""
    seen = []

    def look():
        for path in changed:
            if (tree / path).read_text() != CODE:
                seen.append(path)
        return ("unit",)

    clock = count(0, 2)
    result = delete_statements(tree, changed, look, seconds, commands, lambda: next(clock))
    assert result.tried == len(seen)
    return seen


def test_a_small_budget_is_spread_over_the_files(tmp_path):
    files = ["a.py", "b.py", "c.py", "test_d.py", "check.py"]
    for name in files:
        (tmp_path / name).write_text(CODE)
    changed = dict.fromkeys(files, "all")
    commands = ["python check.py"]
    assert tried(tmp_path, changed, 0, commands) == []
    # one begins every four seconds and takes two: a fourth would end when the time is over
    assert tried(tmp_path, changed, 16, commands) == ["a.py", "b.py", "c.py"]
    assert len(tried(tmp_path, changed, 17, commands)) == 4
    assert len(tried(tmp_path, changed, 600, commands)) == 15


def test_files_come_back_when_the_checks_break_off(shop):
    tree, _ = shop

    def breaks():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        delete_statements(tree, {"shop.py": "all"}, breaks, seconds=600)
    assert (tree / "shop.py").read_text() == CODE


def test_nothing_to_delete_has_no_share(tmp_path):
    assert delete_statements(tmp_path, {}, lambda: (), seconds=1).share is None


def test_what_would_not_compile_is_not_tried(tmp_path):
    text = "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n    return g\n"
    (tmp_path / "a.py").write_text(text)
    result = delete_statements(tmp_path, {"a.py": frozenset([2])}, lambda: ("a",), seconds=600)
    assert (result.candidates, result.tried) == (1, 0)
