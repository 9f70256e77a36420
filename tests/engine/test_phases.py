"""The phases as a whole: what lies on disk afterwards, and how a step that fails ends."""

import json
import re
from typing import Any

import pytest

from foundry.conversation.loop import REJECTIONS, REMINDERS
from foundry.model.rehearsal.script import Turn, say, turn
from foundry.schema.events import AttemptFailed
from foundry.schema.journal import Attempt, StepRecord
from foundry.schema.learning import Feedback
from foundry.schema.run import Status
from foundry.schema.summary import Evidence, SessionSummary
from tests.support.asked import requests_of, results, words
from tests.support.builds import Built, environment_of, git, serve
from tests.support.rehearsals import SPEC, SmallBuild, submit, write

TASK = "builder[1]/task"
ATTEMPTS = 3
REST = ("test", "docs", "feedback")
TALK = turn(say("I think it is done."))


def read(built: Built, name: str) -> Any:
    return json.loads(built.project.artifact(name).read_text())


# -- artifacts -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def healed(tmp_path_factory) -> Built:
    """A whole build of two tasks whose first test run fails. Tests only look at it."""
    place = tmp_path_factory.mktemp("healed")
    with pytest.MonkeyPatch.context() as patch, serve(SmallBuild(tasks=2, broken=True)) as server:
        for name, value in environment_of(place).items():
            patch.setenv(name, value)
        built = Built.start(server, place / "project")
    assert built.ended.status is Status.VERIFIED
    return built


def test_every_artifact_of_the_list_is_there_and_committed(healed):
    committed = set(git(healed.folder, "ls-files", ".context-foundry").split())
    names = {name.removeprefix(".context-foundry/") for name in committed}
    assert {
        "scout-report.md", "architecture.md", "tasks.json", "checks.json", "build-log.md",
        "test-iteration-count.txt", "test-results-iteration-1.md", "fixes-iteration-1.md",
        "test-results-iteration-2.md", "test-final-report.md", "session-summary.json",
        "evidence.json", "journal.jsonl", "patterns/common-issues.json",
        "patterns/test-patterns.json", "patterns/architecture-patterns.json",
        "patterns/scout-learnings.json",
    } <= names  # fmt: skip
    assert [n for n in names if re.fullmatch(r"feedback/build-feedback-[0-9TZ-]+\.json", n)]
    assert not [name for name in names if name.startswith("local/")]


def test_each_step_is_one_commit_with_its_trailers(healed):
    commits = healed.repository.run(
        "log", "--reverse", "--format=%s|%(trailers:key=Foundry-Run,valueonly,separator=%x2C)|"
        "%(trailers:key=Foundry-Step,valueonly,separator=%x2C)",
    ).splitlines()  # fmt: skip
    run = healed.journal[0].run
    assert {line.split("|")[1] for line in commits} == {run}
    steps = [line.split("|")[2] for line in commits if line.split("|")[2]]
    assert steps == healed.steps
    subjects = [line.split("|")[0] for line in commits]
    assert subjects == [
        "chore(foundry): begin a run",
        "docs(foundry): scout report and checks",
        "docs(foundry): architecture and 2 tasks",
        "feat: add greeting 1",
        "feat: add greeting 2",
        "test: iteration 1, 1 failing",
        "docs(foundry): fix plan 1",
        "fix: heal the checks that failed in iteration 1",
        "test: iteration 2, all hold",
        "test: review the project, 0 findings",
        "docs: describe the project",
        "test: review the documentation, 0 findings",
        "test: the final commit, all hold",
        "docs(foundry): feedback of this build",
        "chore(foundry): verified, all gates passed",
    ]


def test_a_journal_line_is_committed_with_what_it_tells(healed):
    """Commit N holds exactly the first N lines, and the tree that its line names."""
    shas = healed.repository.run("rev-list", "--reverse", "HEAD").split()
    for number, sha in enumerate(shas, 1):
        text = healed.repository.show(".context-foundry/journal.jsonl", sha)
        assert text is not None
        assert len(text.splitlines()) == number


def test_evidence_can_be_followed_from_the_requirement_to_git(healed):
    evidence = Evidence.model_validate(read(healed, "evidence.json"))
    plan = read(healed, "tasks.json")
    tasks = {task["id"]: task for task in plan["tasks"]}
    commits = {commit.sha: commit for commit in healed.commits}
    assert evidence.status is Status.VERIFIED
    assert [each.id for each in evidence.requirements] == ["R1", "R2"]
    for requirement in evidence.requirements:
        assert requirement.quote in SPEC
        assert requirement.state == "proven"
        assert [each.task for each in requirement.criteria] == ["hello-1", "hello-2"]
        for criterion in requirement.criteria:
            task = tasks[criterion.task]
            assert criterion.check is not None
            assert (criterion.check.command, criterion.check.exit_code) == (task["verify"], 0)
            assert git(healed.folder, "cat-file", "-t", criterion.commit).strip() == "commit"
            assert commits[criterion.commit].subject == f"feat: add greeting {task['id'][-1]}"
            changed = git(healed.folder, "show", "--name-only", "--format=", criterion.commit)
            assert f"{task['id']}.txt" in changed.split()
    assert {check.name: check.exit_code for check in evidence.final_checks} == {
        "greetings": 0, "show": 0, "verify hello-1": 0, "verify hello-2": 0,
    }  # fmt: skip
    assert [(check.name, check.exit_code) for check in evidence.documentation] == [
        ("README.md block 1", 0)
    ]


