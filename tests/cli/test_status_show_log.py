"""The commands that look at a run, on real little projects."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from little_project import EVIDENCE, RUN, LittleProject
from scripted_events import BUILD, STARTED, ended

from foundry.cli import log, show, status
from foundry.errors import InputError, JournalError, ProjectError
from foundry.report.lines import RESET
from foundry.report.status import StatusReport, status_of
from foundry.schema.messages import Usage
from foundry.schema.run import Status
from foundry.store import runs
from foundry.store.ledger import Ledger
from foundry.store.lock import locked
from tests.support.terminal import on_terminal

WAIT = 20


@pytest.fixture
def little(tmp_path: Path) -> LittleProject:
    return LittleProject(tmp_path / "project")


def call(command: object, *arguments: object) -> Result:
    """Run a command in this process; what it raises comes out."""
    return CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)  # type: ignore[arg-type]


# -- status ----------------------------------------------------------------------------------


def states(report: StatusReport) -> dict[str, str]:
    return {phase.phase: phase.state for phase in report.phases}


def test_a_run_that_nobody_works_on_was_killed(little: LittleProject) -> None:
    little.planned()
    sha = little.step("builder[1]/task")
    little.fail("builder[2]/task", "no more turns")
    report = status_of(little.project)
    assert (report.status, report.pid) == (Status.INTERRUPTED, None)
    assert report.resume == f"foundry resume {little.root}"
    assert report.spec == "A shelf for books"
    assert states(report) == {
        "scout": "done", "architect": "done", "builder": "begun", "test": "pending",
        "docs": "pending", "deploy": "pending", "feedback": "pending",
    }  # fmt: skip
    assert [(t.title, t.state, t.commit) for t in report.tasks] == [
        ("Add the store", "done", sha),
        ("Add the commands", "pending", ""),
    ]
    builder = next(phase for phase in report.phases if phase.phase == "builder")
    assert (builder.steps, builder.failed_attempts) == (1, 1)
    assert report.due == "builder 2/2: Add the commands"
    assert report.commits == 5
    assert (report.tokens, report.cost_usd) == (4_800, pytest.approx(0.2))
    assert report.peak_context_share == pytest.approx(0.1)
    assert report.elapsed_seconds == 40
    assert not little.project.local.exists()


def test_a_held_lock_means_running_and_names_the_process(little: LittleProject) -> None:
    little.planned()
    with locked(little.project):
        report = status_of(little.project)
        assert (report.status, report.pid, report.resume) == (Status.RUNNING, os.getpid(), "")
        assert states(report)["builder"] == "running"
    assert status_of(little.project).status is Status.INTERRUPTED


def test_looking_takes_no_lock_away(little: LittleProject) -> None:
    with locked(little.project):
        pass
    status_of(little.project)
    with locked(little.project), pytest.raises(ProjectError), locked(little.project):
        pytest.fail("two processes at work")


@pytest.mark.parametrize("ending", [Status.PAUSED, Status.FAILED, Status.VERIFIED])
def test_a_stop_line_says_how_it_stands(little: LittleProject, ending: Status) -> None:
    little.planned()
    little.stop(ending, "because")
    report = status_of(little.project)
    assert (report.status, report.reason) == (ending, "because")
    assert bool(report.resume) is (ending is not Status.VERIFIED)


def test_the_ledger_counts_what_no_step_tells_of(little: LittleProject) -> None:
    little.planned()
    Ledger(runs.ledger_path(RUN)).record("cut-off", Usage(input_tokens=500), 9.0)
    report = status_of(little.project)
    assert (report.tokens, report.cost_usd) == (500, 9.0)


def test_the_log_tells_the_last_activity(little: LittleProject) -> None:
    assert status_of(little.project).last_activity == "start"
    path = little.log("1", *BUILD[:4])
    with path.open("a") as file:
        file.write('{"event": "note", "te')  # torn by a kill
    assert status_of(little.project).last_activity == "read src/a.py"


def test_a_journal_that_this_version_does_not_follow_is_still_shown(
    little: LittleProject,
) -> None:
    little.step("scout")
    little.step("surveyor")
    report = status_of(little.project)
    assert "surveyor" in report.warnings[0]
    assert states(report)["scout"] == "done"


def test_a_damaged_journal_is_an_error_with_the_way_out(little: LittleProject) -> None:
    text = little.project.journal.read_text()
    little.project.journal.write_text("{}\n" + text)
    with pytest.raises(JournalError, match="git checkout HEAD"):
        call(status.command, little.root)


def test_no_run_is_an_error_that_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="foundry build"):
        call(status.command, tmp_path)


def test_status_as_json_is_the_report(little: LittleProject) -> None:
    little.planned()
    shown = call(status.command, little.root, "--json").stdout
    assert StatusReport.model_validate_json(shown) == status_of(little.project)


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_status_fits_its_terminal(little: LittleProject, columns: int) -> None:
    little.planned()
    little.step("builder[1]/task")
    text = on_terminal(status.command, little.root, columns=columns)
    assert "Add the commands" in text
    assert "1/2" in text
    plain = call(status.command, little.root).stdout
    assert plain.startswith("● interrupted: the process that worked on it is gone")
    assert f"go on with: foundry resume {little.root}" in plain.splitlines()
    assert all(line == line.rstrip() for line in plain.splitlines())
    assert "\x1b" not in plain


# -- show ------------------------------------------------------------------------------------


def test_artifacts_are_listed_in_the_order_of_a_build(little: LittleProject) -> None:
    little.planned()
    little.artifact("history/old/tasks.json", "{}")
    little.artifact("history/old/journal.jsonl", "{}")
    little.artifact("local/logs/x.jsonl", "{}")
    (little.project.folder / "passwd").symlink_to("/etc/passwd")
    rows = call(show.command, "--dir", little.root).stdout.splitlines()[1:]
    names = [row.split()[0] for row in rows]
    assert names == ["scout-report.md", "architecture.md", "journal.jsonl", "history/old/"]
    assert rows[0].endswith("what Scout found out")
    assert rows[3].split()[1:3] == ["4", "B"]


@pytest.mark.parametrize(
    "name", ["architecture.md", "arch", ".context-foundry/architecture.md", "history/old/task"]
)
def test_a_pipe_gets_the_exact_bytes(little: LittleProject, name: str) -> None:
    text = "# Plan\n\x1b[31m *red* \xff\n"
    little.artifact("architecture.md", text)
    little.artifact("history/old/tasks.json", text)
    shown = call(show.command, "--dir", little.root, name)
    assert shown.stdout_bytes == text.encode()


def test_the_beginning_of_a_file_in_a_folder_is_enough(little: LittleProject) -> None:
    little.artifact("feedback/build-feedback-1.json", "{}")
    assert call(show.command, "--dir", little.root, "build-feedback").stdout == "{}"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing", "there is no artifact 'nothing'. There are .*architecture.md"),
        ("test-results", "may mean several artifacts. They are .*1.md, .*2.md"),
        ("../secret.txt", "not the name of an artifact"),
        ("/etc/passwd", "not the name of an artifact"),
        ("local/logs/x.jsonl", "there is no artifact"),
        ("leak.md", "there is no artifact"),
        ("outside/secret.txt", "there is no artifact"),
        ("", "there is no artifact"),
    ],
)
def test_what_is_no_artifact_is_refused(little: LittleProject, name: str, words: str) -> None:
    (little.root / "secret.txt").write_text("secret")
    little.artifact("architecture.md", "x")
    little.artifact("test-results-iteration-1.md", "x")
    little.artifact("test-results-iteration-2.md", "x")
    little.artifact("local/logs/x.jsonl", "x")
    (little.project.folder / "leak.md").symlink_to(little.root / "secret.txt")
    (little.project.folder / "outside").symlink_to(little.root)
    with pytest.raises(InputError, match=words):
        call(show.command, "--dir", little.root, name)


def test_a_terminal_gets_it_laid_out_and_harmless(little: LittleProject) -> None:
    little.artifact("architecture.md", "# Plan\n\n**bold** \x1b]0;owned\x07 [a](http://x.y)\n")
    little.artifact("tasks.json", '{"b": [1, "\\u001b[2J"]}')
    little.artifact("broken.json", '{"b": \x1b[2J')
    shown = on_terminal(show.command, "--dir", little.root, "arch")
    assert "**" not in shown
    assert "\x1b]" not in shown
    assert r"\x1b]0;owned\x07" in shown
    shown = on_terminal(show.command, "--dir", little.root, "tasks")
    assert "\x1b[2J" not in shown
    assert '"b"' in shown
    assert r"\x1b[2J" in on_terminal(show.command, "--dir", little.root, "broken")
    raw = on_terminal(show.command, "--dir", little.root, "--raw", "arch")
    assert raw == "# Plan\r\n\r\n**bold** \\x1b]0;owned\\x07 [a](http://x.y)\r\n"


def test_evidence_is_a_chain_from_requirement_to_commit(little: LittleProject) -> None:
    little.artifact("evidence.json", EVIDENCE)
    shown = on_terminal(show.command, "--dir", little.root, "evidence")
    assert "verified: 1 of 1 requirement proven" in shown
    for part in (
        "R1",
        "a label is shown",
        "store",
        "passed, exit 0",
        "exit code 1 before",
        "1a2b3c4",
    ):
        assert part in shown


def test_evidence_of_another_shape_is_shown_as_json(little: LittleProject) -> None:
    little.artifact("evidence.json", '{"version": 99}')
    assert '"version"' in on_terminal(show.command, "--dir", little.root, "evidence")


def test_a_broken_tasks_file_does_not_stop_anyone_from_looking(little: LittleProject) -> None:
    little.planned()
    little.artifact("tasks.json", "{")
    assert call(status.command, little.root).exit_code == 0
    assert call(show.command, "--dir", little.root, "tasks").stdout == "{"


# -- log -------------------------------------------------------------------------------------


def test_the_log_reads_as_the_view_did(little: LittleProject) -> None:
    little.log("1", STARTED)
    little.log("2", *BUILD)
    lines = [line[9:] for line in call(log.command, little.root).stdout.splitlines()]
    assert lines[0] == "Foundry: run r1 begins"
    assert f"{RESET} · builder 1/2" in lines
    assert "✓ verified: all gates passed" in lines
    assert not any("read_file" in line for line in lines)
    everything = call(log.command, little.root, "--all").stdout
    assert everything.count("Foundry: run r1 begins") == 2


def test_verbose_tells_turns_and_tools(little: LittleProject) -> None:
    little.log("1", *BUILD)
    text = call(log.command, little.root, "-v").stdout
    assert "    ⏺ turn 1 · 8.7k in (92% cached), 900 out · $0.02 · context 4% · 3.0s\n" in text
    assert "    📖 read src/a.py · 0.1s\n" in text
    assert "stats    1 turn · 1 tool call · 1 compaction · 9.6k tokens · 0 files modified\n" in text


@pytest.mark.parametrize("follow", [(), ("-f",)])
def test_the_last_events_of_a_log(little: LittleProject, follow: tuple[str, ...]) -> None:
    little.log("1", *BUILD)
    whole = call(log.command, little.root).stdout.splitlines()
    ending = next(n for n, line in enumerate(whole) if "✓ verified" in line)
    last = call(log.command, little.root, "-n", 1, *follow).stdout.splitlines()
    assert last == whole[ending:]  # one event, many lines
    last = call(log.command, little.root, "-n", 3, *follow).stdout.splitlines()
    assert last == whole[ending - 2 :]
    assert call(log.command, little.root, "-n", 0, *follow).stdout == ""
    assert len(call(log.command, little.root, "-n", 2, "--json").stdout.splitlines()) == 2


def test_the_log_as_json_is_its_lines_without_the_torn_one(little: LittleProject) -> None:
    path = little.log("1", *BUILD)
    future = {"event": "future", "at": "2026-01-01T00:00:00Z", "odd": "\x7fü"}
    with path.open("a") as file:
        file.write(json.dumps(future, ensure_ascii=False) + "\n")
    whole = [json.loads(line) for line in path.read_text().splitlines()]
    with path.open("a") as file:
        file.write('{"event": "no')
    text = call(log.command, little.root, "--json").stdout
    assert [json.loads(line) for line in text.splitlines()] == whole
    assert text.isascii()
    assert "\x7f" not in text


def test_no_log_is_an_error(little: LittleProject) -> None:
    with pytest.raises(InputError, match="there is no log"):
        call(log.command, little.root)


class Follower:
    """`foundry log -f` in a process of its own."""

    def __init__(self, root: Path) -> None:
        code = "from foundry.cli.log import command; command()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(root), "-f"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.timer = threading.Timer(WAIT, self.process.kill)
        self.timer.start()

    def until(self, words: str) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            if words in line:
                return
        pytest.fail(f"no line with {words!r}")

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=WAIT)
        self.timer.cancel()
        return self.process.returncode, out, err


def test_following_goes_on_until_the_run_ends(little: LittleProject) -> None:
    with locked(little.project):
        little.log("1", *BUILD[:2])
        follower = Follower(little.root)
        follower.until(f"{RESET} · scout")
        little.log("1", *BUILD[2:])
        code, out, err = follower.end()
    assert (code, err) == (0, "")
    assert "✓ verified: all gates passed" in out


def test_following_ends_with_the_process_that_was_killed(little: LittleProject) -> None:
    with locked(little.project):
        little.log("1", *BUILD[:2])
        follower = Follower(little.root)
        follower.until(f"{RESET} · scout")
    code, _, err = follower.end()
    assert code == 0
    assert "no process works on this run any more: `foundry resume` goes on" in err


def test_ctrl_c_ends_the_following_alone(little: LittleProject) -> None:
    with locked(little.project):
        little.log("1", *BUILD[:2])
        follower = Follower(little.root)
        follower.until(f"{RESET} · scout")
        follower.process.send_signal(2)
        code, _, err = follower.end()
    assert (code, err) == (0, "")


def test_following_tells_an_ended_run_once(little: LittleProject) -> None:
    little.log("1", STARTED, ended())
    shown = call(log.command, little.root, "-f")
    assert shown.stdout.count("Foundry: run r1") == 1
    assert shown.stderr == ""
