"""A build in an existing repository: beside the checkout, which stays as it is to the byte."""

import hashlib
import json
from pathlib import Path

import pytest

from foundry.errors import ProjectError
from foundry.schema.journal import StepRecord
from foundry.schema.run import Status
from tests.support.builds import Built, git, tree
from tests.support.rehearsals import SmallBuild, check, run, submit, write

REPORT = ".context-foundry/local/junit-unit.xml"


@pytest.fixture
def project(tmp_path) -> Path:
    """A repository with two branches, a tag, a stash, and every kind of file."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "kept.txt").write_text("kept\n")
    (folder / "edited.txt").write_text("as committed\n")
    (folder / "staged.txt").write_text("as committed\n")
    (folder / "deleted.txt").write_text("soon gone\n")
    (folder / ".gitignore").write_text("*.secret\nbuild/\n")
    (folder / "link").symlink_to("kept.txt")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "Begin")
    git(folder, "tag", "v1")
    git(folder, "branch", "other")
    (folder / "kept.txt").write_text("stashed\n")
    git(folder, "stash", "--quiet")
    (folder / "edited.txt").write_text("not staged\n")
    (folder / "staged.txt").write_text("staged\n")
    git(folder, "add", "staged.txt")
    (folder / "staged.txt").write_text("staged, then edited again\n")
    git(folder, "rm", "--quiet", "deleted.txt")
    (folder / "untracked.txt").write_text("untracked\n")
    (folder / "key.secret").write_text("ignored\n")
    (folder / "build").mkdir()
    (folder / "build" / "out.bin").write_bytes(bytes(range(256)))
    return folder


def snapshot(folder: Path) -> dict[str, str]:
    """A hash of every file, git's own included, with its permissions and its time.

    Left out is only what a branch beside has to add: objects, the branch's own files, and the
    memory where an earlier build made one, which is the project's and not a run's.
    """
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        added = (".git/objects", ".git/worktrees", ".context-foundry/local/memory.db")
        if name.startswith(added) or "/foundry" in name:
            continue
        stat = path.lstat()
        if path.is_symlink():
            content = str(path.readlink())
        elif path.is_file():
            content = f"{hashlib.sha256(path.read_bytes()).hexdigest()} {stat.st_mtime_ns}"
        else:
            content = "folder"
        found[name] = f"{stat.st_mode:o} {content}"
    return found


def refs(folder: Path) -> dict[str, str]:
    lines = git(folder, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split() for line in lines)


@pytest.mark.parametrize("broken", [False, True], ids=["smooth", "healed"])
def test_the_checkout_stays_byte_identical(build, project, broken):
    before, branches = snapshot(project), refs(project)
    built = build(SmallBuild(tasks=2, broken=broken), folder=project)
    assert built.ended.status is Status.VERIFIED
    assert snapshot(project) == before
    new = refs(project)
    [added] = set(new) - set(branches)
    assert {name: new[name] for name in branches} == branches
    run_id = built.journal[0].run
    assert added == f"refs/heads/foundry/{run_id}"
    assert built.project.root == project.parent / "project.foundry" / run_id
    assert git(project, "stash", "list").count("\n") == 1


def test_the_build_sees_what_is_committed_and_nothing_else(build, project):
    built = build(SmallBuild(tasks=1), folder=project)
    files = tree(built.project.root)
    assert files["edited.txt"] == b"as committed\n"
    assert files["deleted.txt"] == b"soon gone\n"
    assert not {"untracked.txt", "key.secret", "build/out.bin"} & set(files)
    assert {"hello-1.txt", "README.md", "test.sh"} <= set(files)
    assert (
        git(project, "merge-base", "main", built.repository.branch()).strip()
        == git(project, "rev-parse", "main").strip()
    )


def test_a_paused_and_resumed_build_leaves_it_alone_too(build, project):
    before = snapshot(project)
    built = build(SmallBuild(tasks=1), folder=project, pause_after=("builder",))
    assert built.ended.status is Status.PAUSED
    assert built.resume().status is Status.VERIFIED
    assert snapshot(project) == before


def test_a_refused_build_leaves_it_alone_too(build, project, tmp_path):
    (tmp_path / "person" / ".gitconfig").write_text("[safe]\n  directory = *\n")
    before, branches = snapshot(project), refs(project)
    with pytest.raises(ProjectError, match="git does not know who you are"):
        build(SmallBuild(tasks=1), folder=project)
    assert (snapshot(project), refs(project)) == (before, branches)
    assert not project.with_name("project.foundry").exists()


def test_a_worktree_that_can_not_be_made_leaves_no_branch(build, project):
    project.with_name("project.foundry").write_text("a file in the way\n")
    before, branches = snapshot(project), refs(project)
    with pytest.raises(ProjectError, match=r"project\.foundry"):
        build(SmallBuild(tasks=1), folder=project)
    assert (snapshot(project), refs(project)) == (before, branches)
    assert git(project, "worktree", "list").count("\n") == 1


# -- baseline --------------------------------------------------------------------------------------


def final(built: Built, step: str) -> dict[str, str]:
    found = [e for e in built.journal if isinstance(e, StepRecord) and e.step == step]
    return {each.name: each.status for each in found[-1].checks if each.kind != "verify"}


OLD = ".context-foundry/local/junit-old.xml"
BROKEN = f"""
echo '<testsuite><testcase name="long ago"><failure/></testcase></testsuite>' > {OLD}
exit 7
"""
OLD_FAILURE = {"test": [check("old", BROKEN, junit=OLD), check("new", "sh test.sh")]}


@pytest.fixture
def tested(project) -> Path:
    """The project, with a test.sh that passes."""
    git(project, "stash", "--quiet", "--include-untracked")
    (project / "test.sh").write_text("exit 0\n")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "Test")
    return project


def test_an_old_failure_is_reported_and_not_healed(build, tested):
    built = build(SmallBuild(tasks=1, checks=OLD_FAILURE), folder=tested)
    assert built.ended.status is Status.VERIFIED
    assert final(built, "baseline") == {"old": "failed", "new": "passed"}
    assert final(built, "test[1]/checks") == {"old": "preexisting", "new": "passed"}
    assert not {"test[1]/plan", "test[1]/fix"} & set(built.starts)
    report = built.project.artifact("test-final-report.md").read_text()
    assert "**Passed**" in report
    assert "## Failing since before this build\n\n- old: long ago" in report
    summary = json.loads(built.project.artifact("session-summary.json").read_text())
    assert (summary["tests"]["preexisting"], summary["tests"]["failing"]) == (1, 0)


def test_a_new_failure_beside_an_old_one_is_healed(build, tested):
    built = build(SmallBuild(tasks=1, checks=OLD_FAILURE, broken=True), folder=tested)
    assert built.ended.status is Status.VERIFIED
    assert final(built, "test[1]/checks") == {"old": "preexisting", "new": "failed"}
    assert final(built, "test[2]/checks") == {"old": "preexisting", "new": "passed"}
    assert "test[1]/fix" in built.starts


def test_an_old_failure_that_ends_differently_now_is_a_new_one(build, tested):
    command = "test -e hello-1.txt && exit 8; exit 7"
    built = build(SmallBuild(tasks=1, broken=True, heals=9,
                             checks={"test": [check("old", command)]}), folder=tested)  # fmt: skip
    assert built.ended.status is Status.UNVERIFIED
    assert final(built, "test[4]/checks") == {"old": "failed"}


UNIT = f"""
cat > {REPORT} <<END
<testsuite><testcase name="old"><failure/></testcase>
END
sh test.sh && echo '<testcase name="new"/>' >> {REPORT} ||
  echo '<testcase name="new"><failure/></testcase>' >> {REPORT}
