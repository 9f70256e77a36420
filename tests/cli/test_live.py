"""What moves at the bottom of a terminal while a step runs, and what `-v` writes down."""

import io
from collections.abc import Iterable
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console
from scripted_events import STARTED, TASK, step_ended

from foundry.cli.live import ROWS, SPOKEN_ROWS, Live
from foundry.cli.output import Sink, shows_unicode
from foundry.cli.view import make_view
from foundry.report.tool_lines import outcome
from foundry.schema.events import (
    AttemptFailed,
    ContextUpdated,
    Event,
    Reasoned,
    StepStarted,
    ToolRan,
    ToolStarted,
    TurnEnded,
    Waiting,
)

STEP = StepStarted(TASK, "builder", "Add the commands", 1, True, 2, 5)
TURN = TurnEnded(TASK, 3, 200, 900, 8_000, 500, 0.02, 0.04, 3.0, "tool_use")
RUN = replace(STARTED, phases=("scout", "builder", "test"))
RESULT = "F.\nAssertionError: 0 != 1\nexit code 1"
TESTS = ToolRan(TASK, "run_command", "pytest -q", 0.24, "", "", RESULT, 3)


def console(width: int = 100, height: int = 30, **options: object) -> Console:
    return Console(
        file=io.StringIO(), force_terminal=True, width=width, height=height, record=True,
        highlight=False, **options,  # type: ignore[arg-type]
    )  # fmt: skip


def panel(
    events: Iterable[Event], words: Iterable[str] = (), width: int = 100, height: int = 30
) -> list[str]:
    """The rows of the panel after these events and words."""
    shown = console(width, height)
    with Live(shown, shown) as view:
        for event in events:
            view.observe(event)
        for word in words:
            view.on_text(word)
        drawn = Console(file=io.StringIO(), width=width, height=height, record=True)
        drawn.print(view.moving(), soft_wrap=True)
    return [row.rstrip() for row in drawn.export_text().splitlines()]


def kept(events: Iterable[Event], *, verbose: bool, words: str = "") -> list[str]:
    """The lines that stay in a terminal."""
    shown = console()
    with Live(shown, shown, verbose=verbose) as view:
        for event in events:
            if words and isinstance(event, TurnEnded):
                view.on_text(words)
            view.observe(event)
    return [row.rstrip() for row in shown.export_text().splitlines()]


# -- the panel -------------------------------------------------------------------------------


def test_reasoning_actions_and_results_one_line_each() -> None:
    rows = panel((
        RUN, STEP,
        Reasoned(TASK, "The tests\nfirst. " + "word " * 100),
        ToolRan(TASK, "search_text", "login", 0.01, "", "", "a.py:1: login\nb.py:2: login", 2),
        ToolRan(TASK, "read_file", "a.py", 0.01, "", "", "[lines 5-9 of 90; read on]\nx", 6),
        ToolRan(TASK, "edit_file", "a.py", 0.01, "", "", "Edited a.py at lines 7, 12.", 1),
        TESTS,
        TURN,
    ))  # fmt: skip
    assert rows[0].startswith("    💭 The tests first. word word")
    assert rows[0].endswith("…")
    assert rows[1:] == [
        "    🔍 search 'login' · 2 matches",
        "    📖 read a.py · lines 5-9 of 90",
        "    ✏️ edit a.py · lines 7, 12",
        "    ▶ run pytest -q · ✗ exit code 1 · 0.2s",
        "⠋ builder 2/5 Add the commands · 0.0s · turn 4 · ctx ░░░░░░░░ 4% · 9.6k tokens · $0.02",
        "  scout ✓  builder  test",
    ]


