"""The memory store: originals whole and unchanged, once each, and out again only by a purge."""

import random
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support_memory import RICH, everything_in

from foundry.schema.memory import Draft, Filter, Moment
from foundry.store.memory.store import ContextMemoryStore
from tests.support.moments import START, call, moment


@pytest.fixture
def memory(tmp_path: Path):
    with ContextMemoryStore(tmp_path / "local" / "memory.db") as store:
        yield store


# -- originals ---------------------------------------------------------------------------------


def test_a_snapshot_comes_back_whole(memory):
    kept = memory.get(memory.store(RICH, Draft(text="Rich.", insights=("a", "b"), tokens=7)))
    assert kept.model_dump(include=set(Moment.model_fields)) == RICH.model_dump()
    assert kept.id.startswith("ctx_3_")
    (summary,) = kept.summaries
    assert summary.id.startswith("sum_3_")
    assert (summary.text, summary.insights, summary.tokens) == ("Rich.", ("a", "b"), 7)
    assert summary.at > kept.ended


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
snapshots = st.fixed_dictionaries({
    "task": st.text(max_size=20),
    "state": st.dictionaries(st.text(max_size=5), json_values, max_size=3),
    "decisions": st.lists(st.text(min_size=1, max_size=20), max_size=3).map(tuple),
    "calls": st.lists(st.builds(
        lambda tool, result, failed, given: call(tool, result, failed, given=given),
        st.text(max_size=9), st.text(max_size=40), st.booleans(), json_values,
    ), max_size=3).map(tuple),
})  # fmt: skip


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(said=st.text(max_size=30), fields=snapshots)
def test_any_snapshot_comes_back_and_survives_an_export(tmp_path, said, fields):
    given_moment = moment(1, said, **fields)
    with ContextMemoryStore(tmp_path / "any.db", clean=lambda text: text) as store:
        kept = store.get(store.store(given_moment))
        assert kept.snapshot == given_moment.snapshot
        assert store.take([kept]) == 0


def test_the_same_is_stored_once_and_equal_texts_too(memory):
    long = "a line of a file\n" * 400
    one = memory.store(moment(1, "I look.", task="T" * 300, calls=(call(result=long),)))
    before = memory.stats()
    assert memory.store(moment(1, "I look.", task="T" * 300, calls=(call(result=long),))) == one
    assert memory.stats() == before
    memory.store(moment(2, "Again.", task="T" * 300, calls=(call(result=long),)))
    after = memory.stats()
    assert after.entries == 2
    assert after.original_bytes > before.original_bytes + len(long)
    assert after.distinct_bytes == before.distinct_bytes + len("Again.")
    assert before.stored_bytes < before.distinct_bytes / 5


@pytest.mark.parametrize("table", ["entry", "content", "part", "touched", "summary"])
def test_originals_can_be_neither_changed_nor_deleted(memory, table):
    memory.store(RICH, Draft(text="Rich."))
    with sqlite3.connect(memory.path) as connection:
        column = connection.execute(f"PRAGMA table_info({table})").fetchall()[-1][1]
        with pytest.raises(sqlite3.IntegrityError, match="never changed"):
            connection.execute(f"UPDATE {table} SET {column} = 'x'")
        with pytest.raises(sqlite3.IntegrityError, match="only ever purged"):
            connection.execute(f"DELETE FROM {table}")
    connection.close()


def test_a_later_summary_counts_and_the_earlier_one_stays(memory):
    entry_id = memory.store(moment(1, "I wrote the parser."), Draft(text="A parser."))
    memory.summarize(entry_id, Draft(text="A tokenizer and a grammar.", source="model"))
    assert [each.text for each in memory.get(entry_id).summaries] == [
        "A parser.", "A tokenizer and a grammar.",
    ]  # fmt: skip
    assert memory.heads()[0].summary == "A tokenizer and a grammar."
    for words in ("parser", "grammar"):
        assert [head.id for head in memory.search(words)] == [entry_id]
    with pytest.raises(KeyError):
        memory.summarize("ctx_1_0000000000000000", Draft(text="Of nothing."))


def test_entries_by_turn_by_conversation_and_by_the_beginning_of_an_id(memory):
    ids = [memory.store(moment(n, f"turn {n}")) for n in (1, 2, 3)]
    memory.store(moment(2, "of another talk", conversation="other"))
    assert [each.id for each in memory.turns((3, 1, 9), "talk")] == [ids[0], ids[2]]
    assert memory.matching(ids[1][:14]) == [ids[1]]
    assert memory.matching("ctx_9") == []
    assert memory.get("ctx_9_0123456789abcdef") is None


