"""Resume: pauses, edits by hand, interrupts, limits, and what a model did to the repository."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foundry.errors import ArtifactError
from foundry.model.rehearsal import faults
from foundry.model.rehearsal.script import Turn, call, turn
from foundry.schema.events import Note
from foundry.schema.journal import Attempt, Resume, Stop
from foundry.schema.messages import Usage
from foundry.schema.run import Limits, Status
from foundry.store import journal
from tests.support.builds import (
    EVERYTHING,
    Built,
    first_user_text,
    git,
    starts,
    step_of,
    steps,
    tree,
)
from tests.support.crash import Blocker, Child, Kill, strays
from tests.support.rehearsals import SPEC, SmallBuild, run, submit

TASK = "builder[2]/task"
LEAN = ("docs", "feedback")
STEPS = ["scout", "architect", "builder[1]/task", TASK, "test[1]/checks", "test[1]/review"]
ASKED = [*STEPS[:4], STEPS[-1]]


def stops(built: Built) -> list[Status]:
    return [entry.status for entry in built.journal if isinstance(entry, Stop)]


def assert_whole(built: Built, expected: list[str] = STEPS) -> None:
    """Every entry of the journal has one commit, in order, and the tree is clean."""
    assert built.ended.status is Status.VERIFIED
    assert built.steps == expected
    kinds = [entry.step if entry.kind == "step" else "" for entry in built.journal]
    assert [commit.step for commit in built.commits] == kinds
    assert git(built.project.root, "status", "--porcelain") == ""


# -- pauses and edits by hand ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("phase", "reached"),
    [("scout", 1), ("architect", 2), ("builder", 4), ("test", 6), ("docs", 9)],
)
def test_pause_after_a_phase(build: Any, phase: str, reached: int) -> None:
    built: Built = build(SmallBuild(), pause_after=(phase,))
    assert built.ended.status is Status.PAUSED
    assert built.ended.status.exit_code == 4
    assert phase in built.ended.reason
    assert len(built.steps) == reached
    assert git(built.folder, "status", "--porcelain") == ""
    built.resume()
    assert_whole(built, [*STEPS, "docs", "docs-review", "proof", "feedback"])
    assert stops(built) == [Status.PAUSED, Status.VERIFIED]
    assert built.starts == [*ASKED, "docs", "docs-review", "feedback"]


def test_pause_after_several_phases(build: Any) -> None:
    built: Built = build(SmallBuild(), pause_after=("scout", "builder"), skip=LEAN)
    assert built.steps == ["scout"]
    built.resume(pause_after=("builder",))
    assert built.steps == STEPS[:4]
    built.resume()
    assert_whole(built)


def test_edits_by_hand_are_kept_and_committed_with_the_resume(build: Any) -> None:
    built: Built = build(SmallBuild(), pause_after=("builder",), skip=LEAN)
    (built.folder / "hello-1.txt").write_text("hello by hand\n")
    (built.folder / "notes").mkdir()
    (built.folder / "notes" / "new.bin").write_bytes(bytes(range(256)))
    built.resume()
    assert_whole(built)
    assert tree(built.folder)["hello-1.txt"] == b"hello by hand\n"
    assert tree(built.folder)["notes/new.bin"] == bytes(range(256))
    (resumed,) = (entry for entry in built.journal if isinstance(entry, Resume))
    assert set(resumed.changes) == {"hello-1.txt", "notes/new.bin"}
    (commit,) = (each for each in built.commits if "by hand" in each.subject)
    changed = git(built.folder, "show", "--name-only", "--format=", commit.sha).split()
    assert set(changed) == {".context-foundry/journal.jsonl", *resumed.changes}


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("hello-1.txt", Status.UNVERIFIED, "changed after the checks ran: hello-1.txt"),
        ("NOTES.md", Status.VERIFIED, "all gates passed"),
    ],
)
def test_what_is_edited_after_the_checks_is_not_verified_by_them(
    build: Any, name: str, status: Status, reason: str
) -> None:
    built: Built = build(SmallBuild(), pause_after=("test",), skip=("docs",))
    (built.folder / name).write_text("by hand\n")
    built.resume()
    assert (built.ended.status, built.ended.reason) == (status, reason)


def plan_of(built: Built) -> dict[str, Any]:
    return json.loads(built.project.artifact("tasks.json").read_text())


def write_plan(built: Built, plan: dict[str, Any]) -> None:
    built.project.artifact("tasks.json").write_text(json.dumps(plan))


def test_a_task_that_was_changed_by_hand_is_built_as_changed(build: Any) -> None:
    built: Built = build(SmallBuild(), pause_after=("architect",), skip=LEAN)
    plan = plan_of(built)
    plan["tasks"][1] |= {"title": "Add the better greeting", "description": "Be warm."}
    write_plan(built, plan)
    built.resume()
    assert_whole(built)
    subjects = [commit.subject for commit in built.commits]
    assert "feat: add the better greeting" in subjects
    openings = [first_user_text(r.body) for r in built.server.requests if step_of(r.body) == TASK]
    assert all("Be warm." in text for text in openings)
    summary = json.loads(built.project.artifact("session-summary.json").read_text())
    assert [task["title"] for task in summary["tasks"]] == [
        "Add greeting 1",
        "Add the better greeting",
    ]


def test_a_task_that_was_added_by_hand_is_built(build: Any) -> None:
    built: Built = build(SmallBuild(tasks=2), pause_after=("architect",), skip=LEAN)
    built.server._script = SmallBuild(tasks=3)()
    plan = plan_of(built)
    write_plan(built, {**plan, "tasks": [*plan["tasks"], SmallBuild().task(3)]})
    built.resume()
    assert_whole(built, [*STEPS[:4], "builder[3]/task", *STEPS[4:]])
    assert (built.folder / "hello-3.txt").exists()


def test_a_task_that_was_removed_by_hand_is_not_built(build: Any) -> None:
    built: Built = build(SmallBuild(tasks=3), pause_after=("architect",), skip=LEAN)
    plan = plan_of(built)
    write_plan(built, {**plan, "tasks": plan["tasks"][:2]})
    built.resume()
    assert_whole(built)


def expensive(where: str, turns: list[Turn]) -> dict[str, list[Turn]]:
    """The scene's second turn costs ten dollars."""
    first, second, *rest = turns
    return {where: [first, turn(*second.content, usage=Usage(output_tokens=1_000_000)), *rest]}


