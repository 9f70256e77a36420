"""The memory over MCP: searched and read by whoever may see the project's runs, never written."""

from pathlib import Path
from typing import Any

import pytest

from foundry.mcp.memory import GetRequest, SearchRequest, get, search
from foundry.mcp.messages import Refusal
from foundry.schema.memory import Draft, MemoryEntry
from foundry.store.memory.store import ContextMemoryStore, memory_path
from tests.support.builds import Built
from tests.support.mcp_clients import in_process
from tests.support.moments import call, moment
from tests.support.rehearsals import SmallBuild


@pytest.fixture
def built(build: Any) -> Built:
    """A run that has a memory: Scout's turns and step, and two turns of a run before it."""
    done: Built = build(SmallBuild(), pause_after=("scout",))
    with ContextMemoryStore(memory_path(done.project.root)) as store:
        store.store(moment(1, "The numbat parser drops a token.", calls=(
            call(path="src/parser.py", result="for token in tokens[:-1]:\n" * 400),),
            files=("src/parser.py",)), Draft(text="Read the numbat parser."))  # fmt: skip
        store.store(moment(2, "A numbat, elsewhere.", run="run-2"))
    return done


def test_a_memory_is_searched_and_read_over_the_protocol(built: Built) -> None:
    path = memory_path(built.project.root)
    with ContextMemoryStore(path) as store:
        before = [entry.model_dump(mode="json") for entry in store.entries()]
    with in_process() as tool:
        where = {"folder": str(built.project.root)}
        found = tool("memory_search", query="numbat parser", **where)["entries"]
        assert [each["summary"] for each in found] == ["Read the numbat parser.", ""]
        (only,) = tool("memory_search", query="numbat", file="parser.py", **where)["entries"]
        assert only["id"] == found[0]["id"]
        (other,) = tool("memory_search", query="numbat", onlyRun="run-2", **where)["entries"]
        assert other["run"] == "run-2"
        run = built.journal[0].run
        (step,) = tool("memory_search", query="greetings", kind="step", run=run)["entries"]
        assert step["step"] == "scout"
        whole = tool("memory_get", id=f"[{only['id']}]", **where)
        assert whole["snapshot"]["calls"][0]["result"] == "for token in tokens[:-1]:\n" * 400
        assert [whole] == [each for each in before if each["id"] == only["id"]]
        assert tool("memory_search", query="", **where)["error"]["code"] == "invalid-arguments"
    with ContextMemoryStore(path) as store:
        assert [entry.model_dump(mode="json") for entry in store.entries()] == before


def test_what_of_it_may_be_seen(built: Built, tmp_path: Path) -> None:
    root = str(built.project.root)
    with pytest.raises(Refusal) as refused:
        get(GetRequest(id="ctx_1_0000000000000000", folder=root))
    assert refused.value.code == "unknown-entry"
    strange = tmp_path / "strange"
    built.project.root.rename(strange)  # a folder that this home knows of no more
    with pytest.raises(Refusal) as refused:
        search(SearchRequest(query="numbat", folder=str(strange)))
    assert refused.value.code == "unknown-run"
    strange.rename(root)
    (entry,) = search(SearchRequest(query="numbat", folder=root, limit=1)).entries
    assert isinstance(get(GetRequest(id=entry.id, run=built.journal[0].run)), MemoryEntry)
    for each in Path(root).glob(".context-foundry/local/memory.db*"):
        each.unlink()
    with pytest.raises(Refusal) as refused:
        search(SearchRequest(query="numbat", folder=root))
    assert refused.value.code == "no-memory"
    assert not memory_path(Path(root)).exists()