RESULTS = {
    "nothing": ("search_text", "No line in . matches 'x'", "nothing found"),
    "cut": ("search_text", "a:1: x\n[… 5 more lines; narrow it down …]", "1+ match"),
    "files": ("list_files", "a\nb\nc", "3 files"),
    "read": ("read_file", "a", "1 line"),
    "new": ("write_file", "Created a/b (1,204 bytes).", "new, 1,204 bytes"),
    "replaced": ("write_file", "Replaced a (9 bytes before, 1,204 now).", "9 bytes → 1,204"),
    "passed": ("run_command", "ok\nexit code 0", "✓ exit code 0"),
    "failed": ("run_command", "exit code 2", "✗ exit code 2"),
    "accepted": ("submit", "Accepted.", "✓ accepted"),
    "other": ("fetch_page", "words", ""),
    "odd": ("write_file", "words", ""),
    "unknown": ("run_command", "", ""),
}


@pytest.mark.parametrize("case", RESULTS)
def test_results_in_a_few_words(case: str) -> None:
    tool, result, words = RESULTS[case]
    ran = ToolRan(TASK, tool, "x", 0.0, "", "", result, result.count("\n") + 1)
    assert outcome(ran) == words
    assert outcome(replace(ran, error="no")) == "✗ no"


def test_a_call_is_seen_while_it_runs() -> None:
    called = ToolStarted(TASK, "run_command", "make all")
    assert panel((STEP, called))[0] == "    ▶ run make all · 0.0s"
    assert not any("make all" in row for row in panel((STEP, called, TESTS)))


def test_words_are_seen_as_they_come() -> None:
    assert panel((STEP,), ["Let me", " see"])[0] == "    💭 Let me see"
    many = [f"word{n} " for n in range(200)]
    rows = panel((STEP,), many, width=60)
    assert len(rows) == SPOKEN_ROWS + 1
    assert "word199" in rows[SPOKEN_ROWS - 1]
    assert panel((STEP, Waiting("429", 50.0, 1)), [])[0].startswith("    retry in ")
    assert panel((STEP, Waiting("429", 50.0, 1)), ["on"])[0] == "    💭 on"


def test_a_step_leaves_nothing_in_the_panel() -> None:
    assert panel((STEP, TESTS, step_ended(TASK, "builder", "t"))) == []
    assert panel((STEP, TESTS, AttemptFailed(TASK, 1, "turns", "", ""))) == []
    rows = panel((STEP, TESTS, AttemptFailed(TASK, 1, "turns", "", ""), STEP), ["a"])
    assert rows[0] == "    💭 a"


def test_the_context_is_that_of_the_last_word_on_it_and_of_several_the_fullest() -> None:
    full = ContextUpdated(TASK, "c", 1, 2, 87.5, 1, True, 3, 0, {})
    assert "ctx ███████░ 88%" in panel((STEP, TURN, full))[-1]
    assert "ctx ░░░░░░░░ 4%" in panel((STEP, full, replace(TURN, conversation="c")))[-1]
    beside = replace(TURN, conversation="d", context_share=0.2)
    assert "ctx ███████░ 88%" in panel((STEP, full, beside))[-1]


@pytest.mark.parametrize(("height", "rows"), [(9, 1), (12, 4), (14, ROWS), (60, ROWS)])
def test_the_panel_fits_the_height(height: int, rows: int) -> None:
    shown = panel((RUN, STEP, *[TESTS] * 20), ["word"], height=height)
    acts = [row for row in shown if row.startswith("    ")]
    assert len(acts) == rows
    assert acts[-1] == "    💭 word"
    assert any(row.startswith("⠋") for row in shown)


WIDE = "❤️ 👩‍💻 1️⃣ 🇩🇪 完成 한국 é ﷺ กำ \u202e\x1b[2J\x9b" * 30


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_no_row_is_wider_than_the_terminal_takes_it_to_be(width: int) -> None:
    """Also where the terminal draws each character of a joined picture by itself."""
    acts = [ToolRan(TASK, tool, WIDE, 0.2, WIDE * error, "", WIDE, 1)
            for tool in ("read_file", "run_command", WIDE) for error in (0, 1)]  # fmt: skip
    step = replace(STEP, title=WIDE)
    for events in ((step, Reasoned(TASK, WIDE), *acts), (step, ToolStarted(TASK, "x", WIDE))):
        for row in panel((RUN, *events), [WIDE], width=width):
            ours = row.replace("✏️", "  ")
            assert sum(map(cell_len, ours)) < width
            assert "\ufe0f" not in ours
            assert ours.isprintable()