def test_tasks_changed_in_the_middle_keep_what_is_built(build: Any) -> None:
    """Paused within the loop: the built task keeps its place, whatever the new order is."""
    scenes = expensive("builder[2]/task", SmallBuild().builder(2))
    built: Built = build(SmallBuild(tasks=3, scenes=scenes), skip=LEAN)
    assert built.steps == STEPS[:3]
    built.server._script = SmallBuild(
        tasks=3,
        scenes={
            "builder[2]/task": SmallBuild().builder(3),
            "builder[3]/task": SmallBuild().builder(2),
        },
    )()
    plan = plan_of(built)
    first, second, third = plan["tasks"]
    third["depends_on"] = []
    write_plan(built, {**plan, "tasks": [third, second, first]})
    built.resume(limits=Limits(max_usd=100))
    assert_whole(built, [*STEPS[:4], "builder[3]/task", *STEPS[4:]])
    subjects = [commit.subject for commit in built.commits if commit.step.startswith("builder")]
    assert subjects == ["feat: add greeting 1", "feat: add greeting 3", "feat: add greeting 2"]
    summary = json.loads(built.project.artifact("session-summary.json").read_text())
    assert {task["id"]: task["state"] for task in summary["tasks"]} == {
        "hello-1": "done",
        "hello-2": "done",
        "hello-3": "done",
    }


BROKEN = {
    "no JSON": (lambda text: text[:-20], "tasks.json: line "),
    "a missing field": (
        lambda text: text.replace('"description"', '"describes"'),
        "tasks.json: tasks.0.description: Field required",
    ),
    "an unknown dependency": (
        lambda text: text.replace('"hello-1"\n', '"hello-9"\n'),
        "depends on 'hello-9', which does not exist",
    ),
}


@pytest.mark.parametrize(("spoil", "words"), BROKEN.values(), ids=BROKEN)
def test_a_broken_plan_is_told_and_nothing_is_lost(
    build: Any, spoil: Callable[[str], str], words: str
) -> None:
    built: Built = build(SmallBuild(), pause_after=("architect",), skip=LEAN)
    file = built.project.artifact("tasks.json")
    whole = file.read_text()
    file.write_text(spoil(whole))
    (built.folder / "mine.txt").write_text("mine\n")
    before = tree(built.folder, without=(".git",))
    with pytest.raises(ArtifactError) as told:
        built.resume()
    assert words in str(told.value)
    assert ".context-foundry/tasks.json" in str(told.value)
    assert "\n" not in str(told.value)
    changed = {name for name in before if ".context-foundry/local/" not in name}
    after = tree(built.folder, without=(".git",))
    assert {name: after[name] for name in changed} == {name: before[name] for name in changed}
    file.write_text(whole)
    built.resume()
    assert_whole(built)
    assert (built.folder / "mine.txt").read_text() == "mine\n"


