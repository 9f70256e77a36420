"""What a person sees of a build: the four views, fed with events."""

import io
import json
import os
import re
from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest
from rich.cells import cell_len
from rich.console import Console
from scripted_events import BUILD, STARTED, TASK, ended, step_ended

from foundry.cli.live import Live
from foundry.cli.output import Sink
from foundry.cli.view import Plain, View, make_view
from foundry.report.lines import RESET
from foundry.report.terminal_safe import encodable, safe, safe_block
from foundry.schema.events import Event, Note, StepStarted, ToolRan, TurnEnded, Waiting
from tests.support.terminal import terminal

HOSTILE = "a\x1b]0;owned\x07b\x1b[2Jc\r\nd\x9b31me\u202eevil\x00\ud800"
NOON = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)


def feed(view: View, events: tuple[Event, ...] = BUILD) -> None:
    with view:
        for event in events:
            view.observe(event)


def piped(events: tuple[Event, ...] = BUILD, **options: bool) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    chosen = {"json": False, "quiet": False, **options}
    feed(make_view(**chosen, stdout=out, stderr=err), events)
    return out.getvalue(), err.getvalue()


def recorded(events: tuple[Event, ...] = BUILD, width: int = 100) -> tuple[str, str]:
    """What a terminal showed for good, and all that was sent to it."""
    sent = io.StringIO()
    console = Console(record=True, force_terminal=True, width=width, file=sent, highlight=False)
    feed(Live(console, console), events)
    return console.export_text(), sent.getvalue()


def hostile(event: Event) -> Event:
    changed = {f.name: HOSTILE for f in fields(event) if isinstance(getattr(event, f.name), str)}
    kept = {"status", "branch"}  # set by the harness, from closed sets
    return replace(event, **{k: v for k, v in changed.items() if k not in kept})  # type: ignore[arg-type]


# -- plain -----------------------------------------------------------------------------------


def test_a_pipe_gets_dated_lines_and_the_result_apart() -> None:
    out, err = io.StringIO(), io.StringIO()
    feed(Plain(Sink(out), Sink(err), clock=lambda: NOON))
    time = f"{NOON.astimezone():%H:%M:%S}"
    figures = "[1m 12s · 45.3k tokens · $0.14 · context 12% · 1a2b3c4]"
    confined = "commands are bounded in time and output; files and network are not confined"
    assert err.getvalue() == "".join(
        f"{time} {line}\n"
        for line in (
            "Foundry: run r1 begins",
            "place    /p",
            "branch   main",
            "model    m",
            "limits   $10 for the run · 8 h from now",
            f"sandbox  process: {confined}",
            "log      /p/log",
            "resume   foundry resume /p",
            f"{RESET} · scout",
            f"✓ scout         Look around  {figures}",
            f"{RESET} · builder 1/2",
            f"✓ builder 1/2   Add the store  {figures}",
            f"{RESET} · builder 2/2",
            "    ● 429 rate limited: retry 1 in 12s",
            "    3 old tool results masked: context 62.0k → 20.0k tokens",
            "✗ builder 2/2: attempt 1 failed (not submitted): no submission",
            "    its work is kept in salvage/a.patch",
            f"{RESET} · builder 2/2 · attempt 2",
            "    ✓ verify cli · exit code 0 · 1.2s",
            f"✓ builder 2/2   Add the commands  {figures}",
            "● builder       2 steps  [2m 25s · 90.6k tokens · $0.28 · context 12%]",
            "    ✗ unit tests · exit code 1 · 3.2s",
            "    ● lint · exit code 1, as before this run · 0.2s",
            "✗ test 1        Run the checks: 1 failing  [1m 12s · 1a2b3c4]",
            "● not deployed: nowhere to push to",
        )
    )
    assert out.getvalue() == (
        "\n"
        "✓ verified: all gates passed\n"
        "place    /p\n"
        "branch   main · 3 commits\n"
        "used     $0.50 · 12.3k tokens · 1m 05s\n"
        "look     cd /p\n"
        "         git log --oneline      the commits\n"
        "         foundry show evidence  what proves each requirement\n"
        "         foundry status         phases, tasks, cost\n"
        "         foundry log            what happened, line by line\n"
    )


