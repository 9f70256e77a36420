"""Exactly once: a build that is killed anywhere goes on as if nothing had happened.

Every row of KILLS is a place where SIGKILL strikes the real command line. After `foundry resume`
the run is verified, every accepted step has one commit, was asked of the model once, and what the
dead step had made is in a patch.
"""

import json
import os
import shutil
import signal
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from foundry.model.rehearsal import faults
from foundry.model.rehearsal.script import Turn, assistant_turns, call, turn
from foundry.model.rehearsal.server import RehearsalServer
from foundry.store import journal
from foundry.store.git.repository import Repository
from foundry.store.lock import is_locked
from foundry.store.project import Project
from tests.support.builds import git, starts, step_of, steps, tree
from tests.support.crash import Blocker, Child, Kill, alive, strays
from tests.support.rehearsals import SPEC, SmallBuild, run, submit, write
from tests.support.scripts import by_script

TASK = "builder[2]/task"
LEAN = ("--skip", "docs", "--skip", "feedback")
SCRATCH_LOCK = ".git/foundry-index.lock"
BINARY = bytes([0, 1, 255, 10, 13, 10, 128])
ODD = "caf\N{LATIN SMALL LETTER E WITH ACUTE} \N{SNOWMAN}.txt"
STEPS = ["scout", "architect", "builder[1]/task", TASK, "test[1]/checks", "test[1]/review"]
TEST = SmallBuild().builder(1)[0].content[2]["input"]["content"]

RESULT = {
    "hello-1.txt": b"hello 1\nhello again\n",
    "hello-2.txt": b"hello 2\nno newline at the end",
    "blob.bin": BINARY,
    ODD: b"crlf\r\n\xe9\n",
    "test.sh": TEST.encode(),
}


def second_task(*more: Turn) -> list[Turn]:
    """Partial work that a patch can lose: binary, no last newline, CRLF, Latin-1, an odd name."""
    return [
        turn(
            call("write_file", path="hello-2.txt", content="hello 2\nno newline at the end"),
            call("run_command", command=r"printf '\000\001\377\n\r\n\200' > blob.bin"),
            call("run_command", command=rf"printf 'crlf\r\n\351\n' > '{ODD}'"),
        ),
        *more,
        submit(summary="hello-2.txt greets."),
    ]


def lean(**more: Any) -> SmallBuild:
    return SmallBuild(scenes={TASK: second_task()}, **more)


@dataclass
class Crash:
    """One build in `folder`, its server, and the processes that work on it."""

    tmp: Path
    server: RehearsalServer
    options: Sequence[str] = LEAN
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.tmp / "project"

    def build(self, kill: Kill | None = None, *more: str) -> Child:
        words = ["build", SPEC, "--dir", str(self.folder), "--base-url", self.server.url]
        return self.start(*words, *self.options, *more, kill=kill)

    def resume(self, *more: str, kill: Kill | None = None) -> Child:
        return self.start("resume", str(self.folder), *more, kill=kill)

    def start(self, *arguments: str, kill: Kill | None = None) -> Child:
        scratch = self.tmp / "tmp"
        scratch.mkdir(exist_ok=True)
        env = {"TMPDIR": str(scratch), **self.env}
        return Child([*arguments, "--quiet"], log=self.tmp / "log", kill=kill, env=env)

    def killed(self, kill: Kill, *more: str) -> None:
        child = self.build(kill, *more)
        assert child.wait() == -signal.SIGKILL, f"{kill} was not reached: {child.output}"

    def finished(self) -> None:
        child = self.resume()
        assert child.wait() == 0, child.output

    @property
    def root(self) -> Path:
        """Where the run works: in the work tree beside the folder, or in the folder itself."""
        lines = self.tmp.glob("project.foundry/*/.context-foundry/journal.jsonl")
        begun = [path.parents[1] for path in lines if b"\n" in path.read_bytes()]
        return begun[0] if begun else self.folder

    @property
    def patches(self) -> list[Path]:
        return sorted((self.root / ".context-foundry" / "local" / "salvage").glob("*.patch"))


@pytest.fixture
def crash(tmp_path: Path, rehearsal: Any) -> Callable[..., Crash]:
    def prepare(script: Any = None, **options: Any) -> Crash:
        return Crash(tmp_path, rehearsal(script or lean()), **options)

    return prepare


