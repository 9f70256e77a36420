"""The same task in fresh threads, until the checks hold and a doubting thread finds nothing."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from foundry.circular.assignment import Given, assigned, intact
from foundry.circular.patches import revert
from foundry.cli.main import run as command_line
from foundry.errors import ArtifactError, InputError, ProjectError
from foundry.model.rehearsal import faults
from foundry.model.rehearsal.script import Scene, SceneScript, Turn, call, say, turn
from foundry.schema.events import IterationEnded, Note
from foundry.schema.journal import StepRecord, Stop
from foundry.schema.messages import Usage
from foundry.schema.run import Limits, Status
from foundry.store.project import FOLDER
from foundry.store.session_log import newest
from tests.support.builds import EVERYTHING, git, tree
from tests.support.circular import TASK, Circular, done, doubt, more, repository, work
from tests.support.rehearsals import submit, write
from tests.support.workflows import plays

OLD = "print(old())\n"
NEW = "print(new())\n"
CONTEXT = """\
base_context:
  project: {name: Greeter, description: greets, tech_stack: [Python]}
  migration_history: {from: old, to: new, completion: 95%}
  task_objective: {primary: Finish the migration}
  constraints: [Keep the API]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", a_py=OLD, b_py=OLD)


@pytest.fixture
def circular(rehearsal: Any, project: Path) -> Any:
    def start(script: Any, **options: Any) -> Circular:
        return Circular.run(rehearsal(script), options.pop("folder", project), **options)

    return start


def notes(run: Circular) -> str:
    return "\n".join(event.text for event in run.events if isinstance(event, Note))


def iterations(run: Circular) -> list[tuple[int, str, str]]:
    return [(each.number, each.kind, each.status.value) for each in run.states]


def own_files(run: Circular, sha: str) -> set[str]:
    names = run.git("diff", "--name-only", f"{sha}~1", sha).split()
    return {name for name in names if not name.startswith(FOLDER)}


def test_a_run_is_over_when_its_checks_hold_and_a_doubting_thread_finds_nothing(
    circular: Any, tmp_path: Path
) -> None:
    prompt, context = tmp_path / "task.md", tmp_path / "base.yaml"
    prompt.write_text("About: {{base_context}}\n\nReplace old() everywhere in {{project.name}}.\n")
    context.write_text(CONTEXT)
    run: Circular = circular(
        plays(
            {
                work(1): [write("a.py", NEW), more("b.py:1", resolved=["a.py calls new"])],
                work(2): [write("b.py", NEW), done(resolved=["b.py calls new"])],
                doubt(2): [write("c.py", OLD), more("the README does not say it")],
                work(3): [write("README.md", "new()\n"), done()],
                doubt(3): [done(evidence="searched all files")],
            }
        ),
        prompt=str(prompt),
        context=context,
        message="fix: round {iteration}, {files} files, {issues} issues",
    )
    assert (run.ended.status, run.ended.reason) == (Status.VERIFIED, "all gates passed")
    assert iterations(run) == [
        (1, "work", "continue"), (2, "work", "continue"), (2, "doubt", "continue"),
        (3, "work", "success"), (3, "doubt", "success"),
    ]  # fmt: skip
    _told_alike(run)
    _recorded(run, prompt.read_text().strip())
    _committed(run)
    _taken_back(run)


def _told_alike(run: Circular) -> None:
    """Every thread begins with the same words; what the last ones found follows them."""
    first, second, third = (run.told(work(number)) for number in (1, 2, 3))
    heads = {text.split("# Step: ")[0] for text in (first, second, third, run.told(doubt(3)))}
    assert len(heads) == 1
    for words in ("About: Project: Greeter: greets", "everywhere in Greeter.", "- Keep the API",
                  "old → new, 95%"):  # fmt: skip
        assert words in first
    assert "No conversation worked on it before" in first
    assert "b.py:1" in second and "No conversation" not in second
    assert "`! grep -rn" in second and "exit code 1" in second
    assert "the README does not say it" in third
    claim = run.told(doubt(2)).split("What it gives as evidence")[1].split("</data>")[0]
    assert "grep finds nothing" in claim
    change = run.told(doubt(2)).split("What changed since ")[1].split("</data>")[0]
    assert "diff --git a/b.py b/b.py" in change and "a.py" not in change
    assert "What changed since" not in third


