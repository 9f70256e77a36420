"""`foundry context` and `foundry log --conversation`, on real folders."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from little_project import RUN, LittleProject
from scripted_events import STARTED

from foundry.cli import context, log
from foundry.cli.main import run
from foundry.files import append_line
from foundry.report.context_usage import bar
from foundry.schema.events import Compacted, ContextUpdated
from foundry.schema.messages import text_block
from foundry.schema.run import RunOptions
from foundry.store import runs
from tests.support.transcripts import check_thread


def call(command: Any, *arguments: object) -> Result:
    return CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)


def conversation(turns: int = 12) -> list[Any]:
    messages: list[Any] = [{"role": "user", "content": [text_block("Mend src/app.py.")]}]
    for n in range(turns):
        use = {"type": "tool_use", "id": f"t{n}", "name": "run_command",
               "input": {"command": f"make part{n}"}}  # fmt: skip
        output = f"lib/part{n}.c:3: error: no such thing\n" + "noise " * 500 + "\nexit code 2"
        messages.append({"role": "assistant", "content": [text_block(f"Part {n}."), use]})
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": output}
        messages.append({"role": "user", "content": [result]})
    return messages


# -- compact -----------------------------------------------------------------------------------


def compacted(path: Path, document: Any, *options: object) -> Any:
    path.write_text(json.dumps(document))
    result = call(context.command, "compact", path, *options)
    assert result.exit_code == 0
    return json.loads(result.stdout)


@pytest.mark.parametrize("target", [0.2, 0.3, 0.6])
def test_compact_prints_a_valid_thread_within_the_target(tmp_path, target):
    told = compacted(tmp_path / "t.json", conversation(), "--target", target)
    assert set(told) == {"tokens_before", "tokens_after", "stages", "messages"}
    assert told["tokens_after"] <= target * told["tokens_before"] + 1
    assert [stage["tokens_before"] for stage in told["stages"]][:1] == [told["tokens_before"]]
    assert told["stages"][-1]["tokens_after"] == told["tokens_after"]
    check_thread(told["messages"])
    left = json.dumps(told["messages"])
    assert all(f"lib/part{n}.c:3: error: no such thing" in left for n in range(12))


def test_compact_takes_what_a_request_holds_and_counts_it(tmp_path):
    messages = conversation()
    whole = {"messages": messages, "system": "S" * 7_000, "tools": [{"name": "t" * 3_500}]}
    alone, told = compacted(tmp_path / "a.json", messages), compacted(tmp_path / "t.json", whole)
    assert told["tokens_before"] - alone["tokens_before"] >= 3_000
    assert told["tokens_after"] <= 0.3 * told["tokens_before"] + 1


def test_compacting_the_output_again_changes_nothing(tmp_path):
    once = compacted(tmp_path / "t.json", conversation(40), "--target", 0.15)
    again = compacted(tmp_path / "u.json", once["messages"], "--target", 0.15)
    assert again["messages"] == once["messages"]
    assert again["stages"] == []


def test_compact_leaves_the_newest_messages_as_they_are(tmp_path):
    messages = conversation()
    told = compacted(tmp_path / "t.json", messages, "--target", 0.1, "--keep-recent", 5)
    assert told["messages"][-5:] == messages[-5:]


@pytest.mark.parametrize("garbage", ["", "no json", "[1, 2]", '{"messages": 5}', "\x00"])
def test_compact_explains_garbage_on_one_line(tmp_path, capsys, garbage):
    path = tmp_path / "t.json"
    path.write_text(garbage)
    assert run(["context", "compact", str(path)]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("error: ")
    assert told.err.count("\n") == 1


# -- usage -------------------------------------------------------------------------------------


def updated(conversation: str, total: int, compactions: int = 0) -> ContextUpdated:
    parts = {"system_and_tools": 500, "codebase_summary": 0, "current_task": 0,
             "messages": total - 500}  # fmt: skip
    return ContextUpdated("builder", conversation, total, 100_000, total / 1_000, 100_000 - total,
                          False, 4, compactions, parts)  # fmt: skip


@pytest.fixture
def little(tmp_path: Path) -> LittleProject:
    project = LittleProject(tmp_path / "project")
    project.log(
        "20260102-030405",
        STARTED,
        updated("r1-0002-scout", 12_000),
        updated("r1-0003-builder", 60_000),
        Compacted("builder", "r1-0003-builder", 60_000, 20_000, 66.7, 40, 9, {"mask": 3}),
        updated("r1-0003-builder", 25_000, 1),
    )
    return project


def test_context_shows_each_conversation_with_a_bar(little):
    told = call(context.command, little.root)
    rows = [line.split() for line in told.stdout.splitlines()]
    assert rows[1] == ["0002-scout", "1", "12.0k", "12%", "12%", "[##..................]", "-"]
    assert rows[2] == ["0003-builder", "2", "25.0k", "25%", "60%", "[#####-------........]", "1",
                       "(-40.0k)"]  # fmt: skip
    assert told.stdout.splitlines()[-1] == (
        "0003-builder, of 100.0k: system and tools 500, messages 24.5k"
    )


def test_context_as_json_has_the_figures(little):
    first, second = json.loads(call(context.command, "usage", little.root, "--json").stdout)
    assert first["usage_percent"] == 12.0
    assert (second["peak_tokens"], second["turns"], second["compaction_count"]) == (60_000, 2, 1)
    assert sum(second["breakdown"].values()) == second["total_tokens"] == 25_000


def test_context_finds_a_run_by_its_id(little, tmp_path, monkeypatch, capsys):
    runs.save(RunOptions(run="r1", root=str(little.root), model="m"))
    monkeypatch.chdir(tmp_path)
    assert run(["context", "r1"]) == 0
    assert "0003-builder" in capsys.readouterr().out


@pytest.mark.parametrize("where", ["nowhere", "../..", "nope-1"])
def test_context_of_nothing_is_one_line(where, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["context", where]) == 1
    assert capsys.readouterr().err.startswith("error: ")


def test_context_without_a_word_means_this_folder(little, monkeypatch, capsys):
    monkeypatch.chdir(little.root)
    assert run(["context"]) == 0
    assert "0002-scout" in capsys.readouterr().out


def test_a_run_without_a_log_says_so(tmp_path, capsys):
    project = LittleProject(tmp_path / "project")
    assert run(["context", str(project.root)]) == 1
    assert "tells of a conversation" in capsys.readouterr().err


def test_a_bar_never_outgrows_its_window():
    assert [bar(0, 0), bar(0.5, 1.7), bar(3, 3)] == [
        "[....................]", "[##########----------]", "[####################]",
    ]  # fmt: skip


# -- log --conversation ------------------------------------------------------------------------


def saved(little: LittleProject) -> None:
    path = little.project.conversations / f"{RUN}-0002-scout.jsonl"
    for message in conversation(2):
        append_line(path, json.dumps(message))
    with path.open("a") as file:
        file.write('{"role": "assis')  # killed here


def test_a_saved_conversation_is_shown_as_it_was_said(little):
    saved(little)
    told = call(log.command, little.root, "--conversation", "scout").stdout
    assert told.splitlines()[:7] == [
        "── 1 user", "Mend src/app.py.", "", "── 2 assistant", "Part 0.", "▶ run_command",
        "  command: make part0",
    ]  # fmt: skip
    assert "  lib/part0.c:3: error: no such thing" in told
    assert "…" in told
    assert "…" not in call(log.command, little.root, "--conversation", "scout", "-v").stdout


def test_a_saved_conversation_as_json_is_what_a_request_holds(little):
    saved(little)
    told = call(log.command, little.root, "--conversation", "scout", "--json").stdout
    assert [json.loads(line) for line in told.splitlines()] == conversation(2)


def test_a_hostile_conversation_can_not_write_to_the_terminal(little):
    path = little.project.conversations / "evil.jsonl"
    append_line(path, json.dumps({"role": "user", "content": "\x1b]0;pwned\x07\x1b[2J"}))
    told = call(log.command, little.root, "--conversation", "evil").stdout
    assert "\x1b" not in told
    assert "pwned" in told