def test_a_conversation_accumulates_its_own_turns_and_all_steps(memory):
    memory.store(moment(1, "a turn of before", conversation="before", run="run-0"))
    step = memory.store(moment(2, "a step of before", kind="step", run="run-0"))
    mine = memory.store(moment(3, "a turn of mine"))
    assert [head.id for head in memory.past("talk")] == [step, mine]
    assert [head.id for head in memory.past("talk", limit=1)] == [mine]


# -- secrets -----------------------------------------------------------------------------------

SECRET = "sk-ant-api03-Zk3nR9vQ2mX7wL5tB8yC1dF4"


def test_secrets_never_reach_the_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("DEPLOY_TOKEN", "correcthorsebattery9")
    texts = f"key {SECRET} and correcthorsebattery9"
    with ContextMemoryStore(tmp_path / "memory.db") as store:
        entry_id = store.store(
            moment(1, texts, task=texts, state={"env": [texts]}, decisions=(texts,),
                   calls=(call("run_command", texts, command=texts),)),
            Draft(text=texts, insights=(texts,)),
        )  # fmt: skip
        kept = store.get(entry_id).model_dump_json()
        assert kept.count("[redacted]") == 16
        assert store.search("correcthorsebattery9") == []
    stored = everything_in(tmp_path / "memory.db")
    assert b"[redacted]" in stored
    assert SECRET.encode() not in stored
    assert b"correcthorsebattery9" not in stored


def test_half_a_surrogate_pair_is_no_reason_to_fail(memory):
    entry_id = memory.store(moment(1, "broken \ud83d text"))
    assert memory.get(entry_id).snapshot.said == "broken ? text"


# -- purge -------------------------------------------------------------------------------------


def test_a_purge_by_run_leaves_nothing_of_it(memory):
    shared = "shared by both runs " * 40
    memory.store(moment(1, "quokka", task=shared, run="run-1", files=("src/quokka.py",)),
                 Draft(text="wombat"))  # fmt: skip
    kept = memory.store(moment(2, "numbat", task=shared, run="run-2"), Draft(text="bilby"))
    assert memory.purge(run="run-1") == 1
    assert [head.id for head in memory.heads()] == [kept]
    assert memory.search("quokka") == memory.search("wombat") == []
    assert [head.id for head in memory.search("numbat bilby")] == [kept]
    assert memory.get(kept).snapshot.task == shared
    assert (memory.stats().entries, memory.stats().files) == (1, 0)
    stored = everything_in(memory.path)
    assert b"bilby" in stored
    assert b"wombat" not in stored
    assert b"quokka" not in stored


def test_a_purge_gives_its_room_back(memory):
    memory.store(moment(1, random.Random(1).randbytes(150_000).hex()))
    before = memory.stats().file_bytes
    memory.purge(run="run-1")
    assert memory.stats().file_bytes < before - 100_000


def test_a_purge_by_age_and_one_by_neither(memory):
    ids = [memory.store(moment(n, f"turn {n}")) for n in range(5)]
    assert memory.purge(before=START + timedelta(minutes=3)) == 3
    assert [head.id for head in memory.heads()] == ids[3:]
    assert memory.purge(run="run-1", before=START) == 0
    with pytest.raises(ValueError, match="neither"):
        memory.purge()
    with pytest.raises(sqlite3.IntegrityError), sqlite3.connect(memory.path) as connection:
        connection.execute("DELETE FROM entry")  # the guard is up again
    connection.close()


def test_an_entry_that_was_purged_can_be_stored_again(memory):
    once = memory.store(RICH, Draft(text="Rich."))
    memory.purge(run=RICH.run)
    assert memory.store(RICH, Draft(text="Rich.")) == once
    assert [head.id for head in memory.search("Rich")] == [once]


def test_stats_count_what_there_is(memory):
    memory.store(moment(1, "one", files=("a.py", "b.py"), tokens=40), Draft(text="1", tokens=3))
    memory.store(moment(2, "two", kind="step", run="run-2", files=("a.py",), tokens=60))
    stats = memory.stats()
    assert (stats.entries, stats.turns, stats.steps, stats.runs, stats.files) == (2, 1, 1, 2, 2)
    assert (stats.original_tokens, stats.summary_tokens) == (100, 3)
    assert stats.last - stats.first == timedelta(minutes=1)
    assert memory.heads(Filter(kind="step"))[0].summary == ""
