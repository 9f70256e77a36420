"""The patterns that ship: valid, canonical, and offered where they help."""

from datetime import date
from pathlib import Path

import pytest

from foundry.schema.learning import FILES, Kind, PatternFile, pattern_id
from foundry.store.artifacts import to_json
from foundry.store.patterns.library import Library

SHIPPED = Path(__file__).parents[2] / "patterns"


@pytest.mark.parametrize("kind", FILES)
def test_a_shipped_file_is_as_code_would_write_it(kind: Kind) -> None:
    text = (SHIPPED / FILES[kind]).read_text(encoding="utf-8")
    file = PatternFile.model_validate_json(text)
    assert file.kind == kind
    assert file.patterns
    assert text == to_json(file)
    for pattern in file.patterns:
        assert pattern.id == pattern_id(kind, pattern.title)
        assert (pattern.source, pattern.builds) == ("shipped", ())
        assert pattern.description


def told(library: Library, kind: str, stack: tuple[str, ...], spec: str, phase: str) -> str:
    day = date(2026, 12, 1)
    found = library.matching(kind, stack, spec, phase, today=day)  # type: ignore[arg-type]
    return "\n".join(pattern.summary for pattern in found)


def test_builds_are_told_what_concerns_them(tmp_path: Path) -> None:
    library = Library(tmp_path, SHIPPED)
    todo = told(library, "cli", ("python",), "a to-do list with a JSON store", "builder")
    assert "half-written" in todo
    assert "exit code" in todo
    assert "watch mode" not in todo
    page = told(library, "web-app", ("javascript",), "a tennis scoreboard", "architect")
    assert "file://" in page
    assert "Python tests" not in page
    assert "README" in told(library, "library", ("rust",), "a parser", "docs")
    assert told(library, "library", ("rust",), "a parser", "feedback") == ""
