"""The memory of a project, read-only: found by search, given back whole by its id."""

from typing import Literal

from pydantic import Field

from foundry.mcp import runs
from foundry.mcp.messages import Refusal
from foundry.schema.base import Document, Value
from foundry.schema.memory import Filter, Head, MemoryEntry
from foundry.store.memory.store import ContextMemoryStore, memory_path

MOST = 50


class _Project(Document):
    run: str | None = Field(None, description="the id of a run: the memory of its project")
    folder: str | None = Field(None, description="or the folder of a build; else the current one")


class SearchRequest(_Project):
    """Find turns and steps."""

    query: str = Field(min_length=1, description="words; those within names count, too")
    limit: int = Field(10, ge=1, le=MOST)
    only_run: str = Field("", description="only what is of this run")
    phase: str = Field("", description="only what is of this phase")
    step: str = Field("", description="only what is of this step")
    kind: Literal["turn", "step"] | None = Field(None, description="only turns, or only steps")
    file: str = Field("", description="only what had to do with this file")


class GetRequest(_Project):
    """Get a turn or a step back."""

    id: str = Field(description="as `memory_search` gives it: ctx_…")


class SearchReply(Value):
    """What fits, best first: summaries, whose ids give the originals."""

    entries: tuple[Head, ...]
    """Without their originals."""


def search(request: SearchRequest) -> SearchReply:
    """What fits a query; raises Refusal where there is no memory that may be seen."""
    which = Filter(run=request.only_run, phase=request.phase, step=request.step,
                   kind=request.kind, file=request.file)  # fmt: skip
    with _memory(request) as memory:
        return SearchReply(entries=tuple(memory.search(request.query, which, request.limit)))


def get(request: GetRequest) -> MemoryEntry:
    """A turn or step, whole; raises Refusal where there is none with this id."""
    with _memory(request) as memory:
        found = memory.get(request.id.strip("[] "))
    if found is None:
        raise Refusal(
            "unknown-entry",
            f"there is no entry {request.id!r}",
            hint="`memory_search` names those that there are",
        )
    return found


def _memory(request: _Project) -> ContextMemoryStore:
    root = runs.project(request.run, request.folder).root
    path = memory_path(root)
    if not path.exists():
        raise Refusal(
            "no-memory", f"there is no memory of {root}", hint="The next build there makes one"
        )
    return ContextMemoryStore(path)