def test_a_persons_commits_while_paused_stay(build: Any) -> None:
    built: Built = build(SmallBuild(), pause_after=("architect",), skip=LEAN)
    (built.folder / "mine.txt").write_text("mine\n")
    git(built.folder, "add", "mine.txt")
    git(built.folder, "commit", "--quiet", "-m", "My own")
    own = git(built.folder, "rev-parse", "HEAD").strip()
    built.resume()
    assert_whole(built)
    assert git(built.folder, "rev-list", "HEAD").split().count(own) == 1


def test_work_that_a_person_took_back_while_paused_is_done_again(build: Any) -> None:
    built: Built = build(SmallBuild(), pause_after=("builder",), skip=LEAN)
    git(built.folder, "reset", "--quiet", "--hard", "HEAD~2")
    built.resume()
    assert_whole(built)
    assert built.starts == [*STEPS[:4], TASK, "test[1]/review"]


# -- limits ----------------------------------------------------------------------------------


def test_a_spent_budget_pauses_and_a_larger_one_goes_on(build: Any) -> None:
    scenes = expensive(TASK, SmallBuild().builder(2))
    built: Built = build(SmallBuild(scenes=scenes), skip=LEAN)
    assert (built.ended.status, built.ended.status.exit_code) == (Status.PAUSED, 4)
    assert "--max-usd 20" in built.ended.reason
    asked = len(built.server.requests)
    built.resume()
    assert built.ended.status is Status.PAUSED
    assert len(built.server.requests) == asked
    built.resume(limits=Limits(max_usd=100))
    assert_whole(built)
    summary = json.loads(built.project.artifact("session-summary.json").read_text())
    assert summary["cost_usd"] > 20


def test_a_deadline_pauses_and_the_next_invocation_goes_on(build: Any) -> None:
    built: Built = build(SmallBuild(), limits=Limits(max_hours=1e-9), skip=LEAN)
    assert built.ended.status is Status.PAUSED
    assert built.steps == []
    assert built.server.requests == ()
    built.resume(limits=Limits())
    assert_whole(built)


def test_a_step_that_failed_too_often_gets_new_attempts(build: Any) -> None:
    first, *rest = SmallBuild().builder(2)
    refused = turn(*first.content, fault=faults.stop("refusal", times=4))
    built: Built = build(SmallBuild(scenes={TASK: [refused, *rest]}), skip=LEAN)
    assert (built.ended.status, built.ended.status.exit_code) == (Status.FAILED, 1)
    assert f"{TASK} failed 3 times" in built.ended.reason
    assert built.starts == [*STEPS[:4], TASK, TASK]
    built.resume()
    assert_whole(built)
    attempts = [entry.attempt for entry in built.journal if isinstance(entry, Attempt)]
    assert attempts == [1, 2, 3, 1]


def test_a_run_that_is_over_says_so(build: Any) -> None:
    built: Built = build(SmallBuild(), skip=("test", *LEAN))
    assert (built.ended.status, built.ended.status.exit_code) == (Status.UNVERIFIED, 3)
    head, asked = built.repository.head(), len(built.server.requests)
    assert built.resume() == built.ended
    note, ending = built.events[-2:]
    assert isinstance(note, Note)
    assert "this run is over" in note.text
    assert ending.status == built.ended.status
    assert (built.repository.head(), len(built.server.requests)) == (head, asked)


# -- what a model does to the repository -----------------------------------------------------

OWN = {
    "commit": "git add -A && git commit -q -m mine",
    "another branch": "git checkout -q -b mine && git add -A && git commit -q -m mine",
    "detached": "git checkout -q --detach && git add -A && git commit -q -m mine",
    "amend": "git add -A && git commit -q --amend -m mine",
    "soft reset": "git reset -q --soft HEAD~2",
    "mixed reset": "git reset -q HEAD~1",
    "an older journal": "git checkout -q HEAD~2 -- .context-foundry/journal.jsonl",
    "a longer journal": "echo '{}' >> .context-foundry/journal.jsonl",
    "no journal": "rm .context-foundry/journal.jsonl",
    "stash": "git add -A && git stash -q && git stash pop -q",
}


