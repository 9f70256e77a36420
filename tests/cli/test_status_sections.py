"""Sections of installed packages in `foundry status`."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from little_project import LittleProject

from foundry.cli.status import command
from foundry.report.status import status_of
from foundry.store.project import Project
from tests.support.packages import installed_packages

MODULE = """
print("noise")

def verdict(summary, evidence):
    proven = sum(each.state == "proven" for each in evidence.requirements)
    return f"# Verdict\\n\\n{summary.run}: {summary.status}, {proven} proven\\x1b[2J"
def silent(summary, evidence): return "\\n"
def raising(summary, evidence): raise RuntimeError("no\\nluck")
def number(summary, evidence): return 3
"""
SECTIONS = {
    f"report.{name}": f"words_parts:{name}" for name in ("verdict", "silent", "raising", "number")
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return LittleProject(tmp_path / "project").project


@pytest.fixture
def package(tmp_path: Path) -> Iterator[None]:
    with installed_packages(tmp_path / "site", {"words": SECTIONS}, {"words_parts": MODULE}):
        yield


def status(project: Project, *options: str) -> Result:
    return CliRunner().invoke(command, [str(project.root), *options], catch_exceptions=False)


def test_they_come_after_its_own_text(project: Project, package: None) -> None:
    shown = status(project)
    assert shown.stdout.index("go on with: ") < shown.stdout.index("Verdict")
    assert "interrupted, 0 proven\\x1b[2J" in shown.stdout
    assert "noise" not in shown.stdout
    notes = [line for line in shown.stderr.splitlines() if line.startswith("note:")]
    assert [line.split("'")[1] for line in notes] == ["number", "raising"]
    assert "RuntimeError: no luck" in notes[1]

    assert list(json.loads(status(project, "--json").stdout)["sections"]) == ["verdict"]


def test_without_a_valid_plan_there_are_none(project: Project, package: None) -> None:
    (project.folder / "tasks.json").write_text("{")
    shown = status(project)
    assert "note: no sections of packages: .context-foundry/tasks.json" in shown.stderr
    assert "go on with: " in shown.stdout
    assert "Verdict" not in shown.stdout


def test_without_packages_the_report_is_as_it_was(project: Project) -> None:
    shown = status(project, "--json")
    assert shown.stdout == status_of(project).model_dump_json(indent=2) + "\n"
    assert shown.stderr == ""
