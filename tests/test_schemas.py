"""The published JSON Schemas are those of the code. `--write-schemas` writes them anew."""

import json
from pathlib import Path

import pytest

from foundry.schema.base import Value
from foundry.schema.summary import Evidence, SessionSummary

DOCS = Path(__file__).parent.parent / "docs"
PUBLISHED: dict[str, type[Value]] = {
    "evidence.schema.json": Evidence,
    "session-summary.schema.json": SessionSummary,
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_schema_is_that_of_the_code(name: str, request: pytest.FixtureRequest) -> None:
    schema = PUBLISHED[name].model_json_schema(mode="serialization")
    text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    if request.config.getoption("--write-schemas"):
        (DOCS / name).write_text(text, encoding="utf-8")
    assert (DOCS / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_field_is_explained(name: str) -> None:
    schema = PUBLISHED[name].model_json_schema(mode="serialization")
    classes = {PUBLISHED[name].__name__: schema, **schema["$defs"]}
    mine = {key: value for key, value in classes.items() if key.endswith(("Summary", "Evidence"))}
    assert len(mine) >= 4
    for owner, definition in mine.items():
        for field, about in definition["properties"].items():
            assert about.get("description"), f"{owner}.{field}"