def assert_exactly_once(
    crash: Crash, *, twice: Sequence[str] = (), expected: Sequence[str] = STEPS
) -> None:
    root = crash.root
    entries = journal.read(root / ".context-foundry" / "journal.jsonl")
    assert steps(entries) == list(expected)
    commits = Repository(root).commits(entries[0].run)
    assert [c.step for c in commits] == [e.step if e.kind == "step" else "" for e in entries]
    for number, commit in enumerate(commits, 1):
        held = git(root, "show", f"{commit.sha}:.context-foundry/journal.jsonl")
        assert held.count("\n") == number, f"{commit.subject} holds another number of lines"
    asked = starts(crash.server)
    conversations = [step for step in expected if not step.endswith(("/checks", "proof"))]
    assert sorted(asked) == sorted([*conversations, *twice])
    assert git(root, "status", "--porcelain") == ""
    git(root, "fsck", "--strict", "--no-dangling")
    assert_nothing_left(crash)


def assert_nothing_left(crash: Crash) -> None:
    assert strays(crash.tmp) == []
    assert [p for p in crash.folder.joinpath(".git").rglob("*") if p.name.endswith(".lock")] == []
    assert list((crash.tmp / "home").glob("runs/*/running.json")) == []
    assert not is_locked(Project(crash.root))


def assert_salvaged(crash: Crash, patch: Path, wanted: Mapping[str, bytes]) -> None:
    """The patch brings back the work where the step had begun: on the commit before its own."""
    before = git(crash.root, "log", "-1", "--format=%H", f"--grep=Foundry-Step: {TASK}", "-F")
    copy = crash.tmp / "copy"
    git(crash.tmp, "clone", "--quiet", str(crash.root), str(copy))
    git(copy, "checkout", "--quiet", f"{before.strip()}~1")
    git(copy, "apply", "--check", str(patch))
    git(copy, "apply", str(patch))
    assert {name: (copy / name).read_bytes() for name in wanted} == dict(wanted)
    shutil.rmtree(copy)


# -- inside accept ---------------------------------------------------------------------------

ARTIFACT, GIT = "foundry.files:atomic_write", "foundry.store.git.repository:Repository"
APPEND, WRITE = "foundry.store.journal:append", "foundry.files:_write_whole"

UNACCEPTED = {
    "before the artifact": Kill(ARTIFACT, "before", inside=TASK),
    "before the artifact is renamed": Kill("os:fsync", "before", inside=TASK),
    "after the artifact": Kill(ARTIFACT, "after", inside=TASK),
    "after staging": Kill(f"{GIT}.stage_all", "after", inside=TASK),
    "before the line": Kill(APPEND, "before", inside=TASK),
    "within the line": Kill(WRITE, "torn", inside=TASK),
}
ACCEPTED = {
    "before the line is synced": Kill(WRITE, "after", inside=TASK),
    "after the line": Kill(APPEND, "after", inside=TASK),
    "after the line is staged": Kill(f"{GIT}.stage", "after", inside=TASK),
    "before the commit": Kill(f"{GIT}.commit", "before", inside=TASK),
    "after the commit": Kill(f"{GIT}.commit", "after", inside=TASK),
    "after accept": Kill("foundry.engine.accept:accept", "after", words=f"step='{TASK}'"),
}


@pytest.mark.parametrize("kill", UNACCEPTED.values(), ids=UNACCEPTED)
def test_a_step_that_is_not_yet_accepted_is_done_again(crash: Any, kill: Kill) -> None:
    crashed = crash()
    crashed.killed(kill)
    crashed.finished()
    assert_exactly_once(crashed, twice=[TASK])
    assert tree(crashed.folder) == RESULT
    (patch,) = crashed.patches
    assert_salvaged(crashed, patch, {k: v for k, v in RESULT.items() if k != "test.sh"})


@pytest.mark.parametrize("kill", ACCEPTED.values(), ids=ACCEPTED)
def test_an_accepted_step_is_not_done_again(crash: Any, kill: Kill) -> None:
    crashed = crash()
    crashed.killed(kill)
    crashed.finished()
    assert_exactly_once(crashed)
    assert tree(crashed.folder) == RESULT
    assert crashed.patches == []


