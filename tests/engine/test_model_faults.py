"""Every fault of the model's side, in the middle of a whole build: its stated outcome.

The fault strikes the first turn of the only task. A row says how the run ends, how many requests
that task took, and what the person reads. Without a fault the task takes three requests.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from foundry.cli.main import run as foundry
from foundry.conversation.loop import CUTS, REMINDERS
from foundry.model.rehearsal import faults
from foundry.model.rehearsal.faults import Fault
from foundry.model.rehearsal.script import Turn, call, say, turn
from foundry.schema.events import AttemptFailed, StepStarted, ToolRan, Waiting
from foundry.schema.journal import Attempt, Stop
from foundry.schema.run import Status
from tests.support.asked import requests_of, results, words
from tests.support.builds import FAST, Built, git
from tests.support.rehearsals import SPEC, SmallBuild, write

REVIEW = "test[1]/review"
TASK = "builder[1]/task"
WORK = 3
"""Requests of a task in which nothing goes wrong."""
TRIES = FAST.attempts
ATTEMPTS = 3
"""How often the workflow lets a task be tried."""
ALWAYS = -1
SILENT = 0.3
"""Seconds without a word after which a test takes a reply for stalled."""


def script(*turns: Turn) -> SmallBuild:
    """A build of one task, which begins with these turns."""
    small = SmallBuild(tasks=1)
    return SmallBuild(tasks=1, scenes={TASK: [*turns, *small.builder(1)]})


def struck(fault: Fault) -> SmallBuild:
    """A build of one task, whose first turn is struck."""
    small = SmallBuild(tasks=1)
    first, *rest = small.builder(1)
    struck_turn = Turn(content=first.content, fault=fault, id="struck")
    return SmallBuild(tasks=1, scenes={TASK: [struck_turn, *rest]})


@dataclass(frozen=True)
class Row:
    fault: Fault
    status: Status
    requests: int
    says: str = ""
    waits: int = 0
    attempts: int = 0
    options: dict[str, Any] = field(default_factory=dict)


def passes(fault: Fault, **options: Any) -> Row:
    """It strikes once, the request is repeated, nobody need know."""
    return Row(fault, Status.UNVERIFIED, WORK + 1, waits=1, options=options)


def pauses(fault: Fault, says: str, requests: int = TRIES, **options: Any) -> Row:
    """It stays: within the retry policy, then the run pauses."""
    return Row(fault, Status.PAUSED, requests, says, waits=requests - 1, options=options)


def rejected(fault: Fault, says: str) -> Row:
    """Repeating can't help: the run ends at the first such answer."""
    return Row(fault, Status.FAILED, 1, says)


def gives_up(fault: Fault, requests: int, says: str) -> Row:
    """Each attempt at the step ends in it; when all are used the run has failed."""
    return Row(fault, Status.FAILED, requests * ATTEMPTS, says, attempts=ATTEMPTS)


