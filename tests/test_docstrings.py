"""Public docstrings say what is raised: the errors of ours that a function itself raises."""

import ast
from collections.abc import Iterator
from pathlib import Path

from foundry import errors
from tests.test_layers import FILES, PACKAGE

OURS = {name for name, each in vars(errors).items() if isinstance(each, type)}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def public_functions(path: Path) -> Iterator[tuple[str, Function]]:
    """Functions and methods that a reader from another file may call, by their names."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, Function) and not node.name.startswith("_"):
            yield node.name, node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from (
                (f"{node.name}.{each.name}", each)
                for each in node.body
                if isinstance(each, Function) and not each.name.startswith("_")
            )


def own_nodes(function: Function) -> Iterator[ast.AST]:
    """All of a function's body but what stands in functions within it."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Function):
            yield node
            waiting += ast.iter_child_nodes(node)


def raised(function: Function) -> set[str]:
    """The errors of ours that a function itself raises by name."""
    calls = (node.exc for node in own_nodes(function) if isinstance(node, ast.Raise))
    names = (getattr(each, "func", each) for each in calls)
    return {each.id for each in names if isinstance(each, ast.Name)} & OURS


def is_command(function: Function) -> bool:
    """Whether its docstring is the help of a command, for people at a terminal."""
    return any("command" in ast.unparse(each) for each in function.decorator_list)


def test_public_functions_name_the_errors_that_they_raise() -> None:
    silent = [
        f"{path.relative_to(PACKAGE)}:{function.lineno} {name} raises {error}"
        for path in FILES.values()
        for name, function in public_functions(path)
        if not is_command(function)
        for error in sorted(raised(function))
        if error not in (ast.get_docstring(function) or "")
    ]
    assert not silent, "\n".join(silent)