@pytest.mark.parametrize("command", OWN.values(), ids=OWN)
def test_what_a_model_does_with_git_is_folded_back(build: Any, command: str) -> None:
    first, _, last = SmallBuild().builder(2)
    scenes = {TASK: [first, run(command), last]}
    built: Built = build(SmallBuild(scenes=scenes), skip=LEAN, rules=EVERYTHING)
    assert_whole(built)
    assert git(built.folder, "branch", "--show-current") == "main\n"
    log = git(built.folder, "log", "--format=%s")
    assert "mine" not in log
    assert len(log.splitlines()) == len(built.commits)
    changed = git(built.folder, "show", "--name-only", "--format=", built.commits[4].sha).split()
    assert set(changed) - {"hello-2.txt"} == {
        ".context-foundry/journal.jsonl",
        ".context-foundry/build-log.md",
        ".context-foundry/notes.jsonl",
        ".context-foundry/session-notes.md",
    }


def test_a_hard_reset_does_not_rewind_the_run(build: Any) -> None:
    first, _, last = SmallBuild().builder(2)
    again = SmallBuild().builder(1)[0]
    turns = [run("git reset -q --hard HEAD~2"), again, first, last]
    built: Built = build(SmallBuild(scenes={TASK: turns}), skip=LEAN)
    assert_whole(built)
    assert built.starts == ASKED


# -- interrupts ------------------------------------------------------------------------------


class Interrupted:
    """One build on the command line, which a signal ends."""

    def __init__(self, tmp: Path, server: Any) -> None:
        self.tmp, self.server = tmp, server
        self.folder = tmp / "project"

    def build(self, *more: str, kill: Kill | None = None, env: Any = None) -> Child:
        words = ["build", SPEC, "--dir", str(self.folder), "--base-url", self.server.url]
        lean = ["--skip", "docs", "--skip", "feedback"]
        return Child([*words, *lean, *more], log=self.tmp / "log", kill=kill, env=env)

    def resume(self, *more: str) -> Child:
        return Child(["resume", str(self.folder), *more], log=self.tmp / "resumed")

    @property
    def journal(self) -> Any:
        return journal.read(self.folder / ".context-foundry" / "journal.jsonl")

    def assert_goes_on(self, *, twice: list[str]) -> None:
        last = self.journal[-1]
        assert isinstance(last, Stop)
        assert last.status is Status.INTERRUPTED
        assert git(self.folder, "status", "--porcelain") == ""
        assert strays(self.tmp) == []
        resumed = self.resume()
        assert resumed.wait() == 0, resumed.output
        assert steps(self.journal) == STEPS
        assert sorted(starts(self.server)) == sorted([*ASKED, *twice])
        log = git(self.folder, "log", "--format=%s").splitlines()
        assert len(log) == len(self.journal)
        assert git(self.folder, "status", "--porcelain") == ""


def blocking(blocker: Blocker) -> dict[str, Any]:
    first, _, last = SmallBuild().builder(2)
    return {TASK: [first, run(blocker.command()), last]}


