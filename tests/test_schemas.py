"""The published JSON Schemas are those of the code. `--write-schemas` writes them anew."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foundry.schema import session_log
from foundry.schema.base import Value
from foundry.schema.memory import MemoryEntry
from foundry.schema.summary import Evidence, SessionSummary
from foundry.workflow.json_schema import json_schema

DOCS = Path(__file__).parent.parent / "docs"
WRITTEN: dict[str, type[Value]] = {
    "evidence.schema.json": Evidence,
    "session-summary.schema.json": SessionSummary,
}
"""What Foundry writes."""


def written(name: str) -> dict[str, Any]:
    return WRITTEN[name].model_json_schema(mode="serialization")


PUBLISHED: dict[str, Callable[[str], dict[str, Any]]] = {
    **dict.fromkeys(WRITTEN, written),
    "memory.schema.json": lambda _: MemoryEntry.model_json_schema(mode="serialization"),
    "workflow.schema.json": lambda _: json_schema(),
    "session-log.schema.json": lambda _: session_log.json_schema(),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_schema_is_that_of_the_code(name: str, request: pytest.FixtureRequest) -> None:
    text = json.dumps(PUBLISHED[name](name), indent=2, ensure_ascii=False) + "\n"
    if request.config.getoption("--write-schemas"):
        (DOCS / name).write_text(text, encoding="utf-8")
    assert (DOCS / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", WRITTEN)
def test_every_field_is_explained(name: str) -> None:
    schema = written(name)
    classes = {WRITTEN[name].__name__: schema, **schema["$defs"]}
    mine = {key: value for key, value in classes.items() if key.endswith(("Summary", "Evidence"))}
    assert len(mine) >= 4
    for owner, definition in mine.items():
        for field, about in definition["properties"].items():
            assert about.get("description"), f"{owner}.{field}"
