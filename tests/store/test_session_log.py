"""What stands in a session log, and what must not."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from foundry.schema.events import (
    CHARACTERS,
    LINES,
    CheckRan,
    Compacted,
    ContextUpdated,
    Event,
    Given,
    Judged,
    Note,
    Retrieved,
    Stats,
    StepEnded,
    ToolRan,
    TurnEnded,
    Waiting,
    excerpt,
)
from foundry.schema.session_log import json_schema
from foundry.store.session_log import LogLines, SessionLog, logs, newest, path_for, stats_of

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TASK, TALK = "builder[1]/task", "r1-0004-builder-1-task"


def called(**fields: Any) -> TurnEnded:
    values = {
        "step": TASK, "turn": 1, "input_tokens": 200, "output_tokens": 900,
        "cache_read_tokens": 8_000, "cache_write_tokens": 500, "cost_usd": 0.02,
        "context_share": 0.04, "seconds": 2.5, "stop_reason": "tool_use", "conversation": TALK,
    }  # fmt: skip
    return TurnEnded(**{**values, **fields})


def ran(tool: str, subject: str, **fields: Any) -> ToolRan:
    return ToolRan(TASK, tool, subject, 0.1, **fields)


def judged(decision: str, who: str = "policy") -> Judged:
    return Judged(TASK, "run_command", "pytest -q", decision, "pytest -q", "", "", who)


CONTEXT = ContextUpdated(TASK, TALK, 12_500, 200_000, 6.25, 187_500, False, 12, 0, {"messages": 1})
COMPACTED = Compacted(TASK, TALK, 210_000, 62_000, 70.5, 60, 15, {"mask": 40, "summary": 45})
SESSION: tuple[Event, ...] = (
    Given("", "", "spec", "A shelf", 3),
    Given(TASK, TALK, "opening", "Build it", 2_400),
    Retrieved(TASK, TALK, ("grep 'login' src/", "read src/a.py"), 850, 0.02),
    called(),
    judged("allow"),
    ran("edit_file", "src/a.py"),
    judged("yes", "person"),
    ran("run_command", "pytest -q", result="exit code 1"),
    ran("write_file", "../x", error="outside"),
    CONTEXT,
    COMPACTED,
    called(turn=2, purpose="compaction"),
    Waiting("429", 12.0, 1),
    CheckRan(TASK, "tests", "pytest", "passed", "exit code 0", 1.0),
    StepEnded(TASK, "builder", "t", "s", "1a2b", 9.0, 9, 0.1, 0.0625, True, ("src/a.py", "b.py")),
)


def written(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def log_of(path: Path, *events: Event) -> list[dict[str, Any]]:
    with SessionLog(path) as log:
        for event in events:
            log(event)
    return written(path)


def test_the_lines_are_those_of_the_seed(tmp_path: Path) -> None:
    lines = log_of(tmp_path / "logs" / "s.jsonl", *SESSION)
    kinds = [line["event"] for line in lines]
    assert kinds[:4] == ["input", "input", "retrieval", "llm_call"]
    assert kinds[-1] == "stats"
    by_kind = {line["event"]: line for line in lines}
    assert list(lines[0])[:2] == ["at", "event"]
    assert lines[1].items() >= {"source": "opening", "content": "Build it", "tokens": 2_400}.items()
    assert by_kind["retrieval"].items() >= {"tokens_added": 850, "ms": 20}.items()
    assert by_kind["retrieval"]["actions"] == ["grep 'login' src/", "read src/a.py"]
    assert lines[3].items() >= {
        "input_tokens": 200, "output_tokens": 900, "cache_read_tokens": 8_000,
        "cache_write_tokens": 500, "ms": 2_500,
    }.items()  # fmt: skip
    assert by_kind["context_update"].items() >= {"total_tokens": 12_500}.items()
    assert by_kind["compaction"].items() >= {
        "tokens_before": 210_000, "tokens_after": 62_000, "reduction_percent": 70.5,
        "messages_before": 60, "messages_after": 15,
    }.items()  # fmt: skip
    tools = [line for line in lines if line["event"] == "tool_execution"]
    assert [(each["subject"], each["ok"], each["approval"]) for each in tools] == [
        ("src/a.py", True, ""),  # what was judged was another tool
        ("pytest -q", True, "yes"),
        ("../x", False, ""),
    ]


def test_a_decision_is_that_of_the_next_call_of_its_tool() -> None:
    lines = LogLines({})
    lines.fields(judged("always", "person"))
    other = ToolRan("docs", "run_command", "make", 0.1)
    assert lines.fields(other)["approval"] == ""
    assert lines.fields(ran("run_command", "pytest -q"))["approval"] == "always"
    assert lines.fields(ran("run_command", "pytest -q"))["approval"] == ""


def test_the_figures_at_the_end(tmp_path: Path) -> None:
    stats = log_of(tmp_path / "s.jsonl", *SESSION)[-1]
    assert {key: stats[key] for key in stats if key != "at"} == {
        "event": "stats", "total_turns": 1, "llm_calls": 2, "tools_executed": 3, "tools_failed": 1,
        "compactions": 1, "retries": 1, "total_tokens_used": 19_200, "input_tokens": 400,
        "output_tokens": 1_800, "cache_read_tokens": 16_000, "cache_write_tokens": 1_000,
        "cost_usd": 0.04, "peak_usage_percent": 6.25, "files_modified": ["src/a.py", "b.py"],
    }  # fmt: skip


def test_an_unknown_price_is_not_counted_as_nothing() -> None:
    assert stats_of((called(), called(cost_usd=None), called())).cost_usd is None
    assert stats_of(()) == Stats()


def test_an_interrupted_session_has_its_figures(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), SessionLog(tmp_path / "s.jsonl") as log:
        log(called())
        raise KeyboardInterrupt
    assert [line["event"] for line in written(log.path)] == ["llm_call", "stats"]


def test_a_killed_process_leaves_all_that_happened(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from foundry.schema.events import Note\n"
        "from foundry.store.session_log import SessionLog\n"
        "with SessionLog(Path(sys.argv[1])) as log:\n"
        "    log(Note('one')); log(Note('two')); os.kill(os.getpid(), signal.SIGKILL)"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert ended.returncode == -9
    assert [line["text"] for line in written(path)] == ["one", "two"]


def test_every_line_is_valid_by_the_published_schema(tmp_path: Path) -> None:
    validator = Draft202012Validator(json_schema())
    lines = log_of(tmp_path / "s.jsonl", *SESSION)
    for line in lines:
        validator.validate(line)
    assert not validator.is_valid({**lines[0], "event": "llm_call"})


# -- what must not be in it ------------------------------------------------------------------


def test_secrets_are_written_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELF_API_TOKEN", "rather ordinary words")
    shape, value = "ghp_0123456789abcdefghijABCDEFGHIJ012345", "rather ordinary words"
    for number, secret in enumerate((shape, value)):
        lines = log_of(
            tmp_path / f"{number}.jsonl",
            Given("", "", "spec", f"use {secret}", 3),
            Retrieved(TASK, TALK, (f"read {secret}",), 1),
            ran("run_command", f"curl -H 'X: {secret}'", error=secret, result=f"a\n{secret}\nb"),
            Compacted(TASK, TALK, 1, 1, 0.0, 1, 1, {secret: 1}),
            StepEnded(TASK, "b", secret, secret, "1a", 1.0, 1, None, 0.0, True, (secret,)),
            Note(f"https://ada:{secret.replace(' ', '-')}@h.example"),
        )
        text = (tmp_path / f"{number}.jsonl").read_text()
        assert secret not in json.dumps([line for line in lines if line["event"] != "compaction"])
        assert text.count("[redacted]") >= 9


def test_a_line_can_be_looked_at_in_a_terminal(tmp_path: Path) -> None:
    hostile = "a\x1b]0;owned\x07b\x9b31m\u202eevil\x00\ud800\x7f\u2028 完成 👩\u200d💻"
    path = tmp_path / "s.jsonl"
    lines = log_of(path, Note(hostile))
    text = path.read_text(encoding="utf-8")
    assert all(line.isprintable() for line in text.split("\n"))
    assert "完成" in text
    assert lines[0]["text"] == hostile


# -- files -----------------------------------------------------------------------------------


def test_each_invocation_has_a_log_of_its_own(tmp_path: Path) -> None:
    assert newest(tmp_path) is None
    made = []
    for _ in range(3):
        made.append(path_for(tmp_path, AT))
        log_of(made[-1])
    assert [path.name for path in made] == [
        "20260102-030405.jsonl", "20260102-030405-2.jsonl", "20260102-030405-3.jsonl",
    ]  # fmt: skip
    assert logs(tmp_path) == made
    assert newest(tmp_path) == made[-1]


def test_an_excerpt_is_the_beginning_and_the_end() -> None:
    assert excerpt("a\n\nb\n") == "a\n\nb"
    assert excerpt("") == ""
    numbers = [str(number) for number in range(1_000)]
    shown = excerpt("\n".join(numbers)).split("\n")
    assert len(shown) == LINES + 1
    cut = shown.index(next(line for line in shown if "left out" in line))
    assert shown[:cut] == numbers[:cut]
    assert shown[cut + 1 :] == numbers[-(LINES - cut) :]
    assert shown[cut] == f"[… {1_000 - LINES} lines left out …]"
    wide = excerpt("\n".join(["x" * 100_000] * 500))
    assert len(wide) < CHARACTERS + 100
    assert "…" in wide