STALLED = {"read_timeout": SILENT}
ROWS = {
    "429 with a sane Retry-After": passes(faults.status(429, retry_after=0.01)),
    "429 with a senseless Retry-After": passes(faults.status(429, retry_after="soon")),
    "429 with a negative Retry-After": passes(faults.status(429, retry_after=-7)),
    "529 once": passes(faults.status(529)),
    "500 once": passes(faults.status(500)),
    "503 once": passes(faults.status(503)),
    "closed before a byte": passes(faults.drop()),
    "closed within the reply": passes(faults.cut(after=4)),
    "reset within the reply": passes(faults.reset(after=4)),
    "ended early in good order": passes(faults.early_end(after=7)),
    "ended before it began": passes(faults.early_end(after=0)),
    "an error within the stream": passes(faults.error_event()),
    "an event that is no JSON": passes(faults.garbage_event()),
    "a web page": passes(faults.garbage_body()),
    "silence within the reply": passes(faults.stall(after=4), **STALLED),
    "silence instead of a reply": passes(faults.stall(after=None), **STALLED),
    "429 for a day": pauses(
        faults.status(429, retry_after=86_400, times=ALWAYS),
        r"asks to wait 86400 s\. Run `foundry resume` later, not before \d{4}-\d\d-\d\d \d\d:\d\d",
        requests=1,
    ),
    "429 for ever": pauses(
        faults.status(429, retry_after=10**12, times=ALWAYS), r"foundry resume` later$", requests=1
    ),
    "429 until a date": pauses(
        faults.status(429, retry_after="Fri, 31 Dec 2100 23:59:59 GMT", times=ALWAYS),
        r"asks to wait \d+ s\. Run `foundry resume` later$",
        requests=1,
    ),
    "429 always": pauses(faults.status(429, times=ALWAYS), r"answered 429: .*tried 3 times"),
    "529 always": pauses(faults.status(529, times=ALWAYS), r"answered 529: .*tried 3 times"),
    "500 always": pauses(faults.status(500, times=ALWAYS), r"answered 500: .*tried 3 times"),
    "500 that says not to retry": pauses(
        faults.status(500, should_retry=False, times=ALWAYS), "answered 500", requests=1
    ),
    "reset always": pauses(faults.reset(times=ALWAYS), "connection broke within the reply"),
    "cut always": pauses(faults.early_end(after=7, times=ALWAYS), "reply was cut off"),
    "garbage always": pauses(faults.garbage_event(times=ALWAYS), "reply was garbled"),
    "a web page always": pauses(faults.garbage_body(times=ALWAYS), r"text/html.*--base-url"),
    "silence always": pauses(faults.stall(after=4, times=ALWAYS), "stalled for 0.3 s", **STALLED),
    "400": rejected(faults.status(400, times=ALWAYS), "answered 400: The rehearsal fails here"),
    "401": rejected(faults.status(401, times=ALWAYS), "Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH"),
    "402": rejected(faults.status(402, times=ALWAYS), "Add credit"),
    "403": rejected(faults.status(403, times=ALWAYS), "Set ANTHROPIC_API_KEY"),
    "404": rejected(faults.status(404, times=ALWAYS), "Choose one with --model"),
    "a prompt too long, always": gives_up(faults.overflow(times=ALWAYS), 1, "no longer fits"),
    "413 always": gives_up(faults.status(413, times=ALWAYS), 1, "no longer fits"),
    "a refusal, always": gives_up(
        faults.stop("refusal", times=ALWAYS), 1, r"failed 3 times: the model refused"
    ),
    "an empty reply, always": gives_up(
        faults.empty(times=ALWAYS), 1 + REMINDERS, "stopped without submitting"
    ),
    "an empty reply, once": Row(faults.empty(), Status.UNVERIFIED, WORK + 1),
    "an empty reply, twice": Row(faults.empty(times=2), Status.UNVERIFIED, WORK + 2),
    "a refusal, once": Row(faults.stop("refusal"), Status.UNVERIFIED, WORK + 1, attempts=1),
    "a prompt too long, once": Row(faults.overflow(), Status.UNVERIFIED, WORK + 1, attempts=1),
}


@pytest.mark.parametrize("name", ROWS)
def test_fault_has_its_outcome(build, name):
    row = ROWS[name]
    built = build(struck(row.fault), skip=("docs", "feedback", "test"), **row.options)

    assert built.ended.status == row.status, built.ended
    assert re.search(row.says, built.ended.reason)
    assert "\n" not in built.ended.reason
    assert len(requests_of(built.server, TASK)) == row.requests
    assert sum(isinstance(event, Waiting) for event in built.events) == row.waits
    assert sum(isinstance(entry, Attempt) for entry in built.journal) == row.attempts
    _holds_together(built)


def _holds_together(built: Built) -> None:
    """Whatever happened: the end is journalled and committed, nothing half-done lies about."""
    last = built.journal[-1]
    assert isinstance(last, Stop)
    assert last.status == built.ended.status
    assert built.repository.changes() == ()
    done = built.ended.status is Status.UNVERIFIED
    assert built.steps == ["scout", "architect", TASK][: 3 if done else 2]
    assert (built.folder / "hello-1.txt").exists() is done


@pytest.mark.parametrize(
    "name", [name for name, row in ROWS.items() if row.status is Status.PAUSED]
)
def test_exit_code_of_a_pause(name):
    assert ROWS[name].status.exit_code == 4


def test_paused_by_a_fault_goes_on_where_it_was(build):
    built = build(struck(faults.status(529, times=TRIES)))
    assert built.ended.status is Status.PAUSED
    assert built.resume().status is Status.VERIFIED
    assert built.starts == ["scout", "architect", *[TASK] * (TRIES + 1), REVIEW, "docs",
                            "docs-review", "feedback"]  # fmt: skip
    assert built.steps.count(TASK) == 1


def test_server_that_is_gone_pauses_and_goes_on_when_it_is_back(build, rehearsal):
    server = rehearsal(SmallBuild(tasks=1))

    def leave(event: object) -> None:
        if isinstance(event, StepStarted) and event.step == TASK and server.requests:
            server.stop()

    built = build(server, observe=leave)
    assert built.ended.status is Status.PAUSED
    assert f"can't reach {server.url}" in built.ended.reason
    server.start()
    assert built.resume().status is Status.VERIFIED


