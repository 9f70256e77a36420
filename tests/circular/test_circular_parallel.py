"""Parts of a task are worked on side by side, and merged as far as the checks allow it."""

import os
import signal
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from foundry.circular.history import states_of
from foundry.model.rehearsal.faults import stop
from foundry.model.rehearsal.rules import ApiError
from foundry.model.rehearsal.script import SceneScript, Turn, call, say, turn
from foundry.schema.events import IterationStarted, Note, PartEnded
from foundry.schema.journal import StepRecord
from foundry.schema.messages import Usage
from foundry.schema.run import Limits, Status
from foundry.store import journal
from foundry.store.ledger import Ledger
from foundry.store.runs import ledger_path
from tests.support.builds import EVERYTHING, git, starts, step_of, tree
from tests.support.circular import Circular, done, doubt, more, repository, work
from tests.support.crash import Blocker, Child, Kill, strays
from tests.support.rehearsals import run as command
from tests.support.rehearsals import write
from tests.support.workflows import plays

OLD, NEW = "print(old())\n", "print(new())\n"
CHECK = "! grep -rn 'old()' --include='*.py' . && ! grep -q broken *.py"
PARTS = """\
project: {name: Greeter}
objective: {primary: Finish the migration}
parts:
  - {id: first, title: The first module, paths: [a.py], details: It has a trap.}
  - {id: second, title: The second module, paths: [b.py], details: It has another.}
"""
LIST = """Replace old() by new() everywhere.

- [ ] the call in `a.py`
- [ ] the call in `b.py`
- [ ] the call in `c.py`
"""


def part(number: int, name: str) -> str:
    return f"{work(number)}/{name}"


class Together:
    """A script whose first answer to each of these conversations waits for those to the others."""

    def __init__(self, script: SceneScript, *steps: str) -> None:
        self.script, self.begun = script, {step: Event() for step in steps}
        self.missed = 0

    def __call__(self, request: Any) -> Turn:
        if mine := self.begun.get(step_of(request)):
            mine.set()
            if not all(each.wait(4) for each in self.begun.values()):
                self.missed += 1
                raise ApiError(529 if self.missed < 6 else 400, "the others are not there")
        return self.script(request)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", a_py=OLD, b_py=OLD, c_py=OLD)


@pytest.fixture
def context(tmp_path: Path) -> Path:
    path = tmp_path / "base.yaml"
    path.write_text(PARTS)
    return path


def nothing_is_left(project: Path) -> None:
    """No work tree, branch or process but those of the run."""
    assert len(git(project, "worktree", "list").splitlines()) == 2
    assert "-part-" not in git(project, "branch", "--list")
    assert [each.name for each in project.with_name("project.foundry").glob("*-part-*")] == []


def test_parts_are_worked_on_side_by_side_and_are_one_iteration(
    rehearsal: Any, project: Path, context: Path
) -> None:
    note = turn(call("note", kind="decision", text="spelt new() without a blank"))
    script = plays(
        {
            part(1, "first"): [write("a.py", NEW), note, done(resolved=["a"])],
            part(1, "second"): [note, write("b.py", NEW), done(resolved=["b"])],
            doubt(1): [more("c.py:1")],
            work(2): [write("c.py", NEW), done()],
            doubt(2): [done()],
        }
    )
    server = rehearsal(Together(script, part(1, "first"), part(1, "second")))
    run = Circular.run(
        server, project, context=context, parallel=2, progressive=True,
        checks=("! grep -n old [ab].py",),
    )  # fmt: skip
    assert run.ended.status is Status.VERIFIED, run.ended
    assert [each.kind for each in run.states] == ["work", "doubt", "work", "doubt"]
    one = run.states[0]
    assert [(each.id, each.merged, each.files) for each in one.partitions] == [
        ("first", True, ("a.py",)), ("second", True, ("b.py",)),
    ]  # fmt: skip
    assert one.files_modified == ("a.py", "b.py") and one.verdict == "done"
    assert one.tokens == sum(each.tokens for each in one.partitions)
    assert one.reasons["partitions"] == "2 parts in the base context as 2 partitions"
    assert len([each for each in run.commits if each.step == work(1)]) == 1
    assert "Your part, and nothing else" in run.told(part(1, "first"))
    assert "The first module" in run.told(part(1, "first")).split("Your part")[1]
    assert run.artifact("session-notes.md").count("spelt new() without a blank") == 2
    parts = [each for each in run.events if isinstance(each, PartEnded)]
    assert [(each.part, each.merged) for each in parts] == [
        ("The first module", True), ("The second module", True),
    ]  # fmt: skip
    begun = next(each for each in run.events if isinstance(each, IterationStarted))
    assert begun.parts == ("The first module", "The second module")
    assert "It has a trap" in run.told(work(2))  # the doubt opened all parts again
    assert run.states[2].reasons["partitions"] == "alone: what a doubt found"
    nothing_is_left(project)


