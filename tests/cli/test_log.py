"""`foundry log`: what it looks for, counts, and passes over."""

import json
import os
import pty
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from little_project import LittleProject
from scripted_events import BUILD, STARTED, TASK, ended

from foundry.cli import log
from foundry.errors import InputError
from foundry.report.units import moment
from foundry.schema.events import (
    ContextUpdated,
    Event,
    Given,
    Judged,
    Note,
    Reasoned,
    StepStarted,
    ToolRan,
    ToolStarted,
    TurnEnded,
)
from foundry.store.lock import locked

TALK = "r1-0005-builder-2-task"
STORE = "r1-0004-builder-1-task"
FAILING = "test_a ... ok\ntest_b ... FAIL\nAssertionError: 0 != 1\nexit code 1"
EVENTS: tuple[Event, ...] = (
    STARTED,
    Given("", "", "spec", "A shelf", 3),
    StepStarted("builder[1]/task", "builder", "Add the store", 1, True, 1, 2),
    Given("builder[1]/task", STORE, "opening", "Build the store", 2_400),
    ToolRan("builder[1]/task", "read_file", "store.py", 0.1, "", STORE, "a\nb", 2),
    StepStarted(TASK, "builder", "Add the commands", 1, True, 2, 2),
    Given(TASK, TALK, "opening", "Build the commands", 2_400),
    Reasoned(TASK, "The tests first.\nThen the code.", TALK),
    TurnEnded(TASK, 1, 200, 900, 8_000, 500, 0.02, 0.04, 3.0, "max_tokens", TALK),
    ContextUpdated(TASK, TALK, 9_600, 200_000, 4.8, 190_400, False, 3, 0, {"current_task": 9_600}),
    ToolStarted(TASK, "run_command", "pytest -q", TALK),
    Judged(TASK, "run_command", "pytest -q", "yes", "pytest -q", "a rule asks", "", "person"),
    ToolRan(TASK, "run_command", "pytest -q", 0.2, "", TALK, FAILING, 4),
    ToolRan(TASK, "write_file", "../x", 0.0, "outside of the project", TALK, "outside", 1),
    ToolRan(TASK, "search_text", "def Ä", 0.0, "", TALK, "a.py:1: def Ä\nb.py:2: def Ä", 2),
    Note("look here"),
    ended("failed", exit_code=1),
)


@pytest.fixture
def little(tmp_path: Path) -> LittleProject:
    return LittleProject(tmp_path / "project")


def call(little: LittleProject, *options: object) -> Result:
    arguments = [str(little.root), *map(str, options)]
    return CliRunner().invoke(log.command, arguments, catch_exceptions=False)


def told(little: LittleProject, *options: object) -> list[str]:
    """The lines without their times."""
    shown = call(little, *options).stdout.splitlines()
    return [re.sub(r"^(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d ", "", line) for line in shown]


def kinds(little: LittleProject, *options: object) -> list[str]:
    lines = call(little, "--json", *options).stdout.splitlines()
    return [json.loads(line)["event"] for line in lines]


# -- looking for events ----------------------------------------------------------------------


def test_verbose_shows_reasoning_calls_and_results(little: LittleProject) -> None:
    little.log("1", *EVENTS)
    shown = told(little, "-v")
    assert shown[shown.index("    💭 The tests first.") :][:10] == [
        "    💭 The tests first.",
        "        Then the code.",
        "    ⏺ turn 1 · 8.7k in (92% cached), 900 out · $0.02 · context 4% · 3.0s · max tokens",
        "    ✓ run_command: pytest -q · yes by person: a rule asks",
        "    ▶ run pytest -q · ✗ exit code 1 · 0.2s",
        "        test_a ... ok",
        "        test_b ... FAIL",
        "        AssertionError: 0 != 1",
        "    ✏️ write ../x · ✗ outside of the project",
        "    🔍 search 'def Ä' · 2 matches",
    ]


def test_events_of_a_kind_say_where_they_belong(little: LittleProject) -> None:
    little.log("1", *EVENTS)
    assert told(little, "--kind", "tool_execution") == [
        "builder 1/2        📖 read store.py · 2 lines · 0.1s",
        "builder 2/2        ▶ run pytest -q · ✗ exit code 1 · 0.2s",
        "builder 2/2        ✏️ write ../x · ✗ outside of the project",
        "builder 2/2        🔍 search 'def Ä' · 2 matches",
    ]
    assert told(little, "--kind", "context_update", "--kind", "tool_call") == [
        "builder 2/2        context 9,600 of 200,000 tokens (4.8%) · current task 9.6k",
        "builder 2/2        ▶ run pytest -q · called",
    ]
    assert told(little, "--kind", "input")[0] == "● spec · 3 tokens"
    assert "builder 2/2            test_b ... FAIL" in told(
        little, "--kind", "tool_execution", "-v"
    )