echo '</testsuite>' >> {REPORT}
exit 1
"""


def test_test_ids_tell_a_new_failure_from_an_old_one(build, tested):
    checks = {"test": [check("unit", UNIT, junit=REPORT)]}
    built = build(SmallBuild(tasks=1, checks=checks, broken=True), folder=tested)
    assert built.ended.status is Status.VERIFIED
    assert final(built, "test[1]/checks") == {"unit": "failed"}
    assert final(built, "test[2]/checks") == {"unit": "preexisting"}
    results = built.project.artifact("test-results-iteration-1.md").read_text()
    assert "- failing: `new`" in results
    report = built.project.artifact("test-final-report.md").read_text()
    assert "- unit: old" in report


def test_checks_of_the_baseline_leave_no_trace(build, tested):
    checks = {"test": [check("unit", "echo junk > junk.txt; echo x >> kept.txt")]}
    built = build(SmallBuild(tasks=1, checks=checks), folder=tested)
    root = built.project.root
    assert built.ended.status is Status.VERIFIED
    assert not (root / "junk.txt").exists()
    assert (root / "kept.txt").read_text() == "kept\n"


# -- a second run ----------------------------------------------------------------------------------

README = write("README.md", "# Greetings\n\nMore than once.\n\n```sh\ncat hello-1.txt\n```\n")
AGAIN = {
    "builder[1]/task": [run("echo hello more >> hello-1.txt"), submit(summary="More.")],
    "docs": [README, submit(summary="README.")],
}


def test_a_second_run_moves_the_artifacts_of_the_first_into_history(build, tested):
    first = build(SmallBuild(tasks=1), folder=tested)
    old, branch = first.journal[0].run, first.repository.branch()
    log = first.project.artifact("build-log.md").read_text()
    (first.project.folder / "CONTEXT.md").write_text("kept by the person\n")
    git(first.project.root, "add", "--all")
    git(first.project.root, "commit", "--quiet", "-m", "Context")
    git(tested, "merge", "--quiet", branch)

    second = build(SmallBuild(tasks=1, scenes=AGAIN), folder=tested)
    assert second.ended.status is Status.VERIFIED
    project = second.project
    assert (project.folder / "history" / old / "build-log.md").read_text() == log
    assert (project.folder / "history" / old / "journal.jsonl").exists()
    assert (project.folder / "CONTEXT.md").read_text().startswith("kept by the person\n")
    assert {entry.run for entry in second.journal} == {second.journal[0].run} != {old}
    assert not (project.folder / "history" / old / "history").exists()
    committed = git(project.root, "ls-files", ".context-foundry/history").splitlines()
    assert f".context-foundry/history/{old}/session-summary.json" in committed
    assert git(project.root, "status", "--porcelain") == ""


def test_a_build_on_the_result_of_a_build_in_a_new_folder(build, tmp_path):
    first = build(SmallBuild(tasks=1), folder=tmp_path / "new")
    before = snapshot(tmp_path / "new")
    old = first.journal[0].run
    second = build(SmallBuild(tasks=1, scenes=AGAIN), folder=tmp_path / "new")
    assert second.ended.status is Status.VERIFIED
    assert second.project.root.parent == tmp_path / "new.foundry"
    assert snapshot(tmp_path / "new") == before
    assert (second.project.folder / "history" / old).is_dir()


def test_without_test_ids_nothing_failed_before(build, tested):
    """That a check ended alike tells nothing of what fails in it."""
    checks = {"test": [check("old", "exit 7")]}
    built = build(SmallBuild(tasks=1, broken=True, heals=9, checks=checks), folder=tested)
    assert built.ended.status is Status.UNVERIFIED
    assert final(built, "test[4]/checks") == {"old": "failed"}