def test_what_can_not_be_merged_is_kept_and_done_again_alone(rehearsal: Any, project: Path) -> None:
    """The first changes a file of the second; the third breaks what held."""
    run = Circular.run(
        rehearsal(_unfriendly), project, prompt=LIST, parallel=3, limits=Limits(max_usd=50),
        checks=("! grep -n old *.py", "! grep -n broken *.py"),
    )  # fmt: skip
    assert run.ended.status is Status.VERIFIED, run.ended
    one, two, *_ = run.states
    assert [each.merged for each in one.partitions] == [True, False, False]
    assert [each.why for each in one.partitions][1:] == [
        "others changed b.py too",
        "with it this fails that held before: ! grep -n broken *.py fails",
    ]
    assert one.files_modified == ("a.py", "b.py") and one.verdict == "more"
    kept = [each.ref for each in one.partitions if each.ref]
    assert run.git("show", f"{kept[0]}:b.py") == "print(newer())\n"
    assert run.git("show", f"{kept[1]}:c.py") == "broken\n"
    assert two.partitions == () and two.reasons["partitions"].startswith("alone: ")
    told = run.told(work(2))
    assert "that work is not in the project" in told and "others changed b.py too" in told
    report = run.artifact("circular/report.md")
    assert "not merged: others changed b.py too (kept in refs/foundry/" in report
    assert tree(run.project.root)["c.py"] == NEW.encode()
    nothing_is_left(project)


def _unfriendly(request: Any) -> Turn:
    step = step_of(request)
    name = next((each for each in "abc" if step.startswith(part(1, f"the-call-in-{each}"))), "")
    scenes = {work(2): [write("c.py", NEW), write("b.py", NEW), done()], doubt(2): [done()]}
    return plays({step: _turns(name)} if name else scenes)(request)


def _turns(name: str) -> list[Turn]:
    changes = {
        "a": [write("a.py", NEW), write("b.py", NEW)],
        "b": [write("b.py", "print(newer())\n")],
        "c": [write("c.py", "broken\n")],
    }
    return [*changes[name], done()]


def test_a_place_that_is_spoilt_costs_the_others_nothing(rehearsal: Any, project: Path) -> None:
    """One part leaves what git can't take and is refused; another removes its work tree."""

    def spoils(request: Any) -> Turn:
        step = step_of(request)
        name = next((n for n in "abc" if step.startswith(part(1, f"the-call-in-{n}"))), "")
        turns = {
            "a": [write("a.py", NEW), done()],
            "b": [
                write("sub/kept.txt", "of b\n"),
                command("git init -q sub && rm b.py && mkfifo b.py"),
                turn(say("I won't."), fault=stop("refusal")),
            ],
            "c": [command('rm -rf "$PWD"'), done()],
        }
        rest = {work(2): [write("b.py", NEW), write("c.py", NEW), done()], doubt(2): [done()]}
        return plays({step: turns[name]} if name else rest)(request)

    run = Circular.run(
        rehearsal(spoils), project, prompt=LIST, parallel=3, rules=EVERYTHING,
        limits=Limits(max_usd=50),
    )  # fmt: skip
    assert run.ended.status is Status.VERIFIED, run.ended
    one = run.states[0]
    assert [each.merged for each in one.partitions] == [True, False, False]
    assert one.files_modified == ("a.py",)
    refused, removed = one.partitions[1:]
    assert refused.ending == "refused" and removed.ref == ""
    assert run.git("show", f"{refused.ref}:sub/kept.txt") == "of b\n"
    turns = sum(each.spend.turns for each in run.journal if isinstance(each, StepRecord))
    assert turns == Ledger(ledger_path(run.journal[0].run)).total.calls
    assert one.tokens == sum(each.tokens for each in one.partitions) and removed.tokens
    nothing_is_left(project)


