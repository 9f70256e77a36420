"""A run that an earlier Foundry made is shown, searched and resumed (tests/kept/)."""

import json
import shlex
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foundry.cli.main import run
from tests.support.builds import git
from tests.support.circular import done, doubt, plays, work, write

KEPT = Path(__file__).parent.parent / "kept"
Command = Callable[..., tuple[int, str]]


@pytest.fixture
def foundry(capsys: pytest.CaptureFixture[str]) -> Command:
    """`foundry ...` in this process: its exit code, and what it printed on stdout."""

    def command(words: str, *more: str) -> tuple[int, str]:
        capsys.readouterr()
        code = run([*shlex.split(words), *more])
        return code, capsys.readouterr().out

    return command


def unpacked(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project of a kept run, moved here as a person moves theirs: with their home."""
    root = tmp_path / "kept"
    with tarfile.open(KEPT / f"{name}.tar.gz") as archive:
        archive.extractall(root, filter="data")
    moved = (
        *root.rglob("home/**/*.json"),
        *root.rglob("worktrees/*/gitdir"),
        *root.glob("*/*/.git"),
    )
    for file in moved:
        file.write_text(file.read_text().replace("/kept/", f"{root}/"))
    monkeypatch.setenv("FOUNDRY_HOME", str(root / "home"))
    return root / "project"


def test_a_build_is_shown_searched_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, foundry: Command
) -> None:
    project = unpacked("build", tmp_path, monkeypatch)
    at = str(project)
    before = git(project, "rev-list", "--reverse", "HEAD").split()

    status = json.loads(foundry("status --json", at)[1])
    assert (status["status"], [task["state"] for task in status["tasks"]]) == (
        "paused",
        ["done"] * 5,
    )
    assert "builder[5]/task" in foundry("log --json", at)[1]
    assert "# Architecture" in foundry("show architecture --raw --dir", at)[1]
    assert "builder[2]/task" in foundry("memory search --json --dir", at, "JSON file")[1]

    assert foundry("resume --quiet", at)[0] == 0
    after = git(project, "rev-list", "--reverse", "HEAD").split()
    assert after[: len(before)] == before
    assert json.loads(foundry("status --json", at)[1])["status"] == "verified"


def test_a_circular_run_is_shown_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, foundry: Command, rehearsal: Any
) -> None:
    project = unpacked("circular", tmp_path, monkeypatch)
    at = str(project)
    script = plays({work(2): [write("b.py", "new()\n"), done()], doubt(2): [done()]})
    server = rehearsal(script)

    shown = json.loads(foundry("circular status --json", at)[1])
    assert [each["number"] for each in shown["iterations"]] == [1]

    assert foundry("circular resume --quiet --base-url", server.url, at)[0] == 0
    assert json.loads(foundry("status --json", at)[1])["status"] == "verified"
    (worktree,) = (project.parent / "project.foundry").glob("2*")
    assert (worktree / "b.py").read_text() == "new()\n"
