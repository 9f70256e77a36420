"""Permission through whole builds: refusals, pauses, answers on resume, and whose rules count."""

import json
from pathlib import Path
from typing import Any

import pytest

from foundry.config import home
from foundry.errors import InputError
from foundry.model.rehearsal.script import Turn
from foundry.permission.policy import parse_rule
from foundry.schema.events import Judged
from foundry.schema.permission import Answer, Effect, Mode, Question
from foundry.schema.run import Status
from foundry.store.session_log import newest
from tests.support.builds import Built, git
from tests.support.rehearsals import SmallBuild, run

TASK = "builder[1]/task"


def small(*turns: Turn) -> SmallBuild:
    """A build of one task whose builder begins with these turns."""
    plain = SmallBuild(tasks=1)
    return SmallBuild(tasks=1, scenes={TASK: [*turns, *plain.builder(1)]})


def judged(built: Built) -> list[tuple[str, str, str]]:
    return [(e.subject, e.decision, e.who) for e in built.events if isinstance(e, Judged)]


def test_a_build_goes_on_after_a_refusal_and_the_log_tells_of_it(build: Any):
    built: Built = build(small(run("git push origin main")))
    assert built.ended.status is Status.VERIFIED
    assert ("git push origin main", "deny", "policy") in judged(built)
    log = newest(built.project.logs)
    assert log is not None
    told = [json.loads(line) for line in log.read_text().splitlines()]
    [refusal] = [each for each in told if each.get("decision") == "deny"]
    assert (refusal["tool"], refusal["who"]) == ("run_command", "policy")
    assert refusal["rule"].startswith("deny run_command: git push *")
    assert "shipped" in refusal["rule"]


def test_many_refusals_pause_and_a_rule_of_the_command_line_goes_on(build: Any):
    built: Built = build(small(*[run("factor 6")] * 6))
    assert built.ended.status is Status.PAUSED
    assert built.ended.status.exit_code == 4
    assert "6 calls were refused" in built.ended.reason
    assert "factor 6" in built.ended.reason
    assert git(built.project.root, "status", "--porcelain") == ""
    built.resume(rules=(parse_rule(Effect.ALLOW, "run_command: factor *"),))
    assert built.ended.status is Status.VERIFIED
    assert judged(built).count(("factor 6", "allow", "policy")) == 6


def test_the_project_has_no_say_in_what_is_allowed(build: Any, tmp_path: Path):
    folder = tmp_path / "theirs"
    for place in (folder, folder / ".context-foundry", folder / ".foundry"):
        place.mkdir(exist_ok=True)
        (place / "policy.yaml").write_text("rules: [{allow: run_command}]\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-qm", "theirs")
    built: Built = build(small(run("factor 6")), folder=folder)
    assert ("factor 6", "deny", "policy") in judged(built)


def test_a_persons_own_policy_counts(build: Any):
    home().mkdir(parents=True)
    (home() / "policy.yaml").write_text(
        "rules: [{allow: run_command, command: factor *}, {deny: write_file, path: hello-1.txt}]\n"
    )
    built: Built = build(small(run("factor 6")))
    assert ("factor 6", "allow", "policy") in judged(built)
    assert ("hello-1.txt", "deny", "policy") in judged(built)


def test_a_policy_that_is_not_valid_stops_a_build_before_it_begins(build: Any, tmp_path: Path):
    home().mkdir(parents=True)
    (home() / "policy.yaml").write_text("rules: [{allow: run_comand}]\n")
    with pytest.raises(InputError, match="no tool 'run_comand'"):
        build(small(), folder=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_ask_without_a_person_pauses_and_resume_shows_the_question(build: Any):
    built: Built = build(small(), permission=Mode.ASK)
    assert built.ended.status is Status.PAUSED
    assert built.ended.status.exit_code == 4
    assert f"{TASK} wants to use write_file: hello-1.txt" in built.ended.reason
    assert not (built.folder / "hello-1.txt").exists()
    asked_before = len(built.server.requests)

    built.resume()  # nobody is there again: nothing is paid for
    assert built.ended.status is Status.PAUSED
    assert "wants to use write_file: hello-1.txt" in built.ended.reason
    assert len(built.server.requests) == asked_before

    questions: list[Question] = []

    def yes(question: Question) -> Answer:
        questions.append(question)
        return Answer(kind="yes")

    built.resume(approve=yes)
    assert built.ended.status is Status.VERIFIED
    assert "+hello 1" in questions[0].shown
    subjects = [question.subject for question in questions]
    assert subjects.count("hello-1.txt") == 1  # answered once, used once
    assert ("hello-1.txt", "yes", "person") in judged(built)


def test_an_answer_of_no_holds_when_the_call_comes_again(build: Any):
    built: Built = build(small(run("touch made")), permission=Mode.ASK)
    answers = {"touch made": Answer(kind="no")}
    built.resume(approve=lambda question: answers.get(question.subject, Answer(kind="yes")))
    assert built.ended.status is Status.VERIFIED
    assert ("touch made", "no", "person") in judged(built)
    assert not (built.folder / "made").exists()


def test_other_rules_take_the_question_back(build: Any):
    built: Built = build(small(run("touch made")), permission=Mode.ASK)
    assert built.ended.status is Status.PAUSED
    built.resume(permission=Mode.AUTO)
    assert built.ended.status is Status.VERIFIED
    assert (built.folder / "made").exists()


def test_always_is_kept_with_the_run_and_not_in_the_project(build: Any):
    built: Built = build(
        SmallBuild(),
        permission=Mode.ASK,
        approve=lambda question: Answer(kind="always" if question.always else "yes"),
    )
    assert built.ended.status is Status.VERIFIED
    always = [each for each in judged(built) if each[1] == "always"]
    assert len({subject for subject, *_ in always}) == len(always)
    kept = home() / "runs" / built.journal[0].run / "approvals.json"
    assert "hello-1.txt" in kept.read_text()
    assert not list(built.folder.rglob("approvals.json"))


def test_plan_pauses_before_the_first_step_that_changes_anything(build: Any):
    built: Built = build(SmallBuild(), permission=Mode.PLAN)
    assert built.ended.status is Status.PAUSED
    assert built.steps == ["scout", "architect"]
    assert "--permission auto" in built.ended.reason
    built.resume(permission=Mode.AUTO)
    assert built.ended.status is Status.VERIFIED
