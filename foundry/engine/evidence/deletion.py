"""Single statements taken away: which of them does no check miss? It informs and blocks nothing.

Only statements of Python whose absence leaves a program: a call, an assignment, a raise, a guard
(`if` that does nothing but leave). Each gives way to `pass`, one at a time.
"""

import ast
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path

from foundry.engine.evidence.can_fail import NoticedBy
from foundry.engine.evidence.edits import (
    Edit,
    Lines,
    edited,
    overlaps,
    readable_sources,
    replaced,
)
from foundry.engine.evidence.hollow import (
    Function,
    Positions,
    first_line,
    is_python,
    outermost,
    parsed,
)
from foundry.engine.evidence.test_files import is_test_file
from foundry.schema.evidence import SHOWN_NAMES, DeletionResult, Survivor

STATEMENT_LENGTH = 120
"""Characters of a survivor's statement that are shown."""

_LEAVING = ast.Return | ast.Raise | ast.Continue | ast.Break


@dataclass(frozen=True, slots=True)
class Deletion:
    """A source without one of its statements."""

    path: str
    line: int
    statement: str
    source: bytes


def deletions(path: str, text: str, changed: Lines) -> list[Deletion]:
    """Every way to delete one statement that overlaps the changed lines and stands in a function.

    In the order in which they are best tried when there is not time for all: spread over the file,
    the same for the same source. Empty for what is no Python that can be read.
    """
    tree = parsed(text) if is_python(path, text) else None
    if tree is None:
        return []
    positions = Positions(text.encode())
    found = []
    for _, function in outermost(tree):
        for node in _deletable(function, positions):
            if overlaps(changed, first_line(node), node.end_lineno or 0):
                start, end = positions.start(node), positions.end(node)
                source = edited(positions.source, [Edit(start, end, "pass")])
                words = " ".join(positions.source[start:end].decode().split())
                found.append(Deletion(path, node.lineno, words[:STATEMENT_LENGTH], source))
    return sorted(found, key=_spread)


def delete_statements(
    tree: Path,
    changed: Mapping[str, Lines],
    noticed_by: NoticedBy,
    seconds: float,
    commands: Iterable[str] = (),
    clock: Callable[[], float] = time.monotonic,
) -> DeletionResult:
    """How many deletions the checks notice, within `seconds` of `clock`.

    `tree`, `changed` and `commands` are those of `can_fail`. No deletion is begun that would end
    too late if it took as long as the longest yet. Files take turns. Raises ProjectError when a
    file can't be written.
    """
    asked = tuple(commands)
    sources = readable_sources(tree, sorted(p for p in changed if not is_test_file(p, asked)))
    turns = _turns([_of_file(path, data, changed[path]) for path, data in sources.items()])
    begun, longest = clock(), 0.0
    tried, survivors = 0, []
    for deletion in turns:
        start = clock()
        if start - begun + longest >= seconds:
            break
        if not _compiles(deletion.source):
            continue
        with replaced(tree, sources, {deletion.path: deletion.source}):
            noticed = noticed_by()
        tried += 1
        longest = max(longest, clock() - start)
        if not noticed:
            survivors.append(deletion)
    return DeletionResult(
        candidates=len(turns),
        tried=tried,
        noticed=tried - len(survivors),
        survivors=tuple(
            Survivor(path=each.path, line=each.line, statement=each.statement)
            for each in survivors[:SHOWN_NAMES]
        ),
    )


def _compiles(source: bytes) -> bool:
    """A name that nothing binds any more (`nonlocal`) is an error before anything runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source, "", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError):
            return False
    return True


def _of_file(path: str, data: bytes, changed: Lines) -> list[Deletion]:
    try:
        return deletions(path, data.decode(), changed)
    except UnicodeDecodeError:
        return []


def _turns(files: Sequence[Sequence[Deletion]]) -> list[Deletion]:
    """One of every file, then the next of every file."""
    return [each for turn in zip_longest(*files) for each in turn if each is not None]


def _spread(deletion: Deletion) -> str:
    """An order that has nothing to do with the place, and is the same every time."""
    return sha256(f"{deletion.path}:{deletion.line}:{deletion.statement}".encode()).hexdigest()


def _deletable(function: Function, positions: Positions) -> Iterator[ast.stmt]:
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and _is_simple(node, positions):
            yield node


def _is_simple(node: ast.stmt, positions: Positions) -> bool:
    """Whether what remains without a statement is a program of the same kind."""
    match node:
        case ast.Expr():
            wanted = isinstance(node.value, ast.Call | ast.Await)
        case ast.AnnAssign():
            wanted = node.value is not None
        case ast.Assign() | ast.AugAssign() | ast.Raise():
            wanted = True
        case ast.If():
            is_elif = not positions.source.startswith(b"if", positions.start(node))
            wanted = not node.orelse and not is_elif and isinstance(node.body[-1], _LEAVING)
            wanted = wanted and len(node.body) == 1
        case _:
            wanted = False
    # without its only `yield` a generator would be another kind of function
    return wanted and not any(isinstance(x, ast.Yield | ast.YieldFrom) for x in ast.walk(node))