def test_an_unknown_kind_is_named_with_those_there_are(little: LittleProject) -> None:
    little.log("1", *EVENTS)
    with pytest.raises(InputError, match=r"'tools'.*tool_execution"):
        call(little, "--kind", "tools")


def test_failures_alone(little: LittleProject) -> None:
    little.log("1", *EVENTS)
    shown = told(little, "--failures")
    assert [line.split(" · ")[0] for line in shown[:2]] == [
        "builder 2/2        ⏺ turn 1",
        "builder 2/2        ✏️ write ../x",
    ]
    assert "✓ failed: all gates passed" not in shown
    assert any("failed: all gates passed" in line for line in shown)
    assert kinds(little, "--failures") == ["llm_call", "tool_execution", "run_ended"]


def test_a_text_is_found_in_any_case_with_the_lines_that_hold_it(little: LittleProject) -> None:
    little.log("1", *EVENTS)
    assert told(little, "--grep", "assertionERROR") == [
        "builder 2/2        ▶ run pytest -q · ✗ exit code 1 · 0.2s",
        "builder 2/2            AssertionError: 0 != 1",
    ]
    assert kinds(little, "--grep", "def ä") == ["tool_execution"]
    assert told(little, "--grep", "tokens_after") == []  # names of fields are no text


@pytest.mark.parametrize(
    ("step", "count"),
    [("builder", 13), ("builder[2]", 10), (TASK, 10), ("builder[1]", 3), ("build", 0), ("test", 0)],
)
def test_a_step_or_a_phase_alone(little: LittleProject, step: str, count: int) -> None:
    little.log("1", *EVENTS[:-2])
    found = kinds(little, "--step", step)
    assert len(found) == count
    assert kinds(little, "--phase", step) == found


def test_a_phase_is_known_whatever_its_steps_are_called(little: LittleProject) -> None:
    looking = ToolRan("look", "read_file", "a", 0.1)
    little.log("1", StepStarted("look", "scout", "t", 1, True), looking, *EVENTS)
    assert kinds(little, "--phase", "scout") == ["step_started", "tool_execution"]
    assert kinds(little, "--step", "look") == kinds(little, "--phase", "scout")


def test_what_is_said_between_steps_belongs_to_the_one_that_runs(little: LittleProject) -> None:
    little.log("1", *EVENTS)
    assert "note" in kinds(little, "--step", "builder[2]")
    assert "note" not in kinds(little, "--step", "builder[1]")


def test_the_events_of_a_conversation(little: LittleProject) -> None:
    little.log("1", *EVENTS)
    assert kinds(little, "--conversation", "builder-1", "--kind", "tool_execution") == [
        "tool_execution"
    ]
    found = kinds(little, "--conversation", TALK, "--kind", "approval", "--kind", "input")
    assert found == ["input", "approval"]  # the approval names none: it is the one that runs


def test_times_bound_it_over_all_invocations(little: LittleProject) -> None:
    lines = [
        {"at": f"2026-01-0{day}T12:00:00Z", "event": "note", "text": f"day {day}"}
        for day in (1, 2, 3)
    ]
    little.project.logs.mkdir(parents=True)
    for line in lines:
        path = little.project.logs / f"{line['at'][:10]}.jsonl"
        path.write_text(json.dumps(line) + "\n")
    assert told(little) == ["● day 3"]
    assert told(little, "--since", "2026-01-02T00:00Z") == ["● day 2", "● day 3"]
    bounds = ("--since", "2026-01-01T18:00Z", "--until", "2026-01-02T18:00Z")
    assert told(little, *bounds) == ["● day 2"]
    assert call(little, *bounds).stdout.startswith("2026-01-0")  # with the date
    with pytest.raises(InputError, match="'tomorrow' is no time"):
        call(little, "--since", "tomorrow")


NOW = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90s", NOW - timedelta(seconds=90)),
        ("1.5h", NOW - timedelta(minutes=90)),
        ("2D", NOW - timedelta(days=2)),
        ("2026-01-01T10:00Z", NOW - timedelta(hours=26)),
        ("2026-01-01T10:00+01:00", NOW - timedelta(hours=27)),
    ],
)
def test_points_in_time(text: str, expected: datetime) -> None:
    assert moment(text, NOW) == expected


def test_a_time_of_day_is_the_last_such_one() -> None:
    local = NOW.astimezone()
    before, after = local - timedelta(minutes=5), local + timedelta(minutes=5)
    assert moment(f"{before:%H:%M}", NOW) == before.replace(second=0)
    assert moment(f"{after:%H:%M}", NOW) == after.replace(second=0) - timedelta(days=1)


