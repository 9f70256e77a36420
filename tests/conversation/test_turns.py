"""From messages to snapshots and summaries, by code."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings

from foundry.conversation.compaction.key_facts import KeyFacts
from foundry.conversation.compaction.tool_calls import blocks_of, exchanges
from foundry.conversation.memory.summarise import MOST_TOKENS, completed, summary
from foundry.conversation.memory.turns import (
    facts_of,
    said,
    size,
    step_snapshot,
    turn_snapshot,
)
from foundry.schema.memory import Draft, Touched
from foundry.schema.messages import Message, text_block
from tests.support.transcripts import transcripts

THREAD = [
    {"role": "user", "content": [text_block("Mend src/app.py.")]},
    {"role": "assistant", "content": [
        text_block("The problem is the loop's bound, because it is off by one."),
        {"type": "tool_use", "id": "a", "name": "edit_file",
         "input": {"path": "src/app.py", "old": "n-1", "new": "n"}},
        {"type": "tool_use", "id": "b", "name": "run_command", "input": {"command": "pytest -q"}},
    ]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "a", "content": "edited"},
        {"type": "tool_result", "tool_use_id": "b", "is_error": True,
         "content": "E  AssertionError: 3 != 4\nexit code 1"},
    ]},
    {"role": "assistant", "content": [text_block("I look once more.")]},
]  # fmt: skip


def test_a_snapshot_holds_calls_results_files_and_decisions():
    shot = turn_snapshot(THREAD[1:3], task="Mend it.", state={"iteration": 1})
    assert (shot.task, shot.state) == ("Mend it.", {"iteration": 1})
    assert [(each.tool, each.failed) for each in shot.calls] == [
        ("edit_file", False), ("run_command", True),
    ]  # fmt: skip
    assert shot.calls[1].arguments == {"command": "pytest -q"}
    assert shot.calls[1].result == "E  AssertionError: 3 != 4\nexit code 1"
    assert shot.files == (Touched(path="src/app.py", deeds="edited"),)
    assert shot.decisions == ("The problem is the loop's bound, because it is off by one.",)
    assert size(shot, 1.0) == len(shot.model_dump_json())


def test_the_snapshot_of_a_step_leaves_the_calls_to_its_turns():
    shot = step_snapshot(THREAD, task="T", result="Mended.", decisions=("Ours.",))
    assert (shot.said, shot.calls) == ("Mended.", ())
    assert shot.decisions[0] == "Ours."
    assert [each.path for each in shot.files] == ["src/app.py"]


@settings(max_examples=80, deadline=None)
@given(thread=transcripts())
def test_the_turns_of_any_thread_hold_all_of_it(thread):
    found = turns(thread)
    shots = [turn_snapshot(turn, task="") for turn in found]
    results = [each.text for each in exchanges(thread)]
    assert [call.result for shot in shots for call in shot.calls] == results
    words = [block["text"] for message in thread if message["role"] == "assistant"
             for block in blocks_of(message) if block["type"] == "text"]  # fmt: skip
    told = "\n\n".join(map(said, found))
    assert all(word in told for word in words)
    json.dumps([shot.model_dump(mode="json") for shot in shots])
    for turn in found:
        is_summarised(turn)


def turns(thread: Sequence[Message]) -> list[list[Message]]:
    """Each reply with the messages up to the next one."""
    found: list[list[Message]] = []
    for message in thread:
        if message["role"] == "assistant":
            found.append([])
        if found:
            found[-1].append(message)
    return found


def is_summarised(turn: Sequence[Message]) -> None:
    """No summary is empty or long or silent about a failure."""
    facts = facts_of(turn)
    told = summary(said(turn), facts)
    assert told.text
    failed = [text for text, end in facts.commands if end not in ("done", "exit code 0")]
    assert all(" ".join(each.split())[:40] in told.text for each in failed)
    assert told.tokens <= MOST_TOKENS + 60 * len(failed)


# -- summaries ---------------------------------------------------------------------------------


def test_a_summary_tells_what_was_said_done_and_found_out():
    told = summary(said(THREAD[1:3]), facts_of(THREAD[1:3]))
    assert told.text.startswith("The problem is the loop's bound")
    assert "Changed: src/app.py." in told.text
    assert "`pytest -q` failed (exit code 1)." in told.text
    assert told.insights[0] == "E  AssertionError: 3 != 4".replace("  ", " ")
    assert told.source == "code"
    assert 0 < told.tokens <= MOST_TOKENS


def test_of_a_turn_that_only_calls_the_summary_says_what():
    nothing = facts_of([])
    assert summary("", nothing, called=["f", "submit", "f"]).text == "Called `f`, `submit`."
    assert summary("Done.", nothing, called=["submit"]).text == "Done."
    assert summary("", nothing).text == "Nothing was said or done."


FAILING = KeyFacts(
    files=(("src/app.py", (("edited", 1),)), ("README.md", (("read", 2),))),
    commands=(("make lint", "exit code 0"), ("pytest -q", "exit code 1")),
    errors=("Traceback (most recent call last):\n  File x\nKeyError: 'name'",),
)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (Draft(text="All went well."), False),
        (Draft(text="I ran pytest -q; src/app.py is mended.", insights=("KeyError: 'name'",)),
         True),
    ],
)  # fmt: skip
def test_what_a_models_summary_drops_is_completed_by_code(written, kept):
    whole = completed(written, FAILING)
    assert whole.text.startswith(written.text)
    assert (whole.text == written.text) is kept
    assert "pytest -q" in whole.text
    assert "src/app.py" in whole.text
    assert "make lint" not in whole.text
    assert whole.insights == ("KeyError: 'name'",)
    assert (whole.source, whole.tokens > 0) == ("model", True)
