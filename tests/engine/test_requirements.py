"""What each requirement has for it, and what an author may say who can't meet the spec."""

import json
from dataclasses import replace
from typing import Any

import pytest

from foundry.schema.run import Status
from foundry.schema.summary import Evidence
from tests.support.builds import EVERYTHING, Built
from tests.support.rehearsals import SPEC, SmallBuild, check, run, submit, write

QUIET: dict[str, Any] = {"skip": ("docs", "feedback")}


def planned(**task: object) -> SmallBuild:
    """One task with these fields; the checks are those of a small build."""

    class Changed(SmallBuild):
        def task(self, number: int) -> dict[str, object]:
            return {**super().task(number), **task}

    return Changed(tasks=1)


def evidence(built: Built) -> Evidence:
    return Evidence.model_validate(json.loads(built.project.artifact("evidence.json").read_text()))


def states(built: Built) -> dict[str, str]:
    return {each.id: each.state for each in evidence(built).requirements}


def test_proven_is_what_failed_without_the_work(build):
    built = build(planned(), **QUIET)
    assert built.ended.status is Status.VERIFIED
    assert states(built) == {"R1": "proven", "R2": "proven"}
    (criterion, *_) = evidence(built).requirements[0].criteria
    assert criterion.before is not None
    assert not criterion.before.ok
    assert criterion.check is not None
    assert criterion.check.exit_code == 0
    said = json.loads(built.project.artifact("session-summary.json").read_text())["proof"]
    assert said.startswith("2 of 2 requirements proven; ")
    assert next(e.proof for e in built.events if hasattr(e, "proof")) == said


def test_tested_is_what_was_never_seen_to_fail(build):
    built = build(planned(verify="test -d ."), **QUIET)
    assert built.ended.status is Status.VERIFIED
    assert states(built) == {"R1": "tested", "R2": "tested"}


def test_a_criterion_with_a_command_of_its_own_goes_by_that(build):
    limits = [
        {"criterion": "greets", "requirement": "R1"},
        {"criterion": "no more than that", "requirement": "R2", "verify": "test ! -e more.txt"},
    ]
    built = build(planned(acceptance=limits), **QUIET)
    assert states(built) == {"R1": "proven", "R2": "tested"}


def test_missing_is_what_a_later_task_broke(build):
    undone = [run("rm hello-1.txt"), write("hello-2.txt", "hello 2\n"), submit(summary="two")]
    checks = {"test": [check("greetings", "sh test.sh")]}
    script = SmallBuild(tasks=2, scenes={"builder[2]/task": undone}, checks=checks)
    built = build(script, **QUIET)
    assert "test[1]/fix" in built.starts
    assert built.ended.status is Status.VERIFIED  # the fix brings it back
    results = built.project.artifact("test-results-iteration-1.md").read_text()
    assert "## verify hello-1" in results


def test_a_task_that_is_done_already_is_accepted_as_such(build):
    again = [submit(summary="It is there.")]
    both = [
        write("test.sh", "grep -q hello hello-1.txt hello-2.txt\n"),
        write("hello-1.txt", "hello\n"),
        write("hello-2.txt", "hello\n"),
        submit(summary="Both."),
    ]
    scenes = {"builder[1]/task": both, "builder[2]/task": again}
    built = build(SmallBuild(tasks=2, scenes=scenes), **QUIET)
    assert built.ended.status is Status.VERIFIED
    second = evidence(built).requirements[0].criteria[1]
    assert (second.task, second.state) == ("hello-2", "tested")


def test_who_says_that_spec_and_test_disagree_is_heard(build):
    said = {"spec": "Each file holds one greeting", "other": "hello again", "chosen": "the spec"}
    told = [
        write("hello-1.txt", "hello 1\nhello again\n"),
        write("test.sh", "exit 0\n"),
        submit(summary="One greeting.", disagreements=[{**said, "file": "hello-1.txt"}]),
    ]
    script = replace(planned(verify="false"), scenes={"builder[1]/task": told}, heals=9)
    built = build(script, **QUIET)
    (flag,) = [each for each in evidence(built).flags if each.kind == "disagreement"]
    assert "hello again" in flag.words
    assert built.ended.status is Status.UNVERIFIED
    assert states(built)["R1"] == "missing"


@pytest.mark.parametrize("quote", ["words that no spec holds", SPEC[:20] + " not"])
def test_a_disagreement_has_to_be_quoted(build, quote):
    said = {"spec": quote, "other": SPEC[:20], "chosen": "nothing"}
    turns = [
        write("hello-1.txt", "hello\n"),
        write("test.sh", "exit 0\n"),
        submit(summary="One.", disagreements=[said]),
        submit(summary="One."),
    ]
    built = build(SmallBuild(tasks=1, scenes={"builder[1]/task": turns}), **QUIET)
    (record,) = [e for e in built.journal if getattr(e, "step", "") == "builder[1]/task"]
    assert "does not hold the words" in record.rejections[0]


def test_what_a_command_did_to_our_records_is_told(build):
    turns = [
        write("test.sh", "exit 0\n"),
        write("hello-1.txt", "hello\n"),
        run("echo '{}' >> .context-foundry/journal.jsonl; git commit -qam mine"),
        submit(summary="One."),
    ]
    script = SmallBuild(tasks=1, scenes={"builder[1]/task": turns})
    built = build(script, rules=EVERYTHING, **QUIET)
    assert built.ended.status is Status.VERIFIED
    about = {each.about for each in evidence(built).flags if each.kind == "tampering"}
    assert "the branch" in about