OTHERS = {
    "between Scout's artifacts": (Kill(ARTIFACT, "after", inside="scout"), ["scout"]),
    "within Scout's line": (Kill(WRITE, "torn", inside="scout"), ["scout"]),
    "before Architect's commit": (Kill(f"{GIT}.commit", "before", inside="architect"), []),
    "between the results": (Kill(ARTIFACT, "after", inside="test[1]/checks", nth=2), []),
    "within the results' line": (Kill(WRITE, "torn", inside="test[1]/checks"), []),
    "after the results' line": (Kill(APPEND, "after", inside="test[1]/checks"), []),
    "between the summaries": (Kill(ARTIFACT, "after", inside="stop"), []),
    "before the stop's line": (Kill(APPEND, "before", inside="stop"), []),
    "within the stop's line": (Kill(WRITE, "torn", inside="stop"), []),
    "after the stop's line": (Kill(APPEND, "after", inside="stop"), []),
    "after the stop's commit": (Kill(f"{GIT}.commit", "after", inside="stop"), []),
    "after the start's line": (Kill(APPEND, "after", inside="start"), []),
    "before the first commit": (Kill(f"{GIT}.commit", "before", inside="start"), []),
    "after the first commit": (Kill(f"{GIT}.commit", "after", inside="start"), []),
}


@pytest.mark.parametrize(("kill", "twice"), OTHERS.values(), ids=OTHERS)
def test_every_other_entry_is_accepted_once(crash: Any, kill: Kill, twice: list[str]) -> None:
    crashed = crash()
    crashed.killed(kill)
    crashed.finished()
    assert_exactly_once(crashed, twice=twice)
    assert tree(crashed.folder) == RESULT


NOT_BEGUN = {
    "before the repository": Kill(f"{GIT}.init", "before"),
    "after the repository": Kill(f"{GIT}.init", "after"),
    "before the start's line": Kill(APPEND, "before", inside="start"),
    "within the start's line": Kill(WRITE, "torn", inside="start"),
}


@pytest.mark.parametrize("kill", NOT_BEGUN.values(), ids=NOT_BEGUN)
def test_a_run_that_never_began_is_begun_again(crash: Any, kill: Kill) -> None:
    crashed = crash()
    crashed.killed(kill)
    nothing = crashed.resume()
    assert nothing.wait() == 1
    assert "foundry build" in nothing.output
    again = crashed.build()
    assert again.wait() == 0, again.output
    assert_exactly_once(crashed)
    assert tree(crashed.folder) == RESULT


RESUMED = {
    "before the line": Kill(APPEND, "before", inside="resume"),
    "within the line": Kill(WRITE, "torn", inside="resume"),
    "after the line": Kill(APPEND, "after", inside="resume"),
    "after the commit": Kill(f"{GIT}.commit", "after", inside="resume"),
}


@pytest.mark.parametrize("kill", RESUMED.values(), ids=RESUMED)
def test_what_a_person_made_while_it_paused_outlives_a_killed_resume(
    crash: Any, kill: Kill
) -> None:
    crashed = crash()
    paused = crashed.build(None, "--pause-after", "architect")
    assert paused.wait() == 4, paused.output
    crashed.folder.joinpath("notes.md").write_text("by hand\n")
    assert crashed.resume(kill=kill).wait() == -signal.SIGKILL
    crashed.finished()
    assert_exactly_once(crashed)
    assert tree(crashed.folder) == {**RESULT, "notes.md": b"by hand\n"}
    assert crashed.patches == []


RECOVERING = {
    "before the patch": Kill(ARTIFACT, "before", words="salvage"),
    "after the patch": Kill(ARTIFACT, "after", words="salvage"),
    "after the tree is restored": Kill(f"{GIT}.restore", "after"),
}


@pytest.mark.parametrize("kill", RECOVERING.values(), ids=RECOVERING)
def test_a_resume_that_is_killed_while_it_salvages(crash: Any, kill: Kill) -> None:
    crashed = crash()
    crashed.killed(UNACCEPTED["before the line"])
    assert crashed.resume(kill=kill).wait() == -signal.SIGKILL
    crashed.finished()
    assert_exactly_once(crashed, twice=[TASK])
    wanted = {k: v for k, v in RESULT.items() if k != "test.sh"}
    assert_salvaged(crashed, crashed.patches[0], wanted)


def test_a_resume_that_is_killed_while_it_reads_the_tree(crash: Any) -> None:
    crashed = crash()
    crashed.killed(ACCEPTED["after the line"])
    wrapped = with_git(crashed, "read-tree", f"kill -9 $PPID; : > {SCRATCH_LOCK}; exit 1")
    assert wrapped.resume().wait() == -signal.SIGKILL
    crashed.finished()
    assert_exactly_once(crashed)