def _recorded(run: Circular, prompt: str) -> None:
    state = run.state
    assert state["circular_prompt_hash"] == sha256(prompt.encode()).hexdigest()
    assert state["base_context_hash"]
    assert state["progress_state"] == {
        "total_iterations": 20, "completed_iterations": 3, "overall_progress": 1.0,
        "completion_status": "complete",
    }  # fmt: skip
    one = state["iteration_history"][0]
    assert one["files_modified"] == ["a.py"]
    assert [each["description"] for each in one["issues_resolved"]][-1] == "a.py calls new"
    assert one["tokens"] > 0 and one["peak_context"] > 0
    assert (one["reason"], one["verdict"]) == ("completion", "more")
    report = run.artifact("circular/report.md")
    assert "**verified**: all gates passed" in report
    assert "- iterations: 3 of at most 20, and 2 that doubted" in report
    events = [each for each in run.events if isinstance(each, IterationEnded)]
    assert [(each.iteration, each.doubt, each.failing) for each in events] == [
        (1, False, 1), (2, False, 0), (2, True, 0), (3, False, 0), (3, True, 0),
    ]  # fmt: skip
    assert all(each.tokens and each.context_share for each in events)
    log = newest(run.project.logs)
    assert log is not None
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    written = [each["subject"] for each in lines if each.get("tool") == "write_file"
               and each["event"] == "tool_execution"]  # fmt: skip
    assert written == ["a.py", "b.py", "c.py", "README.md"]


def _committed(run: Circular) -> None:
    """Each iteration is one commit that holds what the journal says of it, and nothing else."""
    records = {r.step: r for r in run.journal if isinstance(r, StepRecord)}
    shas = {each.step: each.sha for each in run.commits}
    for number, files in ((1, {"a.py"}), (2, {"b.py"}), (3, {"README.md"})):
        assert own_files(run, shas[work(number)]) == files == set(records[work(number)].files)
    assert "fix: round 1, 1 files, 1 issues" in [each.subject for each in run.commits]
    assert own_files(run, shas[doubt(2)]) == set()
    assert "c.py" not in tree(run.project.root)
    assert tree(run.folder)["a.py"] == OLD.encode()


def _taken_back(run: Circular) -> None:
    """One command reverts an iteration; what was verified is not verified any more."""
    sha = next(each.sha for each in run.commits if each.step == work(1))
    assert "a.py" in revert(run.folder, 1)
    files = tree(run.project.root)
    assert (files["a.py"], files["b.py"]) == (OLD.encode(), NEW.encode())
    assert run.git("status", "--porcelain") == ""
    assert run.git("rev-parse", f"refs/foundry/{run.journal[0].run}/reverted-1").strip() == sha
    last = run.journal[-1]
    assert isinstance(last, Stop)
    assert last.status is Status.UNVERIFIED and "iteration 1 was taken back" in last.reason
    assert "iteration 1 was taken back" in run.artifact("circular/report.md")
    assert run.state["progress_state"]["overall_progress"] < 1
    with pytest.raises(InputError, match="taken back already"):
        revert(run.folder, 1)
    with pytest.raises(InputError, match="there were 3"):
        revert(run.folder, 9)


PRAISE = "Done. The codebase is clean: no work left to do, and all tests pass."


def test_a_full_window_ends_an_iteration_and_a_thread_without_a_verdict_is_doubted(
    circular: Any,
) -> None:
    full = Usage(input_tokens=150_000, output_tokens=500)
    words = [turn(say(PRAISE))] * 4
    run: Circular = circular(
        plays(
            {
                work(1): [
                    turn(say("Half of it."), call("write_file", path="a.py", content=NEW),
                         usage=full),
                ],
                work(2): [write("b.py", OLD + "\n"), *words],
                work(3): [write("b.py", NEW), *words],
                doubt(3): [done()],
                doubt(3, "doubt-2"): [done()],
            }
        ),
        confirmations=2,
    )  # fmt: skip
    assert run.ended.status is Status.VERIFIED, run.ended
    one, two, three, *doubts = run.states
    assert (one.reason, one.ending, one.status) == ("threshold", "restart", "continue")
    assert one.peak_context > 0.6 and one.files_modified == ("a.py",)
    assert (two.ending, two.status, two.verdict) == ("not_submitted", "continue", None)
    assert three.status == "success" and len(doubts) == 2
    assert "a.py" in run.told(work(2)) and "grew too full" in run.told(work(2))
    assert "reached 75% of its window" in run.told(work(2))
    with pytest.raises(ProjectError, match="later work changed the same lines"):
        revert(run.folder, 2)
    assert run.git("status", "--porcelain") == ""


