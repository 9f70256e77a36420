"""CONTEXT.md: made from code alone, within its budget, and never over what a person wrote."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from foundry.cli.init import command
from foundry.context.overview.document import is_stale, parse, read, refresh
from foundry.context.overview.sections import BUDGET, tokens
from foundry.context.overview.survey import manifest, note
from foundry.errors import ProjectError

FILES = {
    "pyproject.toml": """[project]
name = "shelf"
description = "Keeps books."
dependencies = ["click>=8", "rich"]
[project.scripts]
shelf = "shelf.cli:main"
[tool.ruff]
line-length = 100
""",
    "README.md": "# Shelf\n\n[![badge](x.svg)](y)\n\n"
    "Shelf keeps the books of a small library in one file.\n",
    "shelf/__init__.py": "",
    "shelf/cli.py": '"""The command line."""\n'
    "from shelf.store import Store\ndef main():\n    Store()\n",
    "shelf/store.py": '"""Books on disk."""\n'
    "from shelf.errors import ShelfError\nclass Store:\n    pass\n",
    "shelf/errors.py": '"""What goes wrong."""\nclass ShelfError(Exception):\n    pass\n',
    "tests/test_store.py": "from shelf.store import Store\ndef test_it():\n    assert Store()\n",
    "Makefile": "test:\n\\tpytest\n",
    "secret.env": "KEY=1",
    ".gitignore": "secret.env\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RETRIEVAL_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "shelf"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "Begin the shelf")
    return root


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True)


def test_it_tells_what_a_stranger_asks_first(project: Path) -> None:
    refresh(project)
    text = read(project)
    document = parse(text)
    assert document.title == "# Project: shelf"
    assert list(document.sections) == ["Overview", "Structure", "Key files", "Patterns",
                                       "Dependencies", "Commands", "State"]  # fmt: skip
    sections = document.sections
    assert "Keeps books. Shelf keeps the books of a small library" in sections["Overview"]
    assert "- `shelf/`: " in sections["Structure"]
    assert "tests: `tests/`" in sections["Structure"]
    first, *others = sections["Key files"].splitlines()
    assert first == "- `shelf/cli.py`: The command line. (main)"  # programs begin there
    assert "- `shelf/store.py`: Books on disk. (Store), used by 2" in others
    assert "`test_*`" in sections["Patterns"]
    assert "`shelf/errors.py` (ShelfError)" in sections["Patterns"]
    assert sections["Dependencies"] == "- click, rich"
    assert "- `shelf`: shelf.cli:main" in sections["Commands"]
    assert "- `make test`" in sections["Commands"]
    assert "cargo" not in sections["Commands"]
    assert sections["State"].endswith("Begin the shelf")
    assert "secret" not in text


def test_a_large_project_is_cut_to_the_budget_and_uses_it(project: Path) -> None:
    for number in range(300):
        path = project / f"shelf/part{number % 20}/module_{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            f'"""Module {number} of many, which does one thing."""\ndef do_{number}(): ...\n'
        )
    done = refresh(project)
    assert done
    assert 2_000 <= done.tokens <= BUDGET == 3_000
    assert tokens(read(project)) == done.tokens
    assert set(parse(read(project)).sections) >= {"Overview", "Commands", "State"}


def test_what_a_person_wrote_stays_and_the_rest_follows_the_code(project: Path) -> None:
    refresh(project)
    path = project / ".context-foundry/CONTEXT.md"
    text = path.read_text()
    text = text.replace("Keeps books.", "Keeps books for people.")
    text = text.replace("## State\n", "## House rules\n\nNever shout.\n\n## State\n")
    start, end = text.index("## Patterns"), text.index("## Dependencies")
    path.write_text(text[:start] + text[end:])
    (project / "shelf/lend.py").write_text('"""Lends books."""\ndef lend(): ...\n')

    done = refresh(project)
    assert done
    document = parse(path.read_text())
    assert done.persons == ("Overview", "House rules")
    assert "Keeps books for people." in document.sections["Overview"]
    assert document.sections["House rules"] == "Never shout."
    assert "Lends books." in document.sections["Key files"]
    assert "Patterns" not in document.sections
    again = refresh(project)
    assert again
    assert again.change == "current"


def test_a_document_that_a_person_wrote_alone_is_theirs(project: Path) -> None:
    path = project / ".context-foundry/CONTEXT.md"
    path.parent.mkdir()
    path.write_text("# Our shelf\n\nWelcome.\n\n## Overview\n\nMine.\n")
    refresh(project)
    document = parse(path.read_text())
    assert document.title == "# Our shelf\n\nWelcome."
    assert document.sections["Overview"] == "Mine."
    assert "Books on disk." in document.sections["Key files"]


def test_a_hash_tells_when_it_is_stale(project: Path) -> None:
    assert is_stale(project)
    refresh(project)
    assert not is_stale(project)
    git(project, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x", "--allow-empty")
    assert not is_stale(project)  # a commit alone changes nothing that lasts
    (project / "shelf/lend.py").write_text("def lend(): ...\n")
    assert is_stale(project)


def test_the_command_says_what_it_did(project: Path) -> None:
    run = CliRunner()
    assert run.invoke(command, [str(project), "--check"], standalone_mode=False).return_value == 1
    first = run.invoke(command, [str(project)])
    assert "CONTEXT.md: written, " in first.output
    again = json.loads(run.invoke(command, [str(project), "--json"]).output)
    assert (again["change"], again["persons"]) == ("current", [])
    assert run.invoke(command, [str(project), "--check"], standalone_mode=False).return_value == 0


def test_links_that_lead_out_and_pipes_are_not_read(project: Path, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("Sesame opens whatever is closed to all others.\n")
    (project / "README.md").unlink()
    (project / "README.md").symlink_to("../keys")
    os.mkfifo(project / "README.rst")
    (project / "go.mod").mkdir()
    (project / ".context-foundry").mkdir()
    (project / ".context-foundry" / "CONTEXT.md").symlink_to("../../keys")
    assert refresh(project)
    assert "Sesame" not in read(project)
    assert parse(read(project)).persons == ()
    assert (tmp_path / "keys").read_text().startswith("Sesame")


def test_a_folder_with_nothing_to_tell_of_is_an_error(tmp_path: Path) -> None:
    assert refresh(tmp_path) is None
    result = CliRunner().invoke(command, [str(tmp_path)])
    assert isinstance(result.exception, ProjectError)
    assert "nothing to describe" in str(result.exception)


@pytest.mark.parametrize(
    ("name", "text", "dependencies", "commands"),
    [
        ("package.json", '{"dependencies": {"zod": "1"}, "scripts": {"test": "vitest"}}',
         ("zod",), (("npm run test", "vitest"),)),
        ("Cargo.toml", '[package]\nname = "x"\n[dependencies]\nserde = "1"\n', ("serde",),
         (("cargo build", ""), ("cargo test", ""))),
        ("go.mod", "module a.b/c\nrequire (\n\tgithub.com/x/y v1.2.3\n\tgo.z/w v1 // indirect\n)\n",
         ("github.com/x/y",), (("go build ./...", ""), ("go test ./...", ""))),
        ("requirements.txt", "# x\nflask==3\n-r more.txt\n", ("flask",), ()),
        ("Makefile", ".PHONY: all\nall: x\nX := 1\nlint:\n", (),
         (("make all", ""), ("make lint", ""))),
    ],
)  # fmt: skip
def test_manifests(
    name: str, text: str, dependencies: tuple[str, ...], commands: tuple[tuple[str, str], ...]
) -> None:
    found = manifest(name, text)
    assert found is not None
    assert (found.dependencies, found.commands) == (dependencies, commands)


@pytest.mark.parametrize(
    ("name", "text"),
    [("package.json", "{"), ("package.json", "[]"), ("pyproject.toml", "= 1"),
     ("Cargo.toml", "[package"), ("compose.yaml", "a: [")],
)  # fmt: skip
def test_a_damaged_manifest_says_nothing(name: str, text: str) -> None:
    assert manifest(name, text) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"""One line."""\nimport x', "One line."),
        ('# -*- coding -*-\n"""After a comment.\nMore."""', "After a comment."),
        ("#!/bin/sh\n# Runs it.\n", "Runs it."),
        ("/**\n * Types of it.\n */", "Types of it."),
        ("//! A crate.\n", "A crate."),
        ("// ======\ncode", ""),
        ("x = 1", ""),
    ],
)
def test_what_a_file_says_of_itself(text: str, said: str) -> None:
    assert note(text) == said