@pytest.mark.parametrize("status", ["paused", "interrupted", "failed"])
def test_what_can_go_on_says_how(status: str) -> None:
    out, _ = piped((STARTED, ended(status, reason="it stopped", artifacts=("tasks.json",))))
    assert f"{status}: it stopped\n" in out
    assert "resume   foundry resume /p\n" in out
    assert ("edit     tasks.json" in out) is (status == "paused")


def test_what_is_over_is_not_resumed_and_a_worktree_is_merged() -> None:
    place, branch = "/home/me/my app.foundry/r1", "foundry/r1"
    out, _ = piped((STARTED, ended(place=place, branch=branch)))
    assert "merge    cd '/home/me/my app' && git merge foundry/r1\n" in out
    assert "resume" not in out


def test_an_unknown_price_is_not_told_as_nothing() -> None:
    out, _ = piped((ended(cost_usd=None),))
    assert "used     12.3k tokens · price unknown · 1m 05s\n" in out
    assert "$" not in out


# -- JSON and quiet --------------------------------------------------------------------------


def test_json_is_one_event_a_line_and_nothing_else() -> None:
    out, err = piped(json=True)
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["event"] for line in lines] == [event.kind for event in BUILD]
    for line, event in zip(lines, BUILD, strict=True):
        assert datetime.fromisoformat(line["at"]).tzinfo is not None
        for each in fields(event):
            value = getattr(event, each.name)
            if each.name == "seconds":
                assert line["ms"] == round(value * 1000)
            else:
                assert line[each.name] == (list(value) if isinstance(value, tuple) else value)
    assert err == ""


def test_quiet_tells_the_result_alone() -> None:
    assert piped(quiet=True) == ("✓ verified: all gates passed\nplace    /p\n", "")
    out, err = piped((STARTED, ended("paused", reason="enough")), quiet=True)
    assert out == "● paused: enough\nplace    /p\nresume   foundry resume /p\n"
    assert err == ""


def test_quiet_json_is_the_last_event_alone() -> None:
    out, _ = piped(json=True, quiet=True)
    assert [json.loads(line)["event"] for line in out.splitlines()] == ["run_ended"]


# -- live ------------------------------------------------------------------------------------


def test_a_terminal_keeps_one_line_for_what_ended() -> None:
    text, _ = recorded()
    lines = [line.rstrip() for line in text.splitlines()]
    row = next(line for line in lines if line.startswith("✓ scout"))
    assert " ".join(row.split()) == "✓ scout Look around 1m 12s 45.3k $0.14 12% 1a2b3c4"
    assert lines.count(f"{RESET} · builder 2/2 · attempt 2") == 1
    heads = [line for line in lines if line.endswith("ctx   commit")]
    assert len(heads) == 1
    assert heads[0].index("commit") == row.index("1a2b3c4") + 1
    assert not any("turn 2" in line or "read_file" in line for line in lines)


@pytest.mark.parametrize("width", [60, 79, 80, 100, 200])
def test_no_line_of_a_step_is_wider_than_the_terminal(width: int) -> None:
    title = "完成 " * 60
    step = step_ended("scout", "scout", title)
    check = StepStarted("scout", "scout", title, 1, True)
    text, _ = recorded((check, step), width)
    rows = text.splitlines()
    assert len(rows) == 2
    assert all(cell_len(row) < width for row in rows)
    assert rows[1].endswith("12%  1a2b3c4")
    assert "…" in rows[1]
    assert ("$0.14" in rows[1]) is (width >= 80)


def test_a_long_path_is_left_in_one_piece() -> None:
    log = "/" + "x" * 300
    text, _ = recorded((replace(STARTED, log=log),), 80)
    assert log in text


def test_a_long_reason_is_wrapped_at_words() -> None:
    words = " ".join(f"word{number}" for number in range(60))
    text, _ = recorded((Note(words),), 60)
    rows = text.splitlines()
    assert " ".join(" ".join(rows).split()) == f"● {words}"
    assert all(len(row) < 60 for row in rows)
    assert all(row.startswith("  ") for row in rows[1:])