def test_a_failed_attempt_is_journalled_once(crash: Any) -> None:
    refused = turn(call("read_file", path="test.sh"), fault=faults.stop("refusal"))
    crashed = crash(SmallBuild(scenes={TASK: second_task(refused)}))
    crashed.killed(Kill(APPEND, "after", inside=TASK))
    crashed.finished()
    assert_exactly_once(crashed, twice=[TASK])
    (patch,) = crashed.patches
    assert_salvaged(crashed, patch, {"blob.bin": BINARY})


# -- in the middle of git --------------------------------------------------------------------


def with_git(crash: Crash, words: str, action: str) -> Crash:
    """The same build with a `git` on the PATH that does `action` at its first call with `words`."""
    folder = crash.tmp / "bin"
    folder.mkdir()
    os.mkfifo(folder / "done")
    script = folder / "git"
    script.write_text(f"""\
#!/bin/sh
real() {{ {shutil.which("git")} "$@"; }}
case "$*" in *"{words}"*) if mkdir {folder}/met 2>/dev/null; then
  {action}
fi;; esac
real "$@"
""")
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    env = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    return Crash(crash.tmp, crash.server, crash.options, env)


LOCKS = "for name in index HEAD refs/heads/main; do : > .git/$name.lock; done"
COMMIT = f"Foundry-Step: {TASK}"


def test_killed_together_with_a_git_that_held_its_locks(crash: Any) -> None:
    crashed = crash()
    child = with_git(crashed, COMMIT, f"kill -9 $PPID; {LOCKS}; exit 1").build()
    assert child.wait() == -signal.SIGKILL
    crashed.finished()
    assert_exactly_once(crashed)
    assert crashed.patches == []


def test_a_git_that_outlives_the_harness_is_ended(crash: Any) -> None:
    """Else it would commit, or hold its locks, while the resumed run works."""
    crashed = crash()
    holds = f": > .git/index.lock; kill -9 $PPID; echo $$ > {crashed.tmp}/bin/done; sleep 1000"
    child = with_git(crashed, COMMIT, holds).build()
    pid = int((crashed.tmp / "bin" / "done").read_text())
    assert child.wait() == -signal.SIGKILL
    assert alive(pid)
    crashed.finished()
    assert not alive(pid)
    assert_exactly_once(crashed)


def test_killed_while_git_goes_on_and_commits(crash: Any) -> None:
    crashed = crash()
    action = f'kill -9 $PPID; real "$@"; echo > {crashed.tmp}/bin/done; exit'
    child = with_git(crashed, COMMIT, action).build()
    assert child.wait() == -signal.SIGKILL
    (crashed.tmp / "bin" / "done").read_text()
    crashed.finished()
    assert_exactly_once(crashed)


def test_killed_before_git_tells_that_it_has_committed(crash: Any) -> None:
    crashed = crash()
    child = with_git(crashed, COMMIT, 'real "$@"; kill -9 $PPID; exit').build()
    assert child.wait() == -signal.SIGKILL
    crashed.finished()
    assert_exactly_once(crashed)


# -- in the middle of a step -----------------------------------------------------------------


def test_killed_in_a_model_call(crash: Any) -> None:
    asked = Event()
    script = SmallBuild(
        scenes={TASK: second_task(turn(call("list_files"), fault=faults.stall()))}
    )()

    def noticed(request: Mapping[str, Any]) -> Turn:
        if step_of(request) == TASK and assistant_turns(request) == 1:
            asked.set()
        return script(request)

    crashed = crash(noticed)
    child = crashed.build()
    assert asked.wait(60)
    child.signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    crashed.finished()
    assert_exactly_once(crashed, twice=[TASK])
    (patch,) = crashed.patches
    assert_salvaged(crashed, patch, {"blob.bin": BINARY})


def in_a_tool(first: str = "true") -> Callable[[Blocker], SmallBuild]:
    def script(blocker: Blocker) -> SmallBuild:
        return SmallBuild(scenes={TASK: second_task(run(blocker.command(first)))})

    return script


def in_the_checks(blocker: Blocker) -> SmallBuild:
    checks = {"test": [{"name": "greetings", "command": f"{blocker.command()}; sh test.sh"}]}
    return SmallBuild(scenes={TASK: second_task()}, checks=checks)


