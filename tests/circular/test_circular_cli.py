"""`foundry circular`: its words, its refusals, what it prints."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from foundry.cli.main import run
from foundry.model.rehearsal.script import first_user_text
from tests.support.circular import CHECK, done, doubt, more, repository, work
from tests.support.rehearsals import write
from tests.support.workflows import plays

OLD, NEW = "print(old())\n", "print(new())\n"
CONTEXT = "project: {name: Greeter}\nobjective: {primary: Finish it}\n"


@dataclass(frozen=True)
class Ran:
    returncode: int
    stdout: str
    stderr: str


Foundry = Callable[..., Ran]


@pytest.fixture
def foundry(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Foundry:
    """The command line in this process, in the project's folder."""
    monkeypatch.chdir(project)

    def call(*words: str) -> Ran:
        code = run(list(words))
        return Ran(code, *capsys.readouterr())

    return call


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", a_py=OLD, b_py=OLD)


def test_a_task_in_words_is_run_looked_at_and_taken_back(rehearsal: Any, foundry: Foundry) -> None:
    server = rehearsal(
        plays(
            {
                work(1): [write("a.py", NEW), more("b.py", resolved=["a.py"])],
                work(2): [write("b.py", NEW), done()],
                doubt(2): [done()],
            }
        )
    )
    url = ("--base-url", server.url)
    made = foundry("circular", "--check", CHECK, "remove old()", *url)
    assert made.returncode == 0, made.stderr
    assert "verified: all gates passed" in made.stdout
    assert "2 iterations, 1 doubting thread; " in " ".join(made.stdout.split())
    shown = foundry("circular", "status")
    assert shown.returncode == 0, shown.stderr
    assert "complete: 2 of at most 20 iterations" in shown.stdout
    rows = [
        line.split() for line in shown.stdout.splitlines() if " doubt " in line or "0/1" in line
    ]
    assert [row[1] for row in rows] == ["1", "2"]
    told = json.loads(foundry("circular", "status", "--json").stdout)
    assert [each["number"] for each in told["iterations"]] == [1, 2, 2]
    assert all(each["commit"] for each in told["iterations"])
    assert told["metrics"]["overall"]["total_iterations"] == 3
    back = foundry("circular", "revert", "2")
    assert back.returncode == 0 and "b.py" in back.stdout, back.stderr
    shown = foundry("circular", "status")
    assert "taken back" in shown.stdout and "unverified" in shown.stdout


REFUSED = {
    "no such file": (["task.md"], "there is no file task.md"),
    "an empty prompt": (["  "], "the spec is empty"),
    "a prompt in another encoding": (["caf\udce9"], "the spec is not UTF-8 text"),
    "an odd threshold": (["do it", "--threshold", "1.5"], "0.05<=x<=0.95"),
    "an odd branch": (["do it", "--branch", "a..b"], "'a..b' is no name for a branch"),
    "an odd message": (["do it", "--message", "a\nb"], "is no line"),
    "no base context": (["do it", "--context", "none.yaml"], "cannot read the base context"),
    "a context without its project": (
        ["do it", "--context", "bad.yaml"], "bad.yaml: project: is missing"),
    "no room to work": (
        ["do it " * 9_000, "--threshold", "0.05", "--base-url", "http://127.0.0.1:9"],
        "ends at 10,000 tokens, and is told about"),
    "nowhere to put the result": (
        ["do it", "--no-commit", "--dir", "new"], "--no-commit puts the result into a checkout"),
    "nothing to resume": (["resume"], "there is no Foundry run"),
}  # fmt: skip


def test_what_can_not_be_used_is_refused_before_anything_is_done(
    project: Path, foundry: Foundry
) -> None:
    (project / "bad.yaml").write_text("objective: {primary: x}\n")
    for name, (words, wanted) in REFUSED.items():
        refused = foundry("circular", *words)
        assert wanted in refused.stderr, name
        assert refused.returncode == (2 if "threshold" in name else 1), name
    assert not project.with_name("project.foundry").exists()
    assert sorted(path.name for path in project.iterdir()) == [".git", "a.py", "b.py", "bad.yaml"]


def test_a_prompt_file_and_its_context_are_read_and_a_word_of_a_command_is_one(
    rehearsal: Any, project: Path, foundry: Foundry
) -> None:
    (project / "task.md").write_text("Remove old(). {{base_context}}\n")
    (project / "base.yaml").write_text(CONTEXT)
    server = rehearsal(plays({work(1): [write("a.py", NEW), more("b.py")]}))
    words = ("task.md", "--context", "base.yaml", "--max-iterations", "1", "--json")
    made = foundry("circular", "run", *words, "--base-url", server.url)
    assert made.returncode == 3, made.stderr
    events = [json.loads(line) for line in made.stdout.splitlines()]
    assert "Remove old(). Project: Greeter" in first_user_text(server.requests[-1].body)
    [row] = [e for e in events if e["event"] == "iteration"]
    assert (row["iteration"], row["files_changed"], row["status"]) == (1, 1, "continue")
    assert foundry("circular").stderr.startswith("Usage: foundry circular")
