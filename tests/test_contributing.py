"""CONTRIBUTING.md is true: its rooms are those of the layer test, its paths and names are there."""

import ast
import re
from pathlib import Path

import pytest

from foundry.engine.pinned_workflow import choose
from foundry.store.artifacts import read_notes
from foundry.store.project import CONTEXT, NOTES, WORKFLOWS, Project
from tests.test_layers import FLOORS, PACKAGE, ROOT

GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`((?:foundry|prompts|tests|docs|scripts)/[\w./*-]*)(?::(\w+))?`", GUIDE)
SHORT = re.findall(
    r"`((?:cli|engine|workflow|conversation|model|context|store)/[\w/]+\.py)`", GUIDE
)


def names_in(path: Path) -> set[str]:
    """What a module defines at its top."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        found |= {each.id for each in targets if isinstance(each, ast.Name)}
    return found


@pytest.mark.parametrize(("path", "name"), sorted(set(NAMED)))
def test_what_a_recipe_names_is_there(path: str, name: str) -> None:
    assert list(ROOT.glob(path.rstrip("/")))
    if name:
        assert name in names_in(ROOT / path)


def test_the_walk_names_files_that_are_there() -> None:
    missing = [path for path in SHORT if not (PACKAGE / path).is_file()]
    assert len(SHORT) >= 14
    assert not missing


def test_rooms_stand_in_the_order_of_the_floors() -> None:
    drawn = [each.split("/")[0] for each in re.findall(r"^\| `([\w/]+)/` \|", GUIDE, re.MULTILINE)]
    floors = [next(n for n, floor in enumerate(FLOORS) if room in floor) for room in drawn]
    assert floors == sorted(floors)
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert set(drawn) == rooms


def test_the_project_describes_itself() -> None:
    """CONTEXT.md being current is CI's to check: it changes with every commit."""
    own = Project(ROOT)
    assert own.artifact(CONTEXT).read_text().startswith("# Project: nightfoundry")
    assert len(read_notes(own)) == len(own.artifact(NOTES).read_text().splitlines())
    for document in (own.folder / WORKFLOWS).glob("*.yaml"):
        assert choose(str(document)).workflow.steps