def test_session_summary_counts_what_happened(healed):
    summary = SessionSummary.model_validate(read(healed, "session-summary.json"))
    records = [entry for entry in healed.journal if isinstance(entry, StepRecord)]
    assert (summary.status, summary.reason) == (Status.VERIFIED, "all gates passed")
    assert summary.run == healed.journal[0].run
    assert (summary.place, summary.branch) == ("new folder", "main")
    states = {phase.phase: (phase.state, phase.steps) for phase in summary.phases}
    assert states == {
        "scout": ("done", 1), "architect": ("done", 1), "builder": ("done", 2), "test": ("done", 5),
        "docs": ("done", 3), "deploy": ("skipped", 0), "feedback": ("done", 1),
    }  # fmt: skip
    shas = healed.repository.run("rev-list", "--reverse", "HEAD").split()
    assert [commit.sha for commit in summary.commits] == shas[:-1]  # its own can't be in it
    assert [(task.id, task.state, task.attempts) for task in summary.tasks] == [
        ("hello-1", "done", 1), ("hello-2", "done", 1),
    ]  # fmt: skip
    assert {task.commit for task in summary.tasks} <= set(shas)
    assert (summary.tests.passed, summary.tests.iterations, summary.tests.failing) == (True, 2, 0)
    assert summary.tokens == healed.server.billed
    talks = [record for record in records if record.spend.turns]
    assert [each.step for each in summary.conversations] == [record.step for record in talks]
    assert sum(each.turns for each in summary.conversations) == len(healed.server.requests)
    costs = [record.spend.cost_usd or 0 for record in records]  # each rounded to 1e-6
    assert summary.cost_usd == pytest.approx(sum(costs), abs=1e-6 * len(costs))
    assert summary.cost_usd
    assert 0 < summary.peak_context_share < 0.4
    assert summary.started_at < summary.ended_at


def test_feedback_is_stamped_by_code_and_learned(healed):
    [file] = (healed.project.folder / "feedback").iterdir()
    feedback = Feedback.model_validate_json(file.read_text())
    assert (feedback.run, feedback.test_iterations) == (healed.journal[0].run, 2)
    assert feedback.status is Status.VERIFIED
    issues = read(healed, "patterns/common-issues.json")["patterns"]
    assert [each["title"] for each in issues] == [feedback.issues[0].title]


def test_what_was_learned_is_told_to_the_next_build(build, tmp_path):
    """Told as data, to the phase that should have caught it: architect."""
    build(SmallBuild(tasks=1))
    second = build(SmallBuild(tasks=1), folder=tmp_path / "second", pause_after=("architect",))
    told = words(requests_of(second.server, "architect")[0])
    assert "A misspelt word passes a check" in told
    assert "A misspelt word passes a check" not in words(requests_of(second.server, "scout")[0])


def test_a_builder_is_told_its_task_and_what_was_made_before(healed):
    first = words(requests_of(healed.server, TASK)[0])
    second = words(requests_of(healed.server, "builder[2]/task")[0])
    assert "Write hello-2.txt with a greeting" in second
    assert "hello-1.txt greets." in second
    assert "hello-1.txt greets." not in first
    assert "Write hello-2.txt" not in first


def test_what_follows_the_first_checks_starts_from_the_project_described(healed):
    described = "described from its code"
    assert described not in words(requests_of(healed.server, TASK)[0])  # one prefix for all tasks
    for step in ("test[1]/plan", "docs", "feedback"):
        assert described in words(requests_of(healed.server, step)[0])
    assert "test.sh" in healed.project.artifact("CONTEXT.md").read_text()


@pytest.mark.parametrize(
    ("skip", "status"),
    [
        (("test",), Status.UNVERIFIED),
        (("docs", "feedback"), Status.VERIFIED),
    ],
    ids=["tests", "words"],
)
def test_skipped_phases(build, skip, status):
    built = build(SmallBuild(tasks=1), skip=skip)
    assert built.ended.status is status
    assert not {step.split("[")[0] for step in built.steps} & set(skip)
    phases = {
        phase["phase"]: phase["state"] for phase in read(built, "session-summary.json")["phases"]
    }
    assert {phases[name] for name in skip} == {"skipped"}


