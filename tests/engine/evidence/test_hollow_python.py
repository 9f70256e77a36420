"""Python functions that leave at once: what they do then, and that the rest stays as it is."""

import ast
import sysconfig
import warnings
from pathlib import Path
from random import Random
from textwrap import dedent

import pytest

from foundry.engine.evidence.hollow import hollow

MODES = ("raises", "returns")


def hollowed(text, mode="raises", changed="all", path="a.py"):
    found = hollow(path, text, changed, mode)
    assert found is not None
    return found


def names(text, changed="all"):
    found = hollow("a.py", dedent(text), changed, "raises")
    return found.names if found else ()


def called(text, call, mode):
    """What a call gives in the hollowed source; `hollow` where it raises."""
    space = {}
    exec(compile(hollowed(text, mode).text.encode(), "a.py", "exec", dont_inherit=True), space)
    try:
        return eval(call, space)
    except RuntimeError as error:
        return str(error)


BODIES = {
    "plain": ("def f(x):\n    y = x\n    return y\n", "f(1)"),
    "docstring": ('def f(x):\n    """What."""\n    return x\n', "f(1)"),
    "docstring and comment": ('def f(x):\n    """What."""  # so\n    return x\n', "f(1)"),
    "docstring in parentheses": ('def f(x):\n    (\n"What."\n    )\n    return x\n', "f(1)"),
    "long docstring": ('def f(x):\n    """What.\n\n    More.\n    """; return x\n', "f(1)"),
    "one line": ("def f(x): return x\n", "f(1)"),
    "one line of two": ("def f(x): y = x; return y\n", "f(1)"),
    "docstring alone in line": ('def f(x): "What."; return x\n', "f(1)"),
    "continued": ("def f(x): \\\n    return x\n", "f(1)"),
    "no line end": ("def f(x): return x", "f(1)"),
    "compound": ("def f(x):\n    if x:\n        return x\n", "f(1)"),
    "match": ("def f(x):\n    match x:\n        case 1: return x\n", "f(1)"),
    "decorated within": (
        "def f(x):\n    @staticmethod\n    def g(): return x\n    return g()\n",
        "f(1)",
    ),
    "decorator in parentheses": (
        "def f(x):\n    @(\n    staticmethod)\n    def g(): return x\n    return g()\n",
        "f(1)",
    ),
    "tabs": ("def f(x):\n\tif x:\n\t\treturn x\n", "f(1)"),
    "CRLF": ("def f(x):\r\n    if x:\r\n        return x\r\n", "f(1)"),
    "form feed": ("import os\n\f\ndef f(x):\n\f    if x:\n        return x\n", "f(1)"),
    "odd line ends in a text": ("S = '\x0b\x1c\u2028'\ndef f(x):\n    return x\n", "f(1)"),
    "not ASCII": ("def f(ä):\n    'ß'; return ä\n", "f(1)"),
    "byte order mark": ("\ufeffdef f(x): return x\n", "f(1)"),
    "global": ("def f(x):\n    global y\n    y = x\n    return y\n", "f(1)"),
    "method": ("class A:\n    def f(self): return 1\n", "A().f()"),
    "property": ("class A:\n    @property\n    def f(self):\n        return 1\n", "A().f"),
    "in a condition": ("if True:\n    def f(x): return x\n", "f(1)"),
    "async": (
        "import asyncio\nasync def f(x):\n    return x\n",
        "asyncio.run(f(1))",
    ),
}


@pytest.mark.parametrize(("text", "call"), BODIES.values(), ids=BODIES)
def test_a_function_leaves_at_once(text, call):
    assert called(text, call, "raises") == "hollow"
    assert called(text, call, "returns") is None


def test_a_generator_remains_one():
    text = "def f():\n    yield 1\nasync def g():\n    yield 1\n"
    assert called(text, "list(f())", "returns") == []
    assert called(text, "type(g()).__name__", "returns") == "async_generator"


def test_only_what_overlaps_the_changed_lines():
    text = """\
        def a():
            return 1

        @decorator
        def b():
            def inner():
                return 2
            return inner

        class C:
            limit = 3

            def d(self):
                return 4
        """
    assert names(text, frozenset([2])) == ("a",)
    assert names(text, frozenset([4])) == ("b",)
    assert names(text, frozenset([7])) == ("b",)  # the outermost
    assert names(text, frozenset([3, 11])) == ()
    assert names(text, frozenset([14])) == ("C.d",)
    assert names(text) == ("a", "b", "C.d")


def test_the_rest_of_the_source_stays():
    text = "import os  # kept\n\n\ndef f(x):\n    return os.fspath(x)\n\n\nY = f('a')\n"
    expected = text.replace("return os", 'raise RuntimeError("hollow"); return os')
    assert hollowed(text).text == expected


def test_what_does_nothing_and_tests_in_code_are_left_alone():
    text = """\
        from typing import Protocol
        import unittest

        class Shape(Protocol):
            def area(self) -> float: ...
            def name(self) -> str:
                '''What it is called.'''
        class Base:
            def run(self): raise NotImplementedError
            def stop(self): pass
            def leave(self): return
        class SelfTest(unittest.TestCase):
            def setUp(self): self.x = 1
        def test_all(): assert True
        """
    assert names(text) == ()


@pytest.mark.parametrize("text", ["def f(:\n", "def f(): return 1\0", "x = 1\n", "", "\udcff"])
def test_none_where_there_is_no_function_to_be_read(text):
    assert hollow("a.py", text, "all", "raises") is None


def test_a_script_without_suffix():
    text = "#!/usr/bin/env python3\ndef f(): return 1\n"
    assert hollowed(text, path="bin/tool").names == ("f",)
    assert hollow("notes.txt", text, "all", "raises") is None


def library():
    """A sample of the standard library's files: all the ways in which Python is written."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    files = [p for p in sorted(folder.rglob("*.py")) if "site-packages" not in p.parts]
    return Random(11).sample(files, 150)


def test_the_standard_library_still_compiles():
    counts = dict.fromkeys(MODES, 0)
    for file in library():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                text = file.read_bytes().decode()
                compile(text, file.name, "exec", dont_inherit=True)
            except (UnicodeDecodeError, SyntaxError):
                continue  # some are there to be broken
            for mode in MODES:
                if found := hollow(file.name, text, "all", mode):
                    compile(found.text, file.name, "exec", dont_inherit=True)
                    counts[mode] += 1
                    assert no_function_gets_through(found.text, set(found.names)), file
    assert min(counts.values()) > 50


def no_function_gets_through(text, expected):
    """Whether the functions that were named begin with the exit, a docstring before it."""
    exits = 0
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            start = node.body[1:2] if ast.get_docstring(node) is not None else node.body[:1]
            exits += any(
                isinstance(each, ast.Raise) or (isinstance(each, ast.Return) and not each.value)
                for each in start
            )
    return exits >= len(expected)
