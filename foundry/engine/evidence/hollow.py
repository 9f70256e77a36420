"""Functions that leave at once: what code is without what it does. Pure.

A body stays as it is and gets an early exit in front. So a generator remains one, what is imported
or assigned remains used, and a compiler has nothing new to complain about.
"""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from foundry.engine.evidence.edits import Edit, Hollowed, Lines, Mode, edited, overlaps
from foundry.engine.evidence.hollow_languages import hollow_by_grammar

Function = ast.FunctionDef | ast.AsyncFunctionDef

_EXITS = {"raises": 'raise RuntimeError("hollow")', "returns": "return"}
_NEWLINE = re.compile(rb"\r\n|\n|\r")
_PYTHON_SHEBANG = re.compile(r"#![^\n]*\bpython")
_BOM = "\ufeff"


def hollow(path: str, text: str, changed: Lines, mode: Mode) -> Hollowed | None:
    """A source in which every function that overlaps the changed lines leaves at once.

    The outermost one counts: what is defined within it is never reached. Tests that stand within
    code, and functions that do nothing as it is, are left alone. None where no function was
    hollowed: there is none, the source can't be read, or no grammar is installed for it.
    """
    if is_python(path, text):
        return _hollow_python(text, changed, mode)
    return hollow_by_grammar(path, text, changed, mode)


def is_python(path: str, text: str) -> bool:
    """Whether a source is Python, by its suffix, or its first line where it has none."""
    suffix = PurePosixPath(path).suffix.lower()
    return suffix in (".py", ".pyw") or (not suffix and bool(_PYTHON_SHEBANG.match(text)))


def parsed(text: str) -> ast.Module | None:
    """The syntax tree of a Python source, or None where it is none that this Python knows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it is warned of is not ours to tell
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class Positions:
    """Where the nodes of a Python syntax tree begin and end in its source, in bytes."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(source))]

    def start(self, node: ast.stmt) -> int:
        """Where a statement begins, without its decorators."""
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.stmt) -> int:
        """Where a statement ends."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def decorated(self, node: ast.stmt) -> int:
        """Where a statement begins, with its decorators."""
        line = first_line(node)
        if line == node.lineno:
            return self.start(node)
        place = self._starts[line - 1] + node.col_offset
        while line > 1 and not self.source.startswith(b"@", place):
            line -= 1  # a parenthesis may stand between the @ and its expression
            place = self._starts[line - 1] + node.col_offset
        return place


def first_line(node: ast.stmt) -> int:
    """The line on which a statement begins, with its decorators."""
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    return min([node.lineno, *(each.lineno for each in decorators)])


def is_docstring(node: ast.stmt) -> bool:
    """Whether a statement is nothing but a text."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def outermost(node: ast.AST, within: str = "") -> Iterator[tuple[str, Function]]:
    """The functions below a node that stand in no other function, with their qualified names.

    Tests are left out: a tree without them would fail, and nothing be said about the code.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            if not child.name.startswith("test_"):
                yield f"{within}{child.name}", child
        elif isinstance(child, ast.ClassDef):
            if not any(ast.unparse(base).endswith("TestCase") for base in child.bases):
                yield from outermost(child, f"{within}{child.name}.")
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from outermost(child, within)


def _hollow_python(text: str, changed: Lines, mode: Mode) -> Hollowed | None:
    bom = _BOM if text.startswith(_BOM) else ""
    text = text.removeprefix(_BOM)
    tree = parsed(text)
    if tree is None:
        return None
    found = [
        (name, function)
        for name, function in outermost(tree)
        if overlaps(changed, first_line(function), function.end_lineno or 0) and _acts(function)
    ]
    positions = Positions(text.encode())
    edits = [_early_exit(function, _EXITS[mode], positions) for _, function in found]
    hollowed = edited(positions.source, edits).decode()
    if not found or parsed(hollowed) is None:
        return None
    return Hollowed(bom + hollowed, tuple(name for name, _ in found))


def _acts(function: Function) -> bool:
    """Whether a function does anything: stubs, protocols and abstract methods don't."""
    return not all(
        isinstance(each, ast.Pass | ast.Raise)
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        or (isinstance(each, ast.Return) and each.value is None)
        for each in function.body
    )


def _early_exit(function: Function, leave: str, positions: Positions) -> Edit:
    first = function.body[0]
    if is_docstring(first):
        end = positions.end(first)
        return Edit(end, end, f"; {leave}")
    start = positions.decorated(first)
    if not _is_compound(first):
        return Edit(start, start, f"{leave}; ")
    line = positions.source.rfind(b"\n", 0, start) + 1
    indent = positions.source[line:start].decode()  # as it is: tabs and spaces don't mix
    return Edit(start, start, f"{leave}\n{indent}")


def _is_compound(node: ast.stmt) -> bool:
    return hasattr(node, "body") or isinstance(node, ast.Match)
