"""The memory as JSON lines: everything, twice, foreign and damaged."""

import json
from pathlib import Path

import pytest
from support_memory import RICH

from foundry.errors import InputError, ProjectError
from foundry.schema.memory import Draft, MemoryEntry
from foundry.store.memory.store import ContextMemoryStore
from foundry.store.memory.transfer import Problem, in_batches, read_export, to_line, write_export
from tests.support.moments import moment


@pytest.fixture
def memory(tmp_path: Path):
    with ContextMemoryStore(tmp_path / "memory.db") as store:
        yield store


@pytest.fixture
def other(tmp_path: Path):
    with ContextMemoryStore(tmp_path / "other" / "memory.db") as store:
        yield store


def brought(store: ContextMemoryStore, path: Path) -> int:
    return sum(store.take(some.entries) for some in in_batches(read_export(path)))


def test_an_import_has_everything_and_a_second_one_changes_nothing(memory, other, tmp_path):
    memory.store(RICH, Draft(text="Rich.", insights=("x",), tokens=3))
    memory.summarize(memory.store(moment(2, "Plain.")), Draft(text="Later.", source="model"))
    file = tmp_path / "memory.jsonl"
    assert write_export(memory.entries(), file) == 2
    assert brought(other, file) == 2
    assert list(other.entries()) == list(memory.entries())
    before = other.stats()
    assert brought(other, file) == 0
    assert other.stats() == before
    assert brought(memory, file) == 0
    assert [h.id for h in other.search("tokenizer")] == [h.id for h in memory.search("tokenizer")]


def test_an_import_brings_summaries_that_are_missing(memory, other, tmp_path):
    entry_id = memory.store(moment(1, "Plain."), Draft(text="First."))
    other.store(moment(1, "Plain."))
    write_export(memory.entries(), tmp_path / "e.jsonl")
    assert brought(other, tmp_path / "e.jsonl") == 1
    assert other.get(entry_id) == memory.get(entry_id)


def test_foreign_and_damaged_lines_are_told_by_number(memory, tmp_path):
    ids = [memory.store(moment(number, f"turn {number}")) for number in range(4)]
    good = [to_line(entry) for entry in memory.entries()]
    changed = json.loads(good[1])
    changed["snapshot"]["said"] = "somebody else's words"
    lines = [
        good[0],
        "",
        '{"role": "user", "content": "hi"}',
        good[2][:50],
        json.dumps(changed),
        "[1, 2]",
        "\x00\xff",
        good[3],
        json.dumps({**json.loads(good[0]), "version": 2}),
    ]
    file = tmp_path / "mixed.jsonl"
    file.write_text("\n".join(lines), encoding="latin-1")
    read = list(read_export(file))
    problems = {each.line: each.reason for each in read if isinstance(each, Problem)}
    assert [each.id for each in read if isinstance(each, MemoryEntry)] == [ids[0], ids[3]]
    assert sorted(problems) == [3, 4, 5, 6, 7, 9]
    assert "changed" in problems[5]
    assert "version" in problems[9]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("turn", 10**30, "turn: "),
        ("tokens", 2**63, "tokens: "),
        ("began", "0001-01-01T00:00:00+14:00", "no such time in UTC"),
        ("ended", "9999-12-31T23:59:59-14:00", "no such time in UTC"),
        ("ended", "2026-01-02T03:04:05", "timezone"),
        ("summaries", [{"id": "s", "at": "0001-01-01T00:00:00+14:00", "text": "x"}], "no such"),
        ("snapshot", {"state": json.loads('{"a":' * 100 + "1" + "}" * 100)}, "was changed"),
    ],
)  # fmt: skip
def test_what_no_memory_can_hold_is_a_damaged_line(memory, tmp_path, field, value, told):
    memory.store(moment(1, "x"))
    (entry,) = memory.entries()
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps({**json.loads(to_line(entry)), field: value}))
    (problem,) = read_export(file)
    assert problem.line == 1
    assert told in problem.reason


def test_a_secret_in_an_export_is_not_taken_along(memory, tmp_path):
    secret = "sk-ant-api03-Zk3nR9vQ2mX7wL5tB8yC1dF4"
    with ContextMemoryStore(tmp_path / "open.db", clean=lambda text: text) as careless:
        careless.store(moment(1, f"use {secret}"), Draft(text=secret))
        (entry,) = careless.entries()
    assert secret in to_line(entry)
    assert memory.take([entry]) == 1
    (kept,) = memory.entries()
    assert secret not in to_line(kept)
    assert kept.id != entry.id
    assert memory.take([entry]) == 0


def test_files_that_cannot_be_read_or_written(memory, tmp_path):
    memory.store(RICH)
    with pytest.raises(InputError, match="cannot read"):
        list(read_export(tmp_path / "none.jsonl"))
    with pytest.raises(ProjectError, match="cannot write"):
        write_export(memory.entries(), tmp_path / "none" / "x.jsonl")
    (tmp_path / "x.jsonl").write_text("as it was")
    full = Path("/dev/full")
    if full.exists():
        link = tmp_path / ".x.jsonl.part"
        link.symlink_to(full)
        with pytest.raises(ProjectError, match="No space left"):
            write_export(memory.entries(), tmp_path / "x.jsonl")
        assert (tmp_path / "x.jsonl").read_text() == "as it was"
