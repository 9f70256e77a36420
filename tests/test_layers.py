"""Imports go down only, rooms within rooms and in-function imports included."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "foundry"
FLOORS = [
    {"cli"},
    {"mcp"},
    {"report"},
    {"circular", "audit"},
    {"engine"},
    {"conversation"},
    {"context"},
    {"permission"},
    {"tools"},
    {"sandbox", "model", "workflow", "store"},
    {"schema"},
    {"config", "log", "files", "exitcodes", "plugins", "ranking", "redact", "tokenize"},
    {"errors", "__init__"},
]
"""From the roof down: a room may import what stands on a lower floor, and no neighbour."""

FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
OWNERS = {"anthropic": "model/anthropic.py", "git": "store/git/command.py"}
"""The one file that may import a heavy library."""

NEVER = {"mcp": {"conversation", "tools", "sandbox", "model"}}
"""Rooms below that a room has no business in: who serves builds does not run them."""

ENTRANCE = "__main__"
FILES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
"""Every module by its name within the package."""


def imported(path: Path) -> Iterator[str]:
    """What a file imports, whole names; of `from room import file` the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole.removeprefix("foundry.") in FILES else str(node.module)


def own_imports() -> Iterator[tuple[str, str]]:
    """Pairs of modules of ours: who imports whom."""
    for name, path in FILES.items():
        for other in imported(path):
            if name != ENTRANCE and other.startswith("foundry."):
                yield name, other.removeprefix("foundry.")


def folder(module: str) -> str:
    return str(FILES[module].parent.relative_to(PACKAGE))


def test_imports_go_down_only() -> None:
    climbs = []
    for here, there in own_imports():
        rooms = here.split(".")[0], there.split(".")[0]
        down = rooms[0] == rooms[1] or FLOOR[rooms[1]] > FLOOR[rooms[0]]
        if not down or rooms[1] in NEVER.get(rooms[0], ()):
            climbs.append(f"{here} must not import {there}")
    assert not climbs, "\n".join(climbs)


def test_no_folder_imports_itself_back_through_another() -> None:
    below: dict[str, set[str]] = {}
    for here, there in own_imports():
        if folder(here) != folder(there):
            below.setdefault(folder(here), set()).add(folder(there))
    try:
        TopologicalSorter(below).prepare()
    except CycleError as error:
        raise AssertionError("a circle of folders: " + " -> ".join(error.args[1])) from None


def test_heavy_libraries_have_one_owner() -> None:
    strays = [
        f"only {OWNERS[first]} imports {first}, not {path.relative_to(PACKAGE)}"
        for path in FILES.values()
        for first in {name.split(".")[0] for name in imported(path)} & OWNERS.keys()
        if str(path.relative_to(PACKAGE)) != OWNERS[first]
    ]
    assert not strays, "\n".join(strays)


def test_every_room_has_a_floor() -> None:
    rooms = {name.split(".")[0] for name in FILES} - {ENTRANCE, "foundry"}
    assert rooms <= FLOOR.keys(), rooms - FLOOR.keys()