def in_the_docs(blocker: Blocker) -> SmallBuild:
    readme = write("README.md", f"# Greetings\n\n```sh\n{blocker.command()}\n```\n")
    return SmallBuild(scenes={TASK: second_task(), "docs": [readme, submit(summary="README.")]})


IN_A_TOOL = {
    "a tool call": "true",
    "a tool call after its own commit": "git checkout -q -b mine; git add -A; git commit -qm mine",
    "a tool call after it amended a commit": "git add -A; git commit -q --amend --no-edit",
    "a tool call after it left the branch": "git checkout -q --detach",
    "a tool call after it dropped commits": "git add -A; git reset -q --soft HEAD~2",
    "a tool call after it rewound the journal": "git checkout -q HEAD~2 -- .context-foundry",
}
MIDDLE = {
    **{name: (in_a_tool(first), [TASK]) for name, first in IN_A_TOOL.items()},
    "the checks": (in_the_checks, []),
    "the commands of the documentation": (in_the_docs, ["docs"]),
}


@pytest.mark.parametrize(("script", "twice"), MIDDLE.values(), ids=MIDDLE)
def test_killed_in_the_middle_of_a_command(
    crash: Any, tmp_path: Path, script: Callable[[Blocker], SmallBuild], twice: list[str]
) -> None:
    blocker = Blocker.make(tmp_path / "blocker")
    crashed = crash(script(blocker), options=("--skip", "feedback"))
    child = crashed.build()
    pid = blocker.wait()
    child.signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    assert alive(pid)
    crashed.finished()
    assert not alive(pid)
    assert_exactly_once(crashed, twice=twice, expected=[*STEPS, "docs", "docs-review", "proof"])
    assert git(crashed.folder, "branch", "--show-current") == "main\n"
    if TASK in twice:
        (patch,) = crashed.patches
        assert_salvaged(crashed, patch, {"blob.bin": BINARY})


LOSES = {
    "began an orphan branch": "git checkout -q --orphan x",
    "emptied an orphan branch": "git checkout -q --orphan x && git rm -rfq .",
    "removed the artifacts": "rm -rf .context-foundry",
    "put a pipe for the journal": "cd .context-foundry && rm journal.jsonl && mkfifo journal.jsonl",
    "reset to the first commit": "git reset -q --hard $(git rev-list --max-parents=0 HEAD)",
    "reset and removed our ref": "git reset -q --hard HEAD~2 && git for-each-ref "
    "--format='delete %(refname)' refs/worktree | git update-ref --stdin",
    "reset and removed the logs": "git reset -q --hard HEAD~2 && rm -rf .git/logs",
    "reset and pruned": "git reset -q --soft HEAD~1 && git reflog expire --expire=now --all && "
    "git gc -q --prune=now",
    "deleted the branch": "git checkout -q --detach && git branch -qD main",
    "closed a file": "echo x > closed.txt && chmod 000 closed.txt",
    "closed a folder": "mkdir closed && echo x > closed/f && chmod 000 closed",
    "closed what it had made": "chmod 000 blob.bin",
    "made a folder read-only": "mkdir ro && echo x > ro/f && chmod 555 ro",
    "made a nested repository": "git init -q nested && echo x > nested/f && chmod -R a-w nested",
    "turned the settings": "git config core.bare true",
}
"""What the command in flight did, by itself, to what resume needs."""


@pytest.mark.usefixtures("permissions")
@pytest.mark.parametrize("first", LOSES.values(), ids=LOSES)
def test_killed_after_a_model(crash: Any, tmp_path: Path, first: str) -> None:
    blocker = Blocker.make(tmp_path / "blocker")
    blocks = by_script(blocker.command(f"({first})"))
    task = [*second_task()[:-1], blocks, *second_task()[1:]]
    crashed = crash(SmallBuild(scenes={TASK: task}))
    child = crashed.build()
    pid = blocker.wait()
    child.signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    crashed.finished()
    assert not alive(pid)
    assert_exactly_once(crashed, twice=[TASK])
    assert tree(crashed.folder) == RESULT
    assert git(crashed.folder, "branch", "--show-current") == "main\n"
    (patch,) = crashed.patches
    assert "hello-2.txt" in patch.read_text(errors="replace")


def test_killed_after_a_model_threw_accepted_work_away(crash: Any, tmp_path: Path) -> None:
    blocker = Blocker.make(tmp_path / "blocker")
    crashed = crash(in_a_tool("git reset -q --hard HEAD~2")(blocker), options=LEAN)
    child = crashed.build()
    blocker.wait()
    child.signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    crashed.finished()
    assert_exactly_once(crashed, twice=[TASK])
    assert tree(crashed.folder) == RESULT


