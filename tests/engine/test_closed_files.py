"""Files and folders whose permissions a command has taken away end no run."""

from pathlib import Path
from typing import Any

import pytest

from foundry.schema.journal import StepRecord
from foundry.schema.run import Status
from tests.support.builds import Built, git
from tests.support.rehearsals import SmallBuild, check, run, submit
from tests.support.scripts import by_script

pytestmark = pytest.mark.usefixtures("permissions")
LEAN = ("docs", "feedback")
FIRST = "builder[1]/task"


def building(*first: Any) -> SmallBuild:
    """A build whose first task begins with a command, and ends with another after a refusal."""
    before, after = first
    turns = [run(before), *SmallBuild().builder(1), run(after), submit(summary="Mended.")]
    return SmallBuild(scenes={FIRST: turns})


def rejections(built: Built) -> str:
    records = [e for e in built.journal if isinstance(e, StepRecord) and e.step == FIRST]
    return "\n".join(records[0].rejections)


CLOSED = {
    "a file": ("echo x > secret.txt; chmod 000 secret.txt", "chmod 644 secret.txt", "secret.txt"),
    "a folder": (
        "mkdir -p cache/a; echo x > cache/a/f; chmod 000 cache/a", "chmod 755 cache/a", "cache/a",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("close", "open_", "name"), CLOSED.values(), ids=CLOSED)
def test_the_model_is_told_what_would_not_be_committed(
    build: Any, close: str, open_: str, name: str
) -> None:
    built = build(building(close, open_), skip=LEAN)
    assert built.ended.status is Status.VERIFIED, built.ended.reason
    assert f"{name} can't be read" in rejections(built)
    assert name in git(built.folder, "ls-files")
    assert built.repository.changes() == ()


def test_what_git_ignores_may_be_closed(build: Any) -> None:
    close = "echo secret.txt > .gitignore; echo x > secret.txt; chmod 000 secret.txt"
    scene = [run(close), *SmallBuild().builder(1)]
    built = build(SmallBuild(scenes={FIRST: scene}), skip=LEAN)
    assert built.ended.status is Status.VERIFIED, built.ended.reason
    assert rejections(built) == ""
    assert (built.folder / "secret.txt").exists()


def test_a_step_that_never_mends_it_leaves_a_patch(build: Any) -> None:
    never = [run("echo x > secret.txt; chmod 000 secret.txt"), *SmallBuild().builder(1)]
    turns = [*never, *[submit(summary="Still closed.")] * 20]
    built = build(SmallBuild(scenes={FIRST: turns}), skip=LEAN)
    assert built.ended.status is Status.FAILED
    assert not (built.folder / "secret.txt").exists()
    patches = sorted(built.project.salvage.glob("*.patch"))
    assert "+x\n" in patches[0].read_text()
    assert built.repository.changes() == ()


LEFT = {
    "a read-only folder": "mkdir -p ro/x; echo x > ro/x/f; chmod 555 ro/x",
    "a closed folder": "mkdir -p ro/x; echo x > ro/x/f; chmod 000 ro/x",
    "a closed file": "mkdir ro; echo x > ro/f; chmod 000 ro/f",
    "a closed file of the project": "chmod 000 test.sh",
    "a read-only copy of git's": "mkdir -p ro; cp -r .git ro/.git; chmod -R a-w ro",
}


@pytest.mark.parametrize("command", LEFT.values(), ids=LEFT)
def test_what_a_check_leaves_behind_goes_away(build: Any, command: str) -> None:
    checks = {"test": [check("greetings", f"sh test.sh && {{ test -d ro || {{ {command}; }} }}")]}
    built = build(SmallBuild(checks=checks), skip=LEAN)
    assert built.ended.status is Status.VERIFIED, built.ended.reason
    assert not (built.folder / "ro").exists()
    assert (built.folder / "test.sh").read_text()
    assert built.repository.changes() == ()
    run_folder = Path(built.project.root).parent / "home" / "runs" / built.journal[0].run
    assert not (run_folder / "copy").exists()


ODD = "touch \"$(printf 'caf\\351')\""


def test_a_check_that_leaves_a_name_that_is_not_utf8(build: Any) -> None:
    checks = {"test": [check("greetings", f"sh test.sh; {ODD}")]}
    built = build(SmallBuild(checks=checks), skip=LEAN)
    assert built.ended.status is Status.VERIFIED, built.ended.reason
    results = built.project.artifact("test-results-iteration-1.md").read_text()
    assert "caf\\xe9" in results


def test_a_person_may_add_a_name_that_is_not_utf8(build: Any) -> None:
    built = build(SmallBuild(), skip=LEAN, pause_after=("architect",))
    (built.folder / "caf\udce9.txt").write_text("by hand\n")
    assert built.resume().status is Status.VERIFIED
    changes = [entry.changes for entry in built.journal if entry.kind == "resume"]
    assert changes == [("caf\\xe9.txt",)]
    assert git(built.folder, "-c", "core.quotePath=false", "ls-files").count("caf") == 1


def test_what_a_model_puts_among_the_artifacts_goes(build: Any) -> None:
    made = "echo mine > .context-foundry/mine.md; echo mine > .context-foundry/local/mine.txt"
    scene = [by_script(made), *SmallBuild().builder(1)]
    built = build(SmallBuild(scenes={FIRST: scene}), skip=LEAN)
    assert built.ended.status is Status.VERIFIED, built.ended.reason
    assert not built.project.artifact("mine.md").exists()
    assert (built.project.local / "mine.txt").read_text() == "mine\n"
    assert "mine" not in git(built.folder, "log", "--all", "--name-only", "--format=")