def test_a_narrow_terminal_sees_what_matters_most() -> None:
    *_, act, status, way = panel((RUN, STEP, TURN, TESTS), width=40)
    assert act == "    ▶ run pytest -q · ✗ exit code 1 · …"
    assert status == "⠋ builder 2/5 · 0.0s · ctx 4% · $0.02"
    assert way == "  scout ✓  builder  test"


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELF_API_TOKEN", "rather-ordinary")
    called = ToolStarted(TASK, "run_command", "curl -d rather-ordinary")
    done = replace(TESTS, subject="echo rather-ordinary", error="rather-ordinary")
    for rows in (
        panel((STEP, called)),
        panel((STEP, done)),
        panel((STEP,), ["it is rather-", "ordinary"]),
        kept((STEP, done), verbose=True),
    ):
        assert "rather-ordinary" not in "".join(rows)
        assert any("[redacted]" in row for row in rows)


# -- what stays ------------------------------------------------------------------------------


def test_only_steps_stay_unless_all_is_asked_for() -> None:
    events = (STEP, Reasoned(TASK, "The tests first."), TURN, TESTS, step_ended(TASK, "b", "Add"))
    short = kept(events, verbose=False)
    assert len(short) == 2
    rows = kept(events, verbose=True)
    assert rows[1:-1] == [
        "    💭 The tests first.",
        "    ⏺ turn 3 · 8.7k in (92% cached), 900 out · $0.02 · context 4% · 3.0s",
        "    ▶ run pytest -q · ✗ exit code 1 · 0.2s",
        "        F.",
        "        AssertionError: 0 != 1",
    ]
    assert [rows[0], rows[-1]] == short


@pytest.mark.parametrize("told", [(), (Reasoned(TASK, "Heard and told."),)])
def test_what_was_heard_is_written_down_once(told: tuple[Event, ...]) -> None:
    rows = kept((STEP, *told, TURN), verbose=True, words="" if told else "Heard and told.")
    assert [row for row in rows if "💭" in row] == ["    💭 Heard and told."]


def test_a_pipe_gets_it_all_when_asked() -> None:
    for verbose in (False, True):
        out, err = io.StringIO(), io.StringIO()
        view = make_view(json=False, quiet=False, verbose=verbose, stdout=out, stderr=err)
        with view:
            view.observe(STEP)
            view.observe(TESTS)
        assert ("    ▶ run pytest -q · ✗ exit code 1 · 0.2s\n" in err.getvalue()) is verbose
        assert "\x1b" not in err.getvalue()


# -- marks and locales -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "unicode"),
    [
        ({}, True),
        ({"LC_CTYPE": "C.UTF-8"}, True),  # what Python sets itself
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),
        ({"LANG": "POSIX"}, False),
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, False),
        ({"LC_ALL": "de_DE.utf8", "LANG": "C"}, True),
        ({"LANG": "de_DE.ISO-8859-1"}, False),
        ({"LANG": "en_US.UTF-8", "LC_ALL": ""}, True),
        ({"LC_CTYPE": "UTF-8"}, True),
    ],
)
def test_a_locale_says_what_a_terminal_shows(environment: dict[str, str], unicode: bool) -> None:
    assert shows_unicode(environment) is unicode


def test_every_mark_has_one_in_ascii() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    tools = ("search_text", "read_file", "edit_file", "run_command", "submit", "note", "other")
    with make_view(json=False, quiet=False, verbose=True, stdout=stream, stderr=stream) as view:
        for event in (STEP, Reasoned(TASK, "so"), TURN, *(ToolRan(TASK, t, "x", 0) for t in tools)):
            view.observe(event)
    shown = raw.getvalue().decode("ascii")
    assert "?" not in shown.replace("?? search", "")
    for words in (".. so", "?? search 'x'", "<< read x", "~ edit x", "$ run x", "* submit"):
        assert f"    {words}" in shown


def test_a_sink_for_a_file_has_its_own_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    assert Sink(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")).encoding == "utf-8"