LIBRARY = "home/patterns/common-issues.json"
LEARNING = {
    "before": Kill(ARTIFACT, "before", words=LIBRARY),
    "after": Kill(ARTIFACT, "after", words=LIBRARY),
}


@pytest.mark.parametrize("kill", LEARNING.values(), ids=LEARNING)
def test_killed_while_the_library_learns(crash: Any, kill: Kill) -> None:
    crashed = crash(options=("--skip", "docs"))
    crashed.killed(kill)
    crashed.finished()
    assert_exactly_once(crashed, twice=["feedback"], expected=[*STEPS, "feedback"])
    library = crashed.tmp / "home" / "patterns"
    learned = (library / "common-issues.json").read_text()
    assert learned.count("A misspelt word passes a check") == 1
    run_id = journal.read(crashed.folder / ".context-foundry" / "journal.jsonl")[0].run
    assert learned.count(run_id) == 1


# -- in an existing repository ---------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A person's repository in the middle of their work."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / ".gitignore").write_text("ignored/\n")
    for name in ("kept.txt", "staged.txt", "unstaged.txt"):
        (folder / name).write_text("as committed\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "Begin")
    (folder / "staged.txt").write_text("staged\n")
    git(folder, "add", "staged.txt")
    (folder / "unstaged.txt").write_text("unstaged\n")
    (folder / "untracked.bin").write_bytes(BINARY)
    (folder / "ignored").mkdir()
    (folder / "ignored" / "secret").write_text("key\n")
    (folder / "link").symlink_to("kept.txt")
    return folder


def state(folder: Path) -> dict[str, bytes]:
    """The checkout: every file, the index and HEAD, byte by byte."""
    names = ("index", "HEAD", "refs/heads/main")
    held = {f".git/{name}": (folder / ".git" / name).read_bytes() for name in names}
    return {**tree(folder), **held}


IN_A_WORKTREE = {
    "within the line": (Kill(WRITE, "torn", inside=TASK), [TASK]),
    "before the commit": (Kill(f"{GIT}.commit", "before", inside=TASK), []),
    "within the baseline's line": (Kill(WRITE, "torn", inside="baseline"), []),
    "after the start's line": (Kill(APPEND, "after", inside="start"), []),
}
BASED = ["scout", "baseline", *STEPS[1:]]


@pytest.mark.parametrize(("kill", "twice"), IN_A_WORKTREE.values(), ids=IN_A_WORKTREE)
def test_a_checkout_stays_as_it_is(
    crash: Any, checkout: Path, kill: Kill, twice: list[str]
) -> None:
    before = state(checkout)
    crashed = crash()
    crashed.killed(kill)
    assert state(checkout) == before
    crashed.finished()
    assert state(checkout) == before
    asked = [step for step in BASED if step not in ("baseline", "test[1]/checks")]
    assert sorted(starts(crashed.server)) == sorted([*asked, *twice])
    assert_once_in_worktree(crashed)


LEAVES = {
    "reset to the base": "git reset -q --hard HEAD~5",
    "left the branch": "git checkout -q --detach HEAD~4",
    "went to another branch": "git checkout -q -b other HEAD~4",
    "removed its link": "rm .git",
}


@pytest.mark.usefixtures("permissions")
@pytest.mark.parametrize("place", ["beside", "within"])
@pytest.mark.parametrize("first", LEAVES.values(), ids=LEAVES)
def test_killed_after_a_model_left_its_work_tree(
    crash: Any, checkout: Path, tmp_path: Path, first: str, place: str
) -> None:
    blocker = Blocker.make(tmp_path / "blocker")
    blocks = by_script(blocker.command(f"({first})"))
    task = [*second_task()[:-1], blocks, *second_task()[1:]]
    before = state(checkout)
    crashed = crash(SmallBuild(scenes={TASK: task}))
    child = crashed.build()
    blocker.wait()
    child.signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    (root,) = tmp_path.glob("project.foundry/*/")
    resumed = crashed.start("resume", str(checkout if place == "beside" else root))
    assert resumed.wait() == 0, resumed.output
    assert_once_in_worktree(crashed)
    assert state(checkout) == before


def test_a_project_that_ignores_our_folder(crash: Any, checkout: Path) -> None:
    (checkout / ".gitignore").write_text("ignored/\n.context-foundry/\n")
    git(checkout, "commit", "-q", "-am", "Ignore it")
    crashed = crash()
    crashed.killed(ACCEPTED["after the line"])
    crashed.finished()
    assert_once_in_worktree(crashed)
    held = git(crashed.root, "ls-tree", "-r", "--name-only", "HEAD")
    assert ".context-foundry/tasks.json" in held
    assert "/local/" not in held


def test_a_project_that_was_moved(crash: Any, tmp_path: Path) -> None:
    blocker = Blocker.make(tmp_path / "blocker")
    commits = by_script(blocker.command("git add -A; git commit -qm mine"))
    task = [*second_task()[:-1], commits, *second_task()[1:]]
    crashed = crash(SmallBuild(scenes={TASK: task}))
    child = crashed.build()
    pid = blocker.wait()
    child.signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    moved = shutil.move(crashed.folder, tmp_path / "moved")
    resumed = crashed.start("resume", str(moved))
    assert resumed.wait() == 0, resumed.output
    assert not alive(pid)
    assert "mine" not in git(moved, "log", "--format=%s").split("\n")
    (options,) = (tmp_path / "home" / "runs").glob("*/options.json")
    assert json.loads(options.read_text())["root"] == str(moved)
    assert tree(moved) == RESULT


WORKTREE = f"{GIT}.add_worktree"
WORKTREES = {
    "before": Kill(WORKTREE, "before"),
    "after": Kill(WORKTREE, "after"),
    "within the start's line": Kill(WRITE, "torn", inside="start"),
}


@pytest.mark.parametrize("kill", WORKTREES.values(), ids=WORKTREES)
def test_killed_while_the_work_tree_is_made(crash: Any, checkout: Path, kill: Kill) -> None:
    before = state(checkout)
    crashed = crash()
    crashed.killed(kill)
    assert state(checkout) == before
    nothing = crashed.resume()
    assert nothing.wait() == 1
    assert "foundry build" in nothing.output
    again = crashed.build()
    assert again.wait() == 0, again.output
    assert state(checkout) == before
    assert_once_in_worktree(crashed)


def test_killed_together_with_the_git_that_makes_the_work_tree(crash: Any, checkout: Path) -> None:
    before = state(checkout)
    crashed = crash()
    child = with_git(crashed, "worktree add", 'real "$@"; kill -9 $PPID; exit').build()
    assert child.wait() == -signal.SIGKILL
    assert state(checkout) == before
    again = crashed.build()
    assert again.wait() == 0, again.output
    assert state(checkout) == before
    assert_once_in_worktree(crashed)


SECOND = {
    "after the work tree is made": (Kill(WORKTREE, "after"), False),
    "before the start's line": (Kill(APPEND, "before", inside="start"), False),
    "within the start's line": (Kill(WRITE, "torn", inside="start"), False),
    "after the start's line": (Kill(APPEND, "after", inside="start"), True),
    "after the first commit": (Kill(f"{GIT}.commit", "after", inside="start"), True),
}


@pytest.mark.parametrize(("kill", "begun"), SECOND.values(), ids=SECOND)
def test_a_second_run_is_not_mistaken_for_the_first(crash: Any, kill: Kill, begun: bool) -> None:
    """The second run builds on a commit that holds the first one's journal."""
    crashed = crash()
    assert crashed.build(None, "--pause-after", "scout").wait() == 4
    git(crashed.folder, "commit", "--quiet", "--allow-empty", "-m", "As far as it came")
    before = state(crashed.folder)
    crashed.killed(kill)
    if begun:
        crashed.finished()
        assert_once_in_worktree(crashed)
        assert state(crashed.folder) == before
    else:
        crashed.finished()  # there is one run that has begun: the first
        assert steps(journal.read(crashed.folder / ".context-foundry" / "journal.jsonl")) == STEPS
        assert git(crashed.folder, "branch", "--show-current") == "main\n"


def assert_once_in_worktree(crash: Crash) -> None:
    entries = journal.read(crash.root / ".context-foundry" / "journal.jsonl")
    assert steps(entries) == BASED
    commits = Repository(crash.root).commits(entries[0].run)
    assert [c.step for c in commits] == [e.step if e.kind == "step" else "" for e in entries]
    assert git(crash.root, "status", "--porcelain") == ""
    assert_nothing_left(crash)