def test_work_before_a_fault_is_kept_as_a_patch(build):
    scene = [write("half.txt", "half\n"), turn(say("."), fault=faults.status(500, times=ALWAYS))]
    built = build(SmallBuild(tasks=1, scenes={TASK: scene}))
    assert built.ended.status is Status.PAUSED
    assert not (built.folder / "half.txt").exists()
    [patch] = built.project.salvage.glob("*.patch")
    git(built.folder, "apply", str(patch))
    assert (built.folder / "half.txt").read_text() == "half\n"


CUT_CALLS = {
    "half of a write": turn(
        call("write_file", path="cut.txt", content="never whole"), fault=faults.truncate()
    ),
    "a whole command": turn(
        call("run_command", command="touch cut.txt"), fault=faults.stop("max_tokens")
    ),
    "two calls": turn(
        call("write_file", path="cut.txt", content="x"),
        call("write_file", path="cut-too.txt", content="y"),
        fault=faults.truncate(),
    ),
    "arguments that break off": turn(
        {**call("write_file"), "partial_json": '{"path": "cut.txt", "content": "hal'}
    ),
}


@pytest.mark.parametrize("name", CUT_CALLS)
def test_a_cut_tool_call_never_runs(build, name):
    built = build(script(CUT_CALLS[name]), skip=("docs", "feedback"))
    assert built.ended.status is Status.VERIFIED
    ran = [e for e in built.events if isinstance(e, ToolRan) and "cut" in e.subject and not e.error]
    assert ran == []
    assert not list(built.folder.glob("cut*"))
    second = requests_of(built.server, TASK)[1]
    assert all(is_error for _, is_error in results(second))


@pytest.mark.parametrize("after", range(1, 6))
def test_a_call_in_a_stream_that_ends_early_runs_once_when_it_is_whole(build, after):
    cut = faults.early_end(after=after)
    whole = turn(call("run_command", command="echo ran >> log.md"), fault=cut)
    built = build(script(whole), skip=("docs", "feedback", "test"))
    assert built.ended.status is Status.UNVERIFIED
    assert (built.folder / "log.md").read_text() == "ran\n"


def test_replies_that_are_always_cut_fail_the_step(build):
    always = faults.stop("max_tokens", times=ALWAYS)
    cut = turn(call("run_command", command="touch cut.txt"), fault=always)
    built = build(SmallBuild(tasks=1, scenes={TASK: [cut] * (CUTS + 1)}))
    assert built.ended.status is Status.FAILED
    assert "4 replies were longer than allowed" in built.ended.reason
    assert not (built.folder / "cut.txt").exists()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (call("teleport"), "There is no tool 'teleport'"),
        (call("write_file", path=5, content=None), "Invalid arguments for write_file"),
        (call("run_command", command="true", timeout_seconds="long"), "timeout_seconds"),
        (call("read_file", path="nope.txt"), "nope.txt"),
        (call("write_file", path="../escape.txt", content="x"), "escape.txt"),
        (call("run_command", command="a\0b"), "which shells read in different ways"),
    ],
    ids=["unknown", "types", "number", "missing", "outside", "nul"],
)
def test_a_wrong_call_is_fed_back(build, wrong, told):
    built = build(script(turn(wrong)), skip=("docs", "feedback", "test"))
    assert built.ended.status is Status.UNVERIFIED
    [(content, is_error)] = results(requests_of(built.server, TASK)[1])
    assert is_error
    assert told in content
    assert not (built.folder.parent / "escape.txt").exists()


def test_a_fresh_attempt_is_told_of_the_last_one(build):
    built = build(struck(faults.stop("refusal")), skip=("docs", "feedback", "test"))
    [failed] = [event for event in built.events if isinstance(event, AttemptFailed)]
    assert (failed.reason, failed.attempt) == ("refused", 1)
    first, second, *_ = requests_of(built.server, TASK)
    assert "earlier attempt" not in words(first)
    assert "An earlier attempt at this step failed" in words(second)
    assert failed.detail in words(second)


@pytest.mark.parametrize(
    ("code", "fault", "says"),
    [
        (1, faults.status(401, times=ALWAYS), "ANTHROPIC_API_KEY"),
        (4, faults.status(429, retry_after=9_999, times=ALWAYS), "not before"),
    ],
    ids=["401", "429"],
)
def test_the_command_line_says_it_without_a_traceback(
    rehearsal, tmp_path, capfd, code, fault, says
):
    server = rehearsal(struck(fault))
    arguments = ["build", SPEC, "--dir", str(tmp_path / "p"), "--base-url", server.url, "--quiet"]
    assert foundry(arguments) == code
    out, err = capfd.readouterr()
    assert says in out + err
    assert "Traceback" not in out + err