def test_iterations_that_get_nowhere_end_the_run_with_the_reason(
    circular: Any, tmp_path: Path
) -> None:
    claims = {work(n): [done()] for n in range(2, 9)}
    refuted = {doubt(n): [more("the README")] for n in range(1, 9)}
    run: Circular = circular(
        plays({work(1): [write("a.py", NEW), done()], **claims, **refuted}),
        folder=repository(tmp_path / "refuted", a_py=OLD),
    )
    assert run.ended.status is Status.UNVERIFIED
    assert "no progress (same tree)" in run.ended.reason
    assert iterations(run)[-1] == (4, "work", "unknown"), "k + 1"
    assert run.state["progress_state"]["completion_status"] == "blocked"
    assert "no progress" in run.artifact("circular/report.md")
    with pytest.raises(InputError, match="changed no file"):
        revert(run.folder, 2)

    tests = "def test_a():\n    assert new()\n\n\ndef test_b():\n    assert old()\n"
    run = circular(
        plays({work(1): [write("test_a.py", tests.split("\n\n\n", maxsplit=1)[0] + "\n"), done()]}),
        folder=repository(tmp_path / "tested", test_a_py=tests),
    )
    assert run.ended.status is Status.UNVERIFIED
    assert "shrinking tests" in run.ended.reason


def test_without_a_check_nothing_is_verified_and_the_most_iterations_are_an_end(
    circular: Any, tmp_path: Path
) -> None:
    agreed = circular(plays({work(1): [write("a.py", NEW), done()], doubt(1): [done()]}), checks=())
    assert agreed.ended.status is Status.UNVERIFIED
    assert agreed.ended.reason == "there is no check to run"
    assert "success" not in {each.status for each in agreed.states if each.kind == "work"}
    run: Circular = circular(
        plays({work(1): [write("a.py", NEW), more("b.py")]}),
        folder=repository(tmp_path / "other", a_py=OLD, b_py=OLD),
        max_iterations=1,
    )
    assert run.ended.status is Status.UNVERIFIED
    assert "not done after 1 of 1 iterations" in run.ended.reason
    assert "checks are still failing" in run.ended.reason


def test_a_result_that_nobody_wants_committed_is_put_into_the_checkout(
    circular: Any, project: Path
) -> None:
    (project / "c.txt").write_text("mine\n")
    run: Circular = circular(
        plays({work(1): [write("a.py", NEW), write("b.py", NEW), done()], doubt(1): [done()]}),
        commit=False,
        branch="cleanup/old",
    )
    assert run.ended.status is Status.VERIFIED
    assert git(project, "status", "--porcelain").split() == [
        "M",
        "a.py",
        "M",
        "b.py",
        "??",
        "c.txt",
    ]
    assert git(project, "log", "--format=%s").split("\n")[0] == "as it was"
    assert (project / "a.py").read_text() == NEW
    assert not (project / FOLDER).exists()
    assert run.git("branch", "--show-current").strip() == "cleanup/old"
    assert f"the result is in {project}, uncommitted" in notes(run)
    run.go_on()
    assert "nothing to go on with" in notes(run)
    with pytest.raises(ProjectError, match="there is a branch cleanup/old"):
        circular(plays({}), branch="cleanup/old")


def test_a_checkout_in_which_the_result_does_not_fit_stays_as_it_is(
    circular: Any, project: Path
) -> None:
    script = plays({work(1): [write("a.py", NEW), write("b.py", NEW), done()], doubt(1): [done()]})

    def edit(event: Any) -> None:
        if isinstance(event, IterationEnded):
            (project / "b.py").write_text("mine\n")

    run: Circular = circular(script, commit=False, observe=edit)
    assert run.ended.status is Status.VERIFIED
    assert tree(project) == {"a.py": OLD.encode(), "b.py": b"mine\n"}
    assert "nothing was changed there" in notes(run)