SIGNALS = {"Ctrl-C": signal.SIGINT, "SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP}


@pytest.mark.parametrize("number", SIGNALS.values(), ids=SIGNALS)
def test_interrupted_in_a_model_call(rehearsal: Any, tmp_path: Path, number: int) -> None:
    first, middle, last = SmallBuild().builder(2)
    stalled = [first, turn(*middle.content, fault=faults.stall()), last]
    halted = Interrupted(tmp_path, rehearsal(SmallBuild(scenes={TASK: stalled})))
    child = halted.build()
    assert halted.server.wait_for(8, timeout=60)  # Scout 2, Architect 1, the tasks 3 and 2
    child.signal(number)
    assert child.wait() == 130, child.output
    halted.assert_goes_on(twice=[TASK])


@pytest.mark.parametrize("number", SIGNALS.values(), ids=SIGNALS)
def test_interrupted_in_a_tool_call(rehearsal: Any, tmp_path: Path, number: int) -> None:
    blocker = Blocker.make(tmp_path / "blocker")
    halted = Interrupted(tmp_path, rehearsal(SmallBuild(scenes=blocking(blocker))))
    child = halted.build()
    blocker.wait()
    child.signal(number)
    assert child.wait() == 130, child.output
    (patch,) = (halted.folder / ".context-foundry/local/salvage").glob("*.patch")
    assert "hello-2.txt" in patch.read_text()
    halted.assert_goes_on(twice=[TASK])


GIT = "foundry.store.git.repository:Repository"
IN_ACCEPT = {
    "before the artifact": ("foundry.files:atomic_write", [TASK]),
    "after staging": (f"{GIT}.stage_all", [TASK]),
    "before the line": ("foundry.store.journal:append", [TASK]),
    "before the commit": (f"{GIT}.commit", []),
}


@pytest.mark.parametrize(("target", "twice"), IN_ACCEPT.values(), ids=IN_ACCEPT)
def test_interrupted_in_accept(
    rehearsal: Any, tmp_path: Path, target: str, twice: list[str]
) -> None:
    halted = Interrupted(tmp_path, rehearsal(SmallBuild()))
    kill = Kill(target, "before", inside=TASK, number=signal.SIGINT)
    assert halted.build(kill=kill).wait() == 130
    halted.assert_goes_on(twice=twice)


def test_interrupted_while_git_commits(rehearsal: Any, tmp_path: Path) -> None:
    halted = Interrupted(tmp_path, rehearsal(SmallBuild()))
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text(f"""\
#!/bin/sh
case "$*" in *"Foundry-Step: {TASK}"*)
  if mkdir {folder}/met 2>/dev/null; then kill -INT $PPID; sleep 1000; fi;;
esac
PATH="${{PATH#*:}}" exec git "$@"
""")
    (folder / "git").chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    assert halted.build(env={"PATH": path}).wait() == 130
    halted.assert_goes_on(twice=[])


def test_a_second_interrupt_ends_at_once_and_loses_nothing(rehearsal: Any, tmp_path: Path) -> None:
    blocker = Blocker.make(tmp_path / "blocker")
    halted = Interrupted(tmp_path, rehearsal(SmallBuild(scenes=blocking(blocker))))
    again = Kill("foundry.store.journal:append", "before", inside="stop", number=signal.SIGINT)
    child = halted.build(kill=again)
    blocker.wait()
    child.ctrl_c()
    assert child.wait() == 130, child.output
    assert "Traceback" not in child.output
    resumed = halted.resume()
    assert resumed.wait() == 0, resumed.output
    assert steps(halted.journal) == STEPS
    assert sorted(starts(halted.server)) == sorted([*ASKED, TASK])
    assert strays(tmp_path) == []


def test_two_processes_at_once(rehearsal: Any, tmp_path: Path) -> None:
    blocker = Blocker.make(tmp_path / "blocker")
    halted = Interrupted(tmp_path, rehearsal(SmallBuild(scenes=blocking(blocker))))
    child = halted.build()
    blocker.wait()
    second = halted.resume()
    assert second.wait() == 1
    assert "another foundry process is working on" in second.output
    child.ctrl_c()
    assert child.wait() == 130, child.output
    halted.assert_goes_on(twice=[TASK])


@pytest.mark.parametrize(("skip", "code", "word"), [((), 0, "verified"), (("test",), 3, "skipped")])
def test_the_command_line_says_that_a_run_is_over(
    rehearsal: Any, tmp_path: Path, skip: tuple[str, ...], code: int, word: str
) -> None:
    halted = Interrupted(tmp_path, rehearsal(SmallBuild()))
    assert halted.build(*(each for phase in skip for each in ("--skip", phase))).wait() == code
    resumed = halted.resume()
    assert resumed.wait() == code
    assert "over" in resumed.output
    assert word in resumed.output


def test_calls_of_a_cut_conversation_count_for_the_budget(build: Any) -> None:
    """A kill or an interrupt resets no budget: the ledger is on disk."""
    struck: list[bool] = []

    def interrupt(event: Any) -> None:
        if event.kind == "tool_execution" and event.step == TASK and not struck:
            struck.append(True)
            raise KeyboardInterrupt

    scene = [turn(call("list_files")), *SmallBuild().builder(2), submit(summary="never")]
    built: Built = build(SmallBuild(scenes={TASK: scene}), skip=LEAN, observe=interrupt)
    assert built.ended.status is Status.INTERRUPTED
    built.resume()
    assert_whole(built)
    summary = json.loads(built.project.artifact("session-summary.json").read_text())
    assert summary["tokens"]["output_tokens"] == built.server.billed.output_tokens
