"""The memory of a run: filled by every turn and step, recalled byte for byte, told to later runs,
and never a reason for a run to end."""

import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from foundry.model.rehearsal.script import call, say, turn
from foundry.schema.events import Note, ToolRan
from foundry.schema.journal import Attempt, StepRecord
from foundry.schema.memory import RECALL, Filter, MemoryEntry
from foundry.schema.run import Status
from foundry.store import journal
from foundry.store.memory.store import ContextMemoryStore, memory_path
from tests.support.asked import requests_of, results, words
from tests.support.builds import EVERYTHING, Built, git
from tests.support.crash import Child, Kill
from tests.support.rehearsals import SPEC, SmallBuild, run, submit

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
LEAN = ("docs", "feedback")
FIRST, SECOND = "builder[1]/task", "builder[2]/task"


def entries(path: Path) -> list[MemoryEntry]:
    with ContextMemoryStore(path) as store:
        return list(store.entries())


def of_kind(found: list[MemoryEntry], kind: str) -> list[MemoryEntry]:
    return [entry for entry in found if entry.kind == kind]


def notes(built: Built) -> list[str]:
    return [event.text for event in built.events if isinstance(event, Note)]


# -- one build, looked at from all sides -------------------------------------------------------


def scenes() -> dict[str, Any]:
    """The first task speaks of a secret, and a command of it fails; the second one recalls that by
    keywords, then its own first turn by number, then what there is not."""
    built = SmallBuild().builder(1)
    return {
        FIRST: [
            turn(say(f"The quokka token is {SECRET}."), call("write_file", path="quokka.txt",
                                                            content="quokka\n")),
            run(f"echo 'numbat {SECRET}'; seq 1 40; echo w > wombat.txt; exit 3"),
            built[0],
            submit(summary="hello-1.txt greets in Quokkish.", notes=["Greetings end with a dot"]),
        ],
        SECOND: [
            turn(call("recall_context", keywords=["numbat"])),
            turn(call("recall_context", turnNumbers=[1])),
            turn(call("recall_context", contextIds=["ctx_1_0000000000000000"])),
            *SmallBuild().builder(2),
        ],
    }  # fmt: skip


@pytest.fixture
def built(build: Any) -> Built:
    found: Built = build(SmallBuild(scenes=scenes()), skip=LEAN)
    assert found.ended.status is Status.VERIFIED, found.ended
    return found


def test_a_build_fills_the_memory_and_asks_it(built: Built) -> None:
    path = built.project.local / "memory.db"
    found = entries(path)
    every_turn_is_stored(built, found)
    every_step_is_stored(built, found)
    no_secret_is_in(path, found)
    what_was_recalled_stands_in_the_next_request(built, found)
    openings_tell_of_what_was_done(built, found)
    asked = [e.subject for e in built.events if isinstance(e, ToolRan) and e.tool == RECALL]
    assert asked == ["numbat", "1", "ctx_1_0000000000000000"]


def every_turn_is_stored(built: Built, found: list[MemoryEntry]) -> None:
    turns = of_kind(found, "turn")
    taken = {e.step: e.spend.turns for e in built.journal if isinstance(e, StepRecord)}
    assert Counter(each.step for each in turns) == {step: n for step, n in taken.items() if n}
    assert [each.turn for each in turns if each.step == FIRST] == [1, 2, 3, 4]
    second = next(each for each in turns if (each.step, each.turn) == (FIRST, 2))
    (command,) = second.snapshot.calls
    assert command.arguments["command"].startswith("echo 'numbat [redacted]'; seq 1 40; ")
    assert command.result.startswith("numbat [redacted]\n1\n2\n")
    assert second.snapshot.task.startswith("hello-1: Add greeting 1\n")
    assert second.run == built.journal[0].run
    assert second.summaries[0].source == "code"
    assert "failed (exit code 3)" in second.summaries[0].text


def every_step_is_stored(built: Built, found: list[MemoryEntry]) -> None:
    steps = of_kind(found, "step")
    records = [each for each in built.journal if isinstance(each, StepRecord)]
    assert [each.step for each in steps] == [each.step for each in records]
    assert [each.ended for each in steps] == [each.at for each in records]
    made = next(each for each in steps if each.step == FIRST)
    assert made.snapshot.said.startswith("hello-1.txt greets in Quokkish.")
    files = {each.path: each.deeds for each in made.snapshot.files}
    assert files["quokka.txt"] == files["test.sh"] == "written"
    assert files["wombat.txt"] == "changed"  # by a command, which git knows of
    assert made.snapshot.decisions[0] == "Greetings end with a dot"
    checks = next(each for each in steps if each.step == "test[1]/checks")
    held = ("greetings", "show", "verify hello-1", "verify hello-2")
    assert checks.snapshot.state["checks"] == dict.fromkeys(held, "passed")
    assert len({each.id for each in found}) == len(found)


