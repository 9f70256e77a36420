"""Rounds of thinking as they are seen: live, plain, in the log; and that its words are redacted."""

import io
from typing import get_args

import pytest
from rich.console import Console

from foundry.cli.live import Panel
from foundry.cli.output import Sink
from foundry.cli.view import Plain
from foundry.conversation.reflection_rounds import End
from foundry.report.details import ENDS
from foundry.report.narrate import Narrator
from foundry.schema.events import Reflected, ReflectionEnded, StepStarted, TurnEnded

STEP = StepStarted("architect", "architect", "Design it", 1, True)
ROUND = Reflected("architect", "c", 1, 2, 3, "the file", "It may\ntear. sk-ant-abcdefgh12345678",
                  ("ctx_1_a", "ctx_2_b"), 1.5)  # fmt: skip
OVER = ReflectionEnded("architect", "c", 1, 2, "tokens", 9_400, 0.0146, 3.0, ("ctx_1_a",))


def plain(*events, verbose=False):
    out, err = io.StringIO(), io.StringIO()
    with Plain(Sink(out), Sink(err), verbose=verbose) as view:
        for event in events:
            view.observe(event)
    return err.getvalue()


def test_a_round_is_one_line_with_its_focus_and_what_was_recalled():
    told = plain(STEP, ROUND)
    assert "💭 round 2/3 · the file · 🔍 recalled ctx_1_a +1" in told
    assert "tear" not in told


def test_without_a_focus_the_line_tells_the_thought():
    first = Reflected("architect", "c", 1, 1, 3, "", "It may\ntear.")
    assert "💭 round 1/3 · It may tear.\n" in plain(STEP, first)


def test_all_of_it_is_told_to_whoever_asks_for_all():
    told = plain(STEP, ROUND, verbose=True)
    assert "💭 round 2/3 · the file · 🔍 recalled ctx_1_a, ctx_2_b · 1.5s" in told
    assert "tear. " in told
    assert "abcdefgh12345678" not in told


@pytest.mark.parametrize("reason", get_args(End))
def test_every_end_has_words_and_limits_are_told(reason):
    over = ReflectionEnded("architect", "c", 1, 2, reason, 9_400, 0.0146, 3.0)
    quiet = reason in ("done", "acted", "ignored")
    line = f"thinking ended: {ENDS[reason]} · 2 rounds · 9.4k tokens · $0.01"
    assert (line in plain(STEP, over)) is not quiet
    assert line in plain(STEP, over, verbose=True)


def test_a_round_is_no_turn_of_the_panel_and_what_streamed_is_told_once():
    shown, narrator = io.StringIO(), Narrator()
    console = Console(file=shown, width=100)
    panel = Panel(narrator, console)

    def seen() -> str:
        shown.seek(0)
        shown.truncate()
        console.print(panel.render())
        return shown.getvalue()

    narrator.tell(STEP)
    panel.follow(STEP)
    panel.hear("It may tear.")
    panel.follow(ROUND)
    assert panel.unsaid() == ""
    called = TurnEnded("architect", 1, 9, 9, 9, 9, 0.5, 0.02, 1.0, "tool_use", purpose="reflection")
    panel.follow(called)
    assert "turn 1 · " in seen()
    panel.follow(TurnEnded("architect", 1, 9, 9, 9, 9, 0.5, 0.02, 1.0, "tool_use"))
    assert "turn 2 · " in seen()
