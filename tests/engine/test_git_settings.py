"""What a command does to the repository's settings neither ends a run nor steers it."""

import json
from pathlib import Path
from typing import Any

import pytest

from foundry.errors import ProjectError
from foundry.schema.events import Note
from foundry.schema.run import Status
from foundry.store.git.config import with_daily_of
from tests.support.builds import Built, git
from tests.support.rehearsals import SmallBuild
from tests.support.scripts import by_script

LEAN = ("docs", "feedback")
CHANGES = {
    "core.worktree": "git config core.worktree /tmp",
    "core.bare": "git config core.bare true",
    "a damaged file": "echo '[core' > .git/config",
    "no file": "rm .git/config",
    "a folder": "rm .git/config; mkdir .git/config",
    "a pipe": "rm .git/config; mkfifo .git/config",
    "a closed file": "chmod 000 .git/config",
    "another identity": "git config user.name Mallory; git config user.email m@example.org",
    "an include": "printf '[core]\\n\\tbare = true\\n' > .git/x; git config include.path x",
}


def building(command: str) -> SmallBuild:
    first, middle, last = SmallBuild().builder(1)
    return SmallBuild(scenes={"builder[1]/task": [by_script(command), first, middle, last]})


def settings(folder: Path) -> str:
    return (folder / ".git" / "config").read_text()


@pytest.mark.usefixtures("permissions")
@pytest.mark.parametrize("command", CHANGES.values(), ids=CHANGES)
def test_they_are_put_back_and_the_person_is_told(build: Any, command: str) -> None:
    built: Built = build(building(command), skip=LEAN)
    assert built.ended.status is Status.VERIFIED, built.ended.reason
    (kept,) = json.loads(kept_file(built).read_text()).values()
    assert settings(built.folder) == kept
    told = [event.text for event in built.events if isinstance(event, Note)]
    assert [text for text in told if ".git/config" in text]
    assert set(git(built.folder, "log", "--format=%an").split()) == {"Ada"}


def kept_file(built: Built) -> Path:
    return built.folder.parent / "home" / "runs" / built.journal[0].run / "git-config.json"


def test_no_filter_of_the_model_runs(build: Any, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    command = (
        "echo '* filter=x' > .gitattributes; "
        f"git config filter.x.clean 'env >> {seen}; cat'; git config filter.x.required true"
    )
    built: Built = build(building(command), skip=LEAN)
    assert built.ended.status is Status.VERIFIED, built.ended.reason
    assert not seen.exists()


def test_git_sees_no_key_of_a_model(build: Any, tmp_path: Path, monkeypatch: Any) -> None:
    seen = tmp_path / "seen"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-not-for-git")
    (tmp_path / "project").mkdir()
    project = tmp_path / "project"
    git(project, "init", "--quiet")
    git(project, "config", "filter.x.clean", f"env >> {seen}; cat")
    (project / ".gitattributes").write_text("* filter=x\n")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "Begin")
    seen.unlink()
    built: Built = build(SmallBuild(), skip=LEAN)
    assert built.ended.status is Status.VERIFIED, built.ended.reason
    assert "FOUNDRY_GIT=" in seen.read_text()  # a person's own filter does run
    assert "sk-not-for-git" not in seen.read_text()


def test_a_damaged_link_of_a_work_tree_is_put_back(build: Any, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "--quiet")
    git(project, "commit", "--quiet", "--allow-empty", "-m", "Begin")
    built: Built = build(building("rm .git"), skip=LEAN)
    assert built.ended.status is Status.VERIFIED, built.ended.reason


def test_a_repository_that_is_gone_is_told_clearly(build: Any, rehearsal: Any) -> None:
    script = building("rm -rf .git")
    with pytest.raises(ProjectError, match=r"no git repository any more: its \.git was removed"):
        build(script, skip=LEAN)


def test_a_repository_that_was_replaced_is_told_clearly(
    build: Any, rehearsal: Any, tmp_path: Path
) -> None:
    built: Built = build(SmallBuild(), skip=LEAN, pause_after=("builder",))
    git(built.folder, "init", "--quiet", "--separate-git-dir", str(tmp_path / "old"))
    (built.folder / ".git").unlink()
    git(built.folder, "init", "--quiet")
    with pytest.raises(ProjectError, match="does not hold this run's commits"):
        built.resume()


KEPT = "[core]\n\tbare = false\n[user]\n\tname = Ada\n"
DAILY = '[branch "topic"]\n\tremote = origin\n\tmerge = refs/heads/topic\n'
REMOTE = '[remote "origin"]\n\turl = https://example.org/x.git\n\tfetch = +refs/heads/*:refs/x/*\n'
ROWS = {
    "the same": (KEPT, KEPT),
    "an upstream": (KEPT + DAILY, KEPT + DAILY),
    "a remote": (KEPT + REMOTE, KEPT + REMOTE),
    "less": ("[core]\n\tbare = true\n", KEPT),
    "more": (KEPT + '[filter "x"]\n\tclean = evil\n' + DAILY, KEPT + DAILY),
    "in one line": (KEPT + '[branch "x"] [core] bare = true\n', KEPT),
    "a value that goes on": (KEPT + '[branch "x"]\n\tremote = a\\\n[core]\n', KEPT),
    "a program": (KEPT + '[remote "x"]\n\treceivepack = evil\n', KEPT + '[remote "x"]\n'),
}


@pytest.mark.parametrize(("now", "wanted"), ROWS.values(), ids=ROWS)
def test_what_git_writes_in_daily_work_stays(now: str, wanted: str) -> None:
    assert with_daily_of(KEPT, now).replace('[branch "x"]\n', "") == wanted