def no_secret_is_in(path: Path, found: list[MemoryEntry]) -> None:
    told = "".join(each.model_dump_json() for each in found)
    raw = b"".join(each.read_bytes() for each in path.parent.glob("memory.db*"))
    assert "[redacted]" in told
    for text in (told.lower(), raw.decode("latin-1").lower()):
        assert SECRET.lower() not in text
        assert SECRET.lower()[4:20] not in text


def what_was_recalled_stands_in_the_next_request(built: Built, found: list[MemoryEntry]) -> None:
    _, by_keyword, by_turn, by_id, *_ = requests_of(built.server, SECOND)
    ((answer, is_error),) = results(by_keyword)
    original = next(e for e in of_kind(found, "turn") if (e.step, e.turn) == (FIRST, 2))
    assert not is_error
    assert f'<context id="{original.id}" kind="turn" turn="2" step="{FIRST}"' in answer
    assert original.snapshot.calls[0].result in answer
    ((own, is_error),) = results(by_turn)  # its own first turn, with all that it recalled
    kept = next(e for e in of_kind(found, "turn") if (e.step, e.turn) == (SECOND, 1))
    assert kept.snapshot.calls[0].result == answer
    inner = answer.replace("<context id", "<\\context id").replace("</context>", "<\\/context>")
    assert f"[result]\n{inner}\n" in own
    ((missing, is_error),) = results(by_id)
    assert is_error
    assert missing == "There is no ctx_1_0000000000000000 in the memory."
    with ContextMemoryStore(built.project.local / "memory.db") as store:
        (only,) = store.search("numbat", Filter(kind="turn"))  # not also where it was recalled
    assert only.id == original.id


def openings_tell_of_what_was_done(built: Built, found: list[MemoryEntry]) -> None:
    ids = {each.step: each.id for each in of_kind(found, "step")}
    assert "<memory>" not in words(requests_of(built.server, "scout")[0])
    told = words(requests_of(built.server, SECOND)[0])
    block = told[told.index("<memory>") : told.index("</memory>")]
    assert f"[{ids['architect']}] Step of architect: 2 tasks" in block
    assert f"Told above: scout [{ids['scout']}], {FIRST} [{ids[FIRST]}]" in block
    assert told.count("hello-1.txt greets in Quokkish.") == 1
    assert told.count("Greetings end with a dot") == 2  # the notes and what earlier tasks made
    for body in (each.body for each in built.server.requests if "/messages" in each.path):
        shared = body["messages"][0]["content"][0]["text"]
        assert "# Step" not in shared  # the steps that follow read it from the cache
        assert "<memory>" not in shared


# -- later runs ----------------------------------------------------------------------------------


def test_scout_of_a_later_run_sees_what_earlier_ones_learned(build: Any, tmp_path: Path) -> None:
    """In an existing repository: both runs have a work tree of their own, and one memory."""
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "--quiet")
    (root / "kept.txt").write_text("kept\n")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "-m", "Begin")
    learned = submit(summary="The platypus port is 4711.", notes=["Ports are odd numbers"])
    task = [*SmallBuild().builder(1)[:-1], learned]
    first: Built = build(SmallBuild(tasks=1, scenes={FIRST: task}), folder=root, skip=LEAN)
    assert first.ended.status is Status.VERIFIED
    path, earlier = memory_path(first.project.root), first.journal[0].run
    assert path == tmp_path / "project.foundry" / "memory.db"
    assert not (root / ".context-foundry").exists()
    (made,) = [e for e in entries(path) if (e.kind, e.step) == ("step", FIRST)]

    scout = [turn(call("recall_context", contextIds=[made.id])), *SmallBuild().scout()]
    second: Built = build(SmallBuild(tasks=1, scenes={"scout": scout}), folder=root,
                          pause_after=("scout",))  # fmt: skip
    later = second.journal[0].run
    assert later != earlier
    opening, recalled, *_ = requests_of(second.server, "scout")
    line = f"[{made.id}] Step of {FIRST} of run {earlier}: The platypus port is 4711."
    assert line in words(opening)
    ((answer, _),) = results(recalled)
    assert "Ports are odd numbers" in answer
    assert {e.run for e in entries(path)} == {earlier, later}


# -- a memory that fails -------------------------------------------------------------------------