BLOCKED = submit(verdict="blocked", evidence="the service needs a password", remaining=["b.py"])


def test_a_person_is_asked_and_what_they_changed_meanwhile_is_noticed(
    circular: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Threads that are blocked, threads without a verdict, a damaged state file, a new prompt."""
    prompt = tmp_path / "task.md"
    prompt.write_text(TASK)
    unclear = [turn(say("Hm."))] * 4
    script = plays(
        {
            work(1): [write("a.py", NEW), BLOCKED],
            work(2): [write("b.py", NEW), BLOCKED],
            work(3): [write("c.py", NEW), BLOCKED],
            work(4): [write("d.py", NEW), *unclear],
            work(5): [write("n.txt", NEW), *unclear],
            work(6): [write("e.py", NEW), done()],
            doubt(6): [done()],
        }
    )
    asked: list[str] = []

    def person(question: str) -> bool | None:
        """Goes on once, and is not there when asked again."""
        asked.append(question)
        return True if len(asked) == 1 else None

    folder = repository(tmp_path / "one", **{f"{name}_py": OLD for name in "abcde"})
    run: Circular = circular(script, prompt=str(prompt), folder=folder, ask=person, checks=())
    assert "2 threads in a row are blocked: the service needs a password" in asked[0]
    assert len(asked) == 2 and len(run.states) == 3
    assert run.ended.status is Status.PAUSED
    assert "blocked: the service needs a password" in run.ended.reason
    assert run.state["progress_state"]["completion_status"] == "blocked"
    run.project.artifact("circular/state.json").write_text('{"torn')
    prompt.write_text(TASK + " And say so.")
    with pytest.raises(InputError, match=r"task\.md changed since the run began"):
        run.go_on()
    assert command_line(["resume", str(run.folder)]) == 1
    assert "task.md changed since the run began" in capsys.readouterr().err
    assert run.go_on(accept=False).status is Status.PAUSED
    assert "termination_ambiguity (ask)" in run.ended.reason
    assert "state.json was changed or damaged: it is rebuilt from the journal" in notes(run)
    assert "it goes on with what it began with" in notes(run)
    assert run.state["circular_prompt_hash"] == sha256(TASK.encode()).hexdigest()
    run.go_on(accept=None, ask=lambda words: asked.append(words) or True)
    assert run.ended.reason == "there is no check to run"
    assert "task.md changed since the run began. Go on with what stands there now?" in asked[-1]
    assert run.state["circular_prompt_hash"] == sha256(prompt.read_bytes()).hexdigest()
    assert "And say so." not in run.told(work(5)) and "And say so." in run.told(work(6))


def gone(name: str) -> Turn:
    """A thread that is done once a server answers that asks to wait longer than a run may."""
    fault = faults.status(429, retry_after=99_999)
    return Turn(done().content, fault=fault, id=f"gone-{name}")


def test_each_of_the_five_errors_has_its_recovery(circular: Any) -> None:
    """Here wait and retry, rollback and retry, immediate restart; above rebuild state, and ask."""
    throttled = Turn(
        write("wrong.py", OLD).content, fault=faults.status(429, retry_after=0.05), id="throttled"
    )
    overflow = Turn(write("c.py", NEW).content, fault=faults.overflow(), id="overflow")
    refused = Turn((say("No."),), stop_reason="refusal", id="refused")
    first, again = f"# Step: {work(1)}\n", "An earlier attempt at this step failed"
    script = SceneScript(
        (
            Scene("refused", (first,), (throttled, refused), unless=(again,)),
            Scene("again", (first, again), (write("a.py", NEW), overflow)),
            Scene("gone", (f"# Step: {work(2)}\n",), (write("b.py", NEW), gone("work"))),
            *plays({work(3): [done()]}).scenes,
            Scene("doubt", (f"# Step: {doubt(3)}\n",), (gone("doubt"),)),
        )
    )
    run: Circular = circular(script)
    for step, progress in ((work(2), 0.5), (doubt(3), 0.99)):
        # what a thread did stays, and is not measured yet; a doubt is held again
        assert run.ended.status is Status.PAUSED and "asks to wait" in run.ended.reason, step
        assert run.state["progress_state"]["overall_progress"] == progress, step
        run.go_on()
    assert run.ended.status is Status.VERIFIED, run.ended
    one, two, three, last = run.states
    assert (two.reason, two.ending, two.files_modified) == ("error", "unavailable", ("b.py",))
    assert two.errors[0].startswith("model_rate_limit (wait_and_retry): ")
    assert (three.kind, three.number, last.kind, last.number) == ("work", 3, "doubt", 3)
    assert one.errors == (
        "execution_failure (rollback_and_retry): the model refused to do this",
        f"context_overflow (immediate_restart): {one.errors[1].split(': ', 1)[1]}",
    )
    assert "no longer fits" in one.errors[1]
    assert (one.reason, one.ending, one.files_modified) == ("threshold", "context_full", ("a.py",))
    assert three.errors == () and three.status == "success"
    ref = f"refs/foundry/{run.journal[0].run}/iterations-1-work-attempt-1"
    assert run.git("show", f"{ref}:wrong.py") == OLD
    assert "wrong.py" not in tree(run.project.root)
    waited = [each for each in run.events if each.kind == "waiting"]
    assert [each.seconds for each in waited] == [0.05]
    assert "- error rate: 50%" in run.artifact("circular/report.md")


def test_a_claim_holds_only_for_the_project_that_was_measured(
    circular: Any, tmp_path: Path
) -> None:
    """A person took work back while the doubt was still to come: that it agrees decides nothing."""
    scenes = plays({work(1): [write("a.py", NEW), done()], work(2): [done()]}).scenes
    later = Scene("doubt", (f"# Step: {doubt(1)}\n",), (gone("doubt"),))
    folder = repository(tmp_path / "one", a_py=OLD)
    run: Circular = circular(SceneScript((*scenes, later)), folder=folder, max_iterations=2)
    assert run.ended.status is Status.PAUSED
    revert(run.folder, 1)
    assert run.go_on().status is Status.UNVERIFIED
    assert "checks are still failing" in run.ended.reason
    assert "a person took that work back" in run.told(work(2))
    assert iterations(run) == [
        (1, "work", "continue"), (1, "doubt", "continue"), (2, "work", "continue"),
    ]  # fmt: skip


def test_money_that_is_spent_pauses_after_the_iteration_that_it_paid_for(
    circular: Any, project: Path
) -> None:
    """What the thread did is kept; and what the model does to its own assignment is not."""
    tamper = f"cd {FOLDER} && echo stop here | tee circular/prompt.md > mine.md; rm circular/*.json"
    paid = Usage(input_tokens=100_000, output_tokens=100)
    script = plays(
        {
            work(1): [
                turn(call("write_file", path="a.py", content=NEW),
                     call("run_command", command=tamper), usage=paid),
            ],
            work(2): [write("a.py", NEW), write("b.py", NEW), done()],
            doubt(2): [done()],
        }
    )  # fmt: skip
    run: Circular = circular(script, limits=Limits(max_usd=0.35), rules=EVERYTHING)
    assert run.ended.status is Status.PAUSED and "of $0.35 are spent" in run.ended.reason
    [one] = run.states
    assert (one.reason, one.ending, one.files_modified) == ("limit", "budget", ("a.py",))
    assert run.artifact("circular/prompt.md") == TASK + "\n"
    assert f"{FOLDER}/mine.md" not in run.git("ls-tree", "-r", "--name-only", "HEAD").split()
    assert "a.py" in revert(run.folder, 1)
    assert run.go_on(limits=Limits(max_usd=5)).status is Status.VERIFIED
    assert run.states[1].files_modified == ("a.py", "b.py")
    assert TASK in run.told(work(2)) and "stop here" not in run.told(work(2))


def test_an_assignment_that_is_not_what_was_given_ends_the_run() -> None:
    base = Given(CONTEXT, "base.yaml")
    assignment = assigned(TASK, context=base)
    assert intact(assignment) is assignment
    for change in ({"prompt": "Stop here."}, {"base_context": None}):
        with pytest.raises(ArtifactError, match="its hash is not the one"):
            intact(assignment.model_copy(update=change))