def moving_line(events: tuple[Event, ...], words: str = "") -> str:
    """What the moving line shows after these events."""
    console = Console(force_terminal=True, width=120, file=io.StringIO())
    with Live(console, console) as view:
        for event in events:
            view.observe(event)
        if words:
            view.on_text(words)
        drawn = io.StringIO()
        Console(width=120, file=drawn).print(view.moving())
    return drawn.getvalue()


def test_the_moving_line_tells_what_is_going_on() -> None:
    started = StepStarted(TASK, "builder", "Add the commands", 1, True, 2, 5)
    turn = TurnEnded(TASK, 3, 200, 900, 8_000, 500, 0.02, 0.04, 3.0, "tool_use")
    tool = ToolRan(TASK, "run_command", "pytest -q", 0.1)
    line = moving_line((started, turn, tool))
    assert "builder 2/5 Add the commands" in line
    assert "turn 4 · ctx ░░░░░░░░ 4% · 9.6k tokens · $0.02" in line
    assert "    ▶ run pytest -q · 0.1s\n" in line
    said = moving_line((started, turn), "I write\nthe \x1b[2Jtest")
    assert "    💭 I write the \\x1b[2Jtest" in said
    assert "retry in " in moving_line((started, Waiting("429", 50.0, 1)))
    assert moving_line((started, step_ended(TASK, "builder", "t"))).strip() == ""


@pytest.mark.parametrize(("term", "moves"), [("xterm-256color", True), ("dumb", False)])
def test_the_view_fits_the_terminal(
    term: str, moves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    with terminal() as (stream, seen):
        feed(make_view(json=False, quiet=False, stdout=stream, stderr=stream))
    shown = b"".join(seen)
    assert b"Add the store" in shown
    assert (b"\x1b[" in shown) is moves
    dated = re.search(rb"\d\d:\d\d:\d\d Foundry: run r1 begins", shown)
    assert (dated is None) is moves


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    colours = {}
    for name in ("", "1"):
        monkeypatch.setenv("NO_COLOR", name)
        with terminal() as (stream, seen):
            feed(make_view(json=False, quiet=False, stdout=stream, stderr=stream))
        colours[name] = b"\x1b[32m" in b"".join(seen)
    assert colours == {"": True, "1": False}


# -- what others wrote -----------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"json": True}, {"quiet": True}])
def test_nothing_that_others_wrote_controls_a_pipe(options: dict[str, bool]) -> None:
    out, err = piped(tuple(map(hostile, BUILD)), **options)
    assert out
    assert all(line.isprintable() for line in (out + err).split("\n"))


def test_nothing_that_others_wrote_controls_a_terminal() -> None:
    text, sent = recorded(tuple(map(hostile, BUILD)))
    assert r"a\x1b]0;owned\x07b\x1b[2Jc d\x9b31me\u202eevil\x00\ud800" in text
    assert all(line.isprintable() for line in text.split("\n"))
    for sequence in ("\x1b]", "\x1b[2J", "\x9b", "\u202e", "\x07", "\ud800"):
        assert sequence not in sent


def test_safe_text_keeps_what_is_harmless() -> None:
    assert safe("füñ 完成 👩‍💻 ok") == "füñ 完成 👩‍💻 ok"
    assert safe("a\tb\nc\u2028d\u00a0e") == "a b c d e"
    assert safe_block("a\tb\r\n\x1b[1mc\n") == "a   b\n\\x1b[1mc\n"


def test_a_narrow_encoding_gets_ascii_marks() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    feed(make_view(json=False, quiet=False, stdout=stream, stderr=stream))
    shown = raw.getvalue().decode("ascii")
    assert "+ scout         Look around  [1m 12s - 45.3k tokens" in shown
    assert ">> Context reset - starting fresh conversation - scout" in shown
    assert encodable("✓ 完", "latin-1") == "+ ?"


def test_a_reader_that_has_gone_does_not_end_a_build() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream:
        view = make_view(json=True, quiet=False, stdout=stream, stderr=stream)
        feed(view)
        with pytest.raises(BrokenPipeError):  # the pipe is broken indeed
            os.write(writer, b"x")
        os.dup2(os.open(os.devnull, os.O_WRONLY), writer)


def test_only_a_terminal_is_asked() -> None:
    assert make_view(json=False, quiet=False, stderr=io.StringIO()).ask("Push?") is None