def test_a_memory_that_can_not_be_opened_does_not_end_a_build(build: Any, tmp_path: Path) -> None:
    """A folder stands where its file should be, and nothing can make one there."""
    folder = tmp_path / "project" / ".context-foundry" / "local" / "memory.db"
    folder.mkdir(parents=True)
    task = [turn(call("recall_context", keywords=["x"])), *SmallBuild().builder(1)]
    built: Built = build(SmallBuild(tasks=1, scenes={FIRST: task}), skip=LEAN)
    assert built.ended.status is Status.VERIFIED
    (told,) = [text for text in notes(built) if "memory" in text]
    assert told.startswith("the run goes on without its memory: cannot write ")
    _, asked, *_ = requests_of(built.server, FIRST)
    assert results(asked) == [("the memory can't be read now: go on without it", True)]


def test_a_memory_that_is_damaged_meanwhile_begins_anew(build: Any) -> None:
    breaks = run("for f in .context-foundry/local/memory.db*; do echo broken > $f; done")
    task = [breaks, *SmallBuild().builder(1)]
    built: Built = build(SmallBuild(tasks=1, scenes={FIRST: task}), skip=LEAN, rules=EVERYTHING)
    assert built.ended.status is Status.VERIFIED
    (told,) = [text for text in notes(built) if "is damaged" in text]
    assert "it is set aside as" in told
    stored = [(e.kind, e.step) for e in entries(built.project.local / "memory.db")]
    steps = [step for kind, step in stored if kind == "step"]
    assert steps[-3:] == [FIRST, "test[1]/checks", "test[1]/review"]


def test_a_failed_attempt_is_stored_as_failed(build: Any) -> None:
    """The words of the failure are told once to the next attempt, and the memory has it whole."""
    endless = [turn(say(f"Thinking {number}.")) for number in range(4)]
    built: Built = build(SmallBuild(tasks=1, scenes={FIRST: endless}), skip=LEAN)
    assert built.ended.status is Status.FAILED
    failures = [e for e in built.journal if isinstance(e, Attempt)]
    assert failures
    steps = [e for e in entries(built.project.local / "memory.db")
             if (e.kind, e.step) == ("step", FIRST)]  # fmt: skip
    assert [e.snapshot.state["failed"] for e in steps] == [each.reason for each in failures]
    assert [e.ended for e in steps] == [each.at for each in failures]
    assert steps[0].summaries[0].text.startswith("attempt 1 failed (not_submitted): the model")
    again = requests_of(built.server, FIRST)[4]
    assert words(again).count("the model stopped without submitting a result") == 2  # notes, retry
    assert "Told above: scout [ctx_2_" in words(again)
    assert steps[0].id in words(again)


# -- a process that is killed --------------------------------------------------------------------

STORES = "foundry.engine.run_memory:RunMemory.finished"
KILLS = {
    "before a step is stored": Kill(STORES, "before", words=FIRST),
    "after a step is stored": Kill(STORES, "after", words=FIRST),
    "after a turn is stored": Kill("foundry.engine.run_memory:RunMemory.turned", "after",
                                   words=FIRST, nth=2),
}  # fmt: skip


@pytest.mark.parametrize("kill", KILLS.values(), ids=KILLS)
def test_resume_after_a_kill_stores_everything_once(
    rehearsal: Any, tmp_path: Path, kill: Kill
) -> None:
    server, folder = rehearsal(SmallBuild(tasks=1)), tmp_path / "project"
    skipped = [word for phase in LEAN for word in ("--skip", phase)]
    begin = ["build", SPEC, "--dir", str(folder), "--base-url", server.url, *skipped, "--quiet"]
    log = tmp_path / "log"
    assert Child(begin, log=log, kill=kill).wait() == -signal.SIGKILL
    resumed = Child(["resume", str(folder), "--quiet"], log=log)
    assert resumed.wait() == 0, resumed.output
    records = [e for e in journal.read(folder / ".context-foundry" / "journal.jsonl")
               if isinstance(e, StepRecord)]  # fmt: skip
    found = entries(folder / ".context-foundry" / "local" / "memory.db")
    steps = of_kind(found, "step")
    assert [(e.step, e.ended) for e in steps] == [(each.step, each.at) for each in records]
    turns = Counter((e.conversation, e.turn) for e in of_kind(found, "turn"))
    assert set(turns.values()) == {1}
    died = "after a turn is stored" if kill.nth == 2 else ""
    of_task = {name for name, _ in turns if "builder" in name}
    assert len(of_task) == (2 if died else 1)
    assert len(turns) == sum(each.spend.turns for each in records) + (2 if died else 0)
    made = next(each for each in steps if each.step == FIRST)
    assert made.snapshot.task.startswith("hello-1: Add greeting 1")