@pytest.mark.parametrize("text", ["", "12", "25:00", "10 parsecs", "99999999999999d", "-5m"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(InputError, match="no time"):
        moment(text, NOW)


# -- figures ---------------------------------------------------------------------------------


def test_figures_are_counted_also_where_the_process_was_killed(little: LittleProject) -> None:
    path = little.log("1", *EVENTS)
    whole = call(little, "--stats", "--json").stdout
    *lines, stats = path.read_text().splitlines()
    assert json.loads(whole).items() <= json.loads(stats).items()
    path.write_text("\n".join(lines) + '\n{"at": "2026')
    killed = call(little, "--stats", "--json")
    assert killed.stdout == whole
    assert killed.stderr == "1 damaged or torn line passed over\n"


def test_figures_for_people_and_of_a_part(little: LittleProject) -> None:
    little.log("1", *EVENTS)
    assert call(little, "--stats").stdout.splitlines() == [
        "turns    1 · 1 call of a model",
        "tools    4, 1 failed",
        "tokens   8.7k in, 92% of them cached, 900 out",
        "cost     $0.02",
        "context  4.8% at its fullest · 0 compactions",
        "files    0 modified",
    ]
    assert "tools    1" in call(little, "--stats", "--step", "builder[1]").stdout.splitlines()


def test_all_invocations_together(little: LittleProject) -> None:
    little.log("1", *EVENTS)
    little.log("2", *EVENTS)
    assert "tools    8, 2 failed" in call(little, "--stats", "--all").stdout.splitlines()


# -- damage ----------------------------------------------------------------------------------


def test_damaged_lines_are_passed_over_with_a_note(little: LittleProject) -> None:
    path = little.log("1", *BUILD)
    sound = call(little).stdout
    lines = path.read_bytes().splitlines(keepends=True)
    damage = [b"\xff\xfe\x00\n", b"[1, 2]\n", b'{"at": "yesterday", "event": "note"}\n', b"\n",
              b'{"at": 1}\n', b'{"at": "2026-01-01T00:00:00", "event": "note", "text": "t"}\n',
              b"[" * 100_000 + b"\n"]  # fmt: skip
    path.write_bytes(lines[0] + b"".join(damage) + b"".join(lines[1:]) + b'{"event": "no')
    shown = call(little)
    assert shown.stdout == sound
    assert shown.stderr == "7 damaged or torn lines passed over\n"
    assert call(little, "-f").stdout == sound


def test_what_is_still_being_written_is_no_damage(little: LittleProject) -> None:
    path = little.log("1", *BUILD)
    with path.open("a") as file:
        file.write('{"event": "no')
    with locked(little.project):
        assert call(little).stderr == ""


def test_logs_of_another_version_are_read_where_they_fit(little: LittleProject) -> None:
    little.project.logs.mkdir(parents=True)
    at = {"at": "2026-01-01T00:00:00Z"}
    old = {**at, "event": "tool", "step": "scout", "tool": "read_file", "subject": "a.py",
           "seconds": 0.1, "error": "", "level": "info"}  # fmt: skip
    odd = [
        {**at, "event": "masked"},
        {**at, "event": "note", "text": [1]},
        {**at, "event": "check"},
    ]
    (little.project.logs / "1.jsonl").write_text("".join(json.dumps(e) + "\n" for e in (old, *odd)))
    shown = call(little, "--kind", "tool_execution")
    assert shown.stdout.endswith("📖 read a.py · 0.1s\n")
    assert shown.stderr == ""
    assert len(call(little, "--json").stdout.splitlines()) == 4


def test_a_log_shows_no_secret_that_an_earlier_version_left_in_it(little: LittleProject) -> None:
    little.project.logs.mkdir(parents=True)
    line = {"at": "2026-01-01T00:00:00Z", "event": "note", "text": "ghp_0123456789abcdefghijAB"}
    (little.project.logs / "1.jsonl").write_text(json.dumps(line) + "\n")
    assert told(little) == ["● [redacted]"]


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_marks_fit_the_locale_of_the_terminal(little: LittleProject, locale: str) -> None:
    little.log("1", *EVENTS)
    ours, theirs = pty.openpty()
    code = "from foundry.cli.log import command; command()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(little.root), "-v"], stdout=theirs, stderr=theirs,
        env={**os.environ, "LC_ALL": locale},
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 65_536):
            seen += chunk
    except OSError:
        pass  # how a terminal says that its program has gone
    os.close(ours)
    assert process.wait(20) == 0
    assert seen.isascii() is (locale == "C")
    assert (b"$ run pytest -q - x exit code 1" in seen) is (locale == "C")
    assert ("▶ run pytest -q · ✗ exit code 1".encode() in seen) is (locale != "C")
