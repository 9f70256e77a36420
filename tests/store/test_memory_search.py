"""What the memory is searched for, and what comes first."""

from datetime import timedelta
from pathlib import Path

import pytest

from foundry.schema.memory import Draft, Filter, Sought
from foundry.store.memory import index as ranking
from foundry.store.memory.store import ContextMemoryStore
from tests.support.moments import START, call, moment


@pytest.fixture
def memory(tmp_path: Path):
    with ContextMemoryStore(tmp_path / "memory.db") as store:
        yield store


@pytest.fixture
def filled(memory):
    """The memory and the ids of a few turns among many that speak of nothing in particular."""
    ids = {
        "parser": memory.store(moment(
            1, "The off-by-one sits in the loop that parses requests.",
            calls=(call(path="src/http/parser.py", result="def parseHTTPRequest(raw): ..."),),
            files=("src/http/parser.py",), phase="builder", step="builder[1]")),
        "retry": memory.store(moment(
            2, "Backoff doubles after every refused connection.", phase="test", step="test/fix",
            calls=(call("edit_file", path="src/net/backoff.rs", new="fn retry_later()"),),
            files=("src/net/backoff.rs",), run="run-2")),
        "decision": memory.store(moment(
            3, kind="step", decisions=("SQLite holds the sessions.",), phase="architect",
            step="architect", state={"storage": "sqlite"})),
        "summary": memory.store(moment(4, "Done."), Draft(text="Migrated the fixtures.",
                                                          insights=("quokka is the seed",))),
        "files": memory.store(moment(5, "Drew it.", files=("assets/bandicootLogo.svg",))),
    }  # fmt: skip
    for number in range(10, 60):
        memory.store(moment(number, f"I look at part {number} of the code and run the tests."))
    return memory, ids


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("off by one in the request parser", "parser"),
        ("parse_http_request", "parser"),  # another spelling of the name in the result
        ("parsing", "parser"),  # by its stem
        ("refused connections", "retry"),
        ("RetryLater", "retry"),
        ("backoff.rs", "retry"),
        ("session", "decision"),
        ("quokka", "summary"),
        ("bandicoot", "files"),
        ("migrating fixture", "summary"),
    ],
)
def test_found_by_words_names_paths_decisions_and_summaries(filled, query, wanted):
    memory, ids = filled
    best = memory.search(query, limit=3)[0]
    assert best.id == ids[wanted]
    assert 0 < best.score <= 1


@pytest.mark.parametrize("query", ["", "   ", "zyzzyva", '"', "NOT (", "a* OR b", "the and of"])
def test_nothing_fits_and_no_query_is_a_syntax_error(filled, query):
    assert filled[0].search(query) == []


@pytest.mark.parametrize(
    ("which", "wanted"),
    [
        (Filter(run="run-2"), "retry"),
        (Filter(phase="test"), "retry"),
        (Filter(step="test/fix"), "retry"),
        (Filter(file="src/net/backoff.rs"), "retry"),
        (Filter(file="backoff.rs"), "retry"),
        (Filter(file="./src/http/parser.py"), "parser"),
        (Filter(kind="step"), "decision"),
        (Filter(since=START + timedelta(minutes=3), until=START + timedelta(minutes=4)),
         "decision"),
    ],
)  # fmt: skip
def test_filters_leave_only_what_they_mean(filled, which, wanted):
    memory, ids = filled
    everything = "parse requests; backoff refused connection; sqlite holds sessions; the code"
    assert [head.id for head in memory.search(everything, which)] == [ids[wanted]]
    assert [head.id for head in memory.heads(which)] == [ids[wanted]]


def test_a_file_is_not_meant_by_the_end_of_its_name(filled):
    memory, _ = filled
    assert memory.heads(Filter(file="off.rs")) == []
    assert memory.search("backoff", Filter(file="nowhere.py")) == []


def test_what_was_at_hand_is_found_by_code_and_paths(filled):
    memory, ids = filled
    code = Sought(text="Mend it.", code="-    return parseHTTPRequest(raw)")
    assert memory.search(code)[0].id == ids["parser"]
    assert memory.search(Sought(paths=("src/net/backoff.rs",)))[0].id == ids["retry"]


def test_of_equals_the_later_comes_first_and_recency_can_outweigh(memory):
    old = memory.store(moment(1, "The cache is stale, the cache is wrong."))
    for number in range(2, 90):
        memory.store(moment(number, "Nothing of interest."))
    young = memory.store(moment(90, "The cache again."))
    words = "stale cache"
    assert [head.id for head in memory.search(Sought(text=words, recency=0))] == [old, young]
    assert [head.id for head in memory.search(Sought(text=words, recency=3))] == [young, old]


def test_common_terms_are_counted_only_where_rare_ones_hit(memory, monkeypatch):
    """The same answer, whether or not there is room for every posting of the common word."""
    rare = memory.store(moment(1, "common and rarest"))
    ids = [memory.store(moment(number, "common words")) for number in range(2, 30)]
    whole = memory.search("common rarest", limit=40)
    assert whole[0].id == rare
    assert len(whole) == 29
    monkeypatch.setattr(ranking, "POSTINGS", 5)
    assert [head.id for head in memory.search("common rarest", limit=40)] == [rare]
    newest = memory.search("common", limit=40)  # nothing rarer: the newest of them
    assert [head.id for head in newest] == ids[:-6:-1]


def test_a_long_text_is_found_by_its_beginning_and_its_end(memory):
    text = "alpha " + "noise and more noise\n" * 3_000 + "omega"
    entry_id = memory.store(moment(1, "x", calls=(call("run_command", text),)))
    for word in ("alpha", "omega"):
        assert [head.id for head in memory.search(word)] == [entry_id]
    assert memory.get(entry_id).snapshot.calls[0].result == text