def test_the_money_of_a_run_is_shared_and_never_exceeded(
    rehearsal: Any, project: Path, context: Path
) -> None:
    paid = Usage(input_tokens=100_000, output_tokens=100)  # $0.201
    idle = [turn(call("list_files"), usage=paid)] * 9
    script = plays({part(1, "first"): idle, part(1, "second"): idle})
    run = Circular.run(
        rehearsal(script), project, context=context, parallel=2, limits=Limits(max_usd=0.414)
    )
    assert run.ended.status is Status.PAUSED and "are spent" in run.ended.reason
    assert sorted(starts(run.server)) == [part(1, "first"), part(1, "second")]
    spent = Ledger(ledger_path(run.journal[0].run)).total
    assert spent.calls == 2 and 0.4 <= spent.usd <= 0.414
    assert [each.ending for each in run.states[0].partitions] == ["budget", "budget"]
    begun = [each.parts for each in run.events if isinstance(each, IterationStarted)]
    assert [len(parts) for parts in begun] == [2, 2, 0]  # a share pays for no call: nor does all


KILLS = {
    "a conversation was cut": Kill("foundry.engine.gates:committable", "before", nth=2),
    "the merge was cut": Kill("foundry.store.git.repository:Repository.take", "after"),
}


@pytest.mark.parametrize("kill", KILLS.values(), ids=KILLS)
def test_a_kill_in_the_middle_leaves_the_run_as_it_was(
    rehearsal: Any, project: Path, context: Path, tmp_path: Path, kill: Kill
) -> None:
    server = rehearsal(
        plays(
            {
                part(1, "first"): [write("a.py", NEW), done()],
                part(1, "second"): [write("b.py", NEW), write("c.py", NEW), done()],
                doubt(1): [done()],
            }
        )
    )
    words = ["--dir", str(project), "--base-url", server.url, "--check", CHECK, "--quiet",
             "--context", str(context), "--parallel", "2"]  # fmt: skip
    child = Child(["circular", *words, "Do it."], log=tmp_path / "log", kill=kill)
    assert child.wait() == -9, child.output
    child = Child(["circular", "resume", str(project), "--quiet"], log=tmp_path / "log")
    assert child.wait() == 0, child.output

    [lines] = project.with_name("project.foundry").glob("*/.context-foundry/journal.jsonl")
    root = lines.parents[1]
    entries = journal.read(lines)
    assert [each.status.value for each in states_of(entries)] == ["success", "success"]
    assert [each.merged for each in states_of(entries)[0].partitions] == [True, True]
    assert tree(root)["a.py"] == tree(root)["b.py"] == NEW.encode()
    assert git(root, "status", "--porcelain") == ""
    patches = (root / ".context-foundry" / "local" / "salvage").glob("*-part-*.patch")
    assert len(list(patches)) == 2
    nothing_is_left(project)


def test_an_interrupt_ends_every_conversation(
    rehearsal: Any, project: Path, context: Path, tmp_path: Path
) -> None:
    blocker, other = (Blocker.make(tmp_path / name) for name in ("blocker", "other"))
    later = tmp_path / "went-on"
    commands = (other.command(), f"touch {later}")
    several = turn(*(call("run_command", command=each) for each in commands))
    server = rehearsal(
        plays(
            {
                part(1, "first"): [write("a.py", NEW), command(blocker.command()), done()],
                part(1, "second"): [write("b.py", NEW), several, done()],
                doubt(1): [done()],
            }
        )
    )

    def interrupt() -> None:
        blocker.wait()
        other.wait()
        os.kill(os.getpid(), signal.SIGINT)

    person = Thread(target=interrupt)
    person.start()
    run = Circular.run(server, project, context=context, parallel=2, rules=EVERYTHING,
                       checks=("! grep -n old [ab].py",))  # fmt: skip
    person.join()
    assert run.ended.status is Status.INTERRUPTED
    nothing_is_left(project)
    assert strays(tmp_path) == [] and not later.exists()
    kept = [each.text for each in run.events if isinstance(each, Note) and "kept in" in each.text]
    assert kept
    assert run.go_on().status is Status.VERIFIED
    nothing_is_left(project)
