"""Sections of installed packages in `foundry status`."""

import json
from pathlib import Path

from little_project import LittleProject
from support.packages import foundry, install

from foundry.report.status import status_of

MODULE = """
print("noise")

def verdict(summary, evidence):
    proven = sum(each.state == "proven" for each in evidence.requirements)
    return f"# Verdict\\n\\n{summary.run}: {summary.status}, {proven} proven\\x1b[2J"
def silent(summary, evidence): return "\\n"
def raising(summary, evidence): raise RuntimeError("no\\nluck")
def number(summary, evidence): return 3
"""
SECTIONS = ("verdict", "silent", "raising", "number")


def test_a_status_has_the_sections_of_packages(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install(site, "words", {f"report.{name}": f"words_parts:{name}" for name in SECTIONS})
    (site / "words_parts.py").write_text(MODULE)
    project = LittleProject(tmp_path / "project").project
    done = foundry(site, "status", str(project.root))
    assert done.stdout.index("run ") < done.stdout.index("Verdict")
    assert "interrupted, 0 proven\\x1b[2J" in done.stdout
    complaints = [line for line in done.stderr.splitlines() if line.startswith("note:")]
    assert [line.split("'")[1] for line in complaints] == ["number", "raising"]
    assert "RuntimeError: no luck" in complaints[1]

    shown = json.loads(foundry(site, "status", "--json", str(project.root)).stdout)
    assert list(shown["sections"]) == ["verdict"]

    (project.folder / "tasks.json").write_text("{")
    broken = foundry(site, "status", str(project.root))
    assert "note: no sections of packages: .context-foundry/tasks.json" in broken.stderr
    assert "Verdict" not in broken.stdout


def test_a_status_without_packages_has_no_sections(tmp_path: Path) -> None:
    project = LittleProject(tmp_path / "project").project
    done = foundry(tmp_path, "status", "--json", str(project.root))
    kept = status_of(project)
    assert done.stdout == kept.model_dump_json(indent=2) + "\n"
    assert done.stderr == ""
