"""Imports go down only, in-function imports included (DESIGN: Rooms)."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = [
    {"__main__"},
    {"cli"},
    {"mcp"},
    {"fleet", "report"},
    {"engine"},
    {"conversation"},
    {"tools"},
    {"sandbox", "model", "workflow", "store"},
    {"schema"},
    {"config", "log", "files", "exitcodes"},
    {"errors", "__init__"},
]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
OWNERS = {"anthropic": "foundry/model/anthropic.py", "git": "foundry/store/git_command.py"}
NEVER = {"mcp": {"fleet", "conversation", "tools", "sandbox", "model"}}
"""Rooms below that a room has no business in: who serves builds does not run them."""
SOURCES = sorted((ROOT / "foundry").rglob("*.py"))


def imported(path: Path) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.append(node.module or "")
    return names


def room_of(path: Path) -> str:
    return path.relative_to(ROOT / "foundry").parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_down_only(path: Path) -> None:
    here = room_of(path)
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "foundry":
            owner = OWNERS.get(parts[0])
            assert owner in (None, str(path.relative_to(ROOT))), f"only {owner} imports {parts[0]}"
            continue
        there = parts[1] if len(parts) > 1 else "__init__"
        allowed = there == here or FLOOR[there] > FLOOR[here]
        assert allowed and there not in NEVER.get(here, ()), f"{here} must not import {name}"


def test_every_room_has_a_floor() -> None:
    assert {room_of(path) for path in SOURCES} <= set(FLOOR)