@pytest.mark.parametrize("phase", ["scout", "architect", "builder", "test", "docs"])
def test_pause_after_each_phase(build, phase):
    built = build(SmallBuild(tasks=2, broken=True), pause_after=(phase,))
    assert (built.ended.status, built.ended.reason) == (
        Status.PAUSED, f"asked to pause after {phase}",
    )  # fmt: skip
    assert built.steps[-1].split("[")[0] == {"docs": "proof"}.get(phase, phase)
    assert read(built, "session-summary.json")["status"] == "paused"
    assert built.resume().status is Status.VERIFIED
    assert len(built.steps) == len(set(built.steps))


# -- contracts -------------------------------------------------------------------------------------


def failing(*turns: Turn) -> SmallBuild:
    return SmallBuild(tasks=1, scenes={TASK: turns})


def attempts(built: Built) -> list[Attempt]:
    return [entry for entry in built.journal if isinstance(entry, Attempt)]


def test_an_invalid_payload_goes_back_with_the_reason(build):
    wrong = submit(summary="", change="wonder", extra=1)
    built = build(failing(wrong, *SmallBuild(tasks=1).builder(1)), skip=REST)
    assert built.steps[-1] == TASK
    assert attempts(built) == []
    [(told, is_error)] = results(requests_of(built.server, TASK)[1])
    assert is_error
    for field in ("- summary: ", "- change: ", "- extra: "):
        assert field in told


def test_a_model_that_never_submits_is_reminded_then_fails_and_is_tried_afresh(build):
    half = write("half.txt", "half done\n")
    built = build(failing(half, *[TALK] * (REMINDERS + 1)), skip=REST)

    assert built.ended.status is Status.FAILED
    assert built.ended.status.exit_code == 1
    assert built.ended.reason == (
        f"{TASK} failed {ATTEMPTS} times: the model stopped without submitting a result"
    )
    tried = attempts(built)
    assert [(entry.attempt, entry.reason) for entry in tried] == [
        (number, "not_submitted") for number in range(1, ATTEMPTS + 1)
    ]
    requests = requests_of(built.server, TASK)
    assert len(requests) == ATTEMPTS * (REMINDERS + 2)
    assert [len(body["messages"]) for body in requests[: REMINDERS + 2]] == [1, 3, 5, 7, 9]
    for number, entry in enumerate(tried):
        opening = requests[number * (REMINDERS + 2)]
        assert len(opening["messages"]) == 1
        assert ("stopped without submitting" in words(opening)) is (number > 0)
        patch = built.folder / entry.salvage
        assert "+half done" in patch.read_text()
    assert len({entry.salvage for entry in tried}) == ATTEMPTS
    assert not (built.folder / "half.txt").exists()
    assert built.repository.changes() == ()


def test_a_fresh_attempt_finds_the_tree_as_the_first_did(build):
    scene = {"first": [write("half.txt", "half\n"), *[TALK] * 4]}
    good = SmallBuild(tasks=1).builder(1)

    def script(request):
        """Fails the first attempt; the second one does it."""
        retried = "An earlier attempt" in json.dumps(request["messages"][0])
        chosen = SmallBuild(tasks=1, scenes={TASK: good if retried else scene["first"]})
        return chosen()(request)

    built = build(script, skip=REST)
    assert built.steps[-1] == TASK
    record = next(e for e in built.journal if isinstance(e, StepRecord) and e.step == TASK)
    assert (record.attempt, "half.txt" in record.files) == (2, False)
    assert built.repository.show("half.txt") is None
    assert len([e for e in built.events if isinstance(e, AttemptFailed)]) == 1
    summary = read(built, "session-summary.json")
    assert [(task["attempts"], task["state"]) for task in summary["tasks"]] == [(2, "done")]
    assert [p["failed_attempts"] for p in summary["phases"] if p["phase"] == "builder"] == [1]


def test_submissions_that_are_never_accepted_fail_the_attempt(build):
    built = build(failing(*[submit(summary="done")] * REJECTIONS), skip=REST)
    assert built.ended.status is Status.FAILED
    assert {entry.reason for entry in attempts(built)} == {"rejected"}
    assert "nothing in the project has changed" in built.ended.reason


def test_a_failed_run_gets_fresh_attempts_when_a_person_resumes_it(build):
    built = build(failing(*[TALK] * (REMINDERS + 1)), skip=REST)
    assert built.ended.status is Status.FAILED
    built.server._script = SmallBuild(tasks=1)()
    assert built.resume().status is Status.UNVERIFIED
    assert built.steps == ["scout", "architect", TASK]


def test_budget_pauses_before_more_is_spent_and_goes_on_with_more(build):
    from foundry.schema.run import Limits

    built = build(SmallBuild(tasks=2), limits=Limits(max_usd=0.03))
    assert built.ended.status is Status.PAUSED
    assert (
        "of $0.03 are spent and another call could cost more than is left; "
        "`foundry resume --max-usd 0.06` goes on" in built.ended.reason
    )
    spent = read(built, "session-summary.json")["cost_usd"]
    assert 0 < spent <= 0.03
    assert built.resume(limits=Limits(max_usd=5)).status is Status.VERIFIED
    assert len(built.steps) == len(set(built.steps))
