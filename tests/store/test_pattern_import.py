"""The formats of the public Context Foundry: every shape that its files really have."""

import json
import os
from datetime import date
from pathlib import Path

import pytest

from foundry.errors import ArtifactError
from foundry.schema.base import Json, now
from foundry.schema.learning import Feedback, Pattern, PatternFile, Recommendation
from foundry.schema.run import Status
from foundry.store.patterns.convert import read_file, read_foreign
from foundry.store.patterns.learn import learn
from foundry.store.patterns.library import Library

DAY = date(2026, 1, 2)
OBJECTS = {
    "pattern_id": "cors-modules",
    "title": "CORS error with modules",
    "first_seen": "2025-10-18",
    "last_seen": "2025-10-26T10:00:00Z",
    "frequency": 2,
    "severity": "HIGH",
    "project_types": ["web-app", "all"],
    "tech_stack": ["javascript"],
    "issue": {
        "description": "Blank page",
        "detected_in_phase": "Post-deployment user testing",
        "should_detect_in_phase": "Builder (during seed data validation)",
    },
    "root_cause": "file:// has no origin",
    "solution": {
        "scout": {"action": "Flag it", "questions": ["Opened how?", "By whom?"]},
        "architect": "Plan a server",
    },
    "prevention": {"auto_apply": True},
    "success_rate": "100%",
}
STRINGS = {
    "id": "missing-library",
    "issue": "A library was not loaded",
    "root_cause": "No script tag",
    "solution": "Check the tags",
    "applies_to_phases": ["Scout", "Testing"],
    "severity": "MEDIUM",
}


def one(data: Json, kind: str = "common-issue") -> Pattern:
    file, problems = read_foreign(data, kind, DAY)  # type: ignore[arg-type]
    assert problems == []
    (pattern,) = file.patterns
    return pattern


def test_issue_and_solution_as_objects_by_phase() -> None:
    pattern = one({"patterns": [OBJECTS]})
    assert pattern.title == "CORS error with modules"
    assert pattern.description == "Blank page. Cause: file:// has no origin"
    assert pattern.advice == (
        "scout: action: Flag it; questions: Opened how?; By whom?; architect: Plan a server"
    )
    assert pattern.phases == ("scout", "architect", "builder")
    assert pattern.severity == "high"
    assert pattern.project_types == ("any", "web-app")
    assert (pattern.first_seen, pattern.last_seen) == (date(2025, 10, 18), date(2025, 10, 26))
    assert pattern.frequency == 2


def test_issue_and_solution_as_strings() -> None:
    pattern = one({"timestamp": "2025-01-14T00:27:00Z", "issues_found": [STRINGS]})
    assert pattern.title == "A library was not loaded"
    assert pattern.advice == "Check the tags"
    assert pattern.phases == ("scout", "test")
    assert pattern.first_seen == date(2025, 1, 14)
    assert pattern.frequency == 0


@pytest.mark.parametrize(
    "data",
    [
        [OBJECTS],
        {"patterns": [OBJECTS]},
        {"patterns": {"patterns": [OBJECTS]}},
        {"learnings": [OBJECTS], "patterns": []},
        {"patterns": [OBJECTS, OBJECTS]},
    ],
)
def test_the_list_is_found_wherever_it_is(data: Json) -> None:
    assert one(data).frequency == 2


def test_scout_learnings_of_both_kinds() -> None:
    risk = {
        "title": "CORS risk",
        "risk_detection": {"trigger_keywords": ["browser", "Canvas"], "flag": "Modules need HTTP"},
    }
    pattern = one({"patterns": [risk]}, "scout")
    assert pattern.keywords == ("Canvas", "browser")
    assert "Modules need HTTP" in pattern.advice
    learning = {"learning_id": "ask-early", "key_points": ["Ask first", "Write it down"]}
    pattern = one({"learnings": [learning]}, "scout")
    assert (pattern.title, pattern.advice) == ("ask early", "Ask first; Write it down")
    assert (pattern.phases, pattern.first_seen) == (("scout",), DAY)


def test_texts_are_cut_to_what_a_pattern_holds() -> None:
    pattern = one([{"title": "t" * 999, "solution": ["s" * 1500, "s" * 1500]}])
    assert (len(pattern.title), len(pattern.advice)) == (160, 2000)
    assert pattern.advice.endswith("…")


def test_entries_that_say_nothing_are_named() -> None:
    file, problems = read_foreign({"patterns": [OBJECTS, {"title": "No advice"}, 7]}, "test", DAY)
    assert len(file.patterns) == 1
    assert problems[0].startswith("patterns.1: advice: ")
    assert problems[1].startswith("patterns.2: title: ")


@pytest.mark.parametrize("name", ["last_seen", "first_seen"])
def test_a_date_that_is_none_is_left_out(name: str) -> None:
    pattern = one([{**OBJECTS, name: "2025-13-45"}])
    assert pattern.first_seen == pattern.last_seen


def test_an_import_that_finds_nothing_is_an_error(tmp_path: Path) -> None:
    assert read_file(tmp_path / "absent.json", "common-issue") is None
    (tmp_path / "empty.json").write_text('{"settings": 1}')
    with pytest.raises(ArtifactError, match="no patterns in it"):
        read_file(tmp_path / "empty.json", "common-issue")
    (tmp_path / "bad.json").write_text('{"patterns": [{"title": "No advice"}]}')
    with pytest.raises(ArtifactError, match=r"patterns\.0: advice"):
        read_file(tmp_path / "bad.json", "common-issue")


def test_a_users_foreign_file_is_used_and_kept_when_converted(tmp_path: Path) -> None:
    library = Library(tmp_path, tmp_path / "none")
    path = tmp_path / "patterns" / "common-issues.json"
    path.parent.mkdir()
    foreign = json.dumps({"patterns": [OBJECTS, {"title": "No advice"}], "statistics": {}})
    path.write_text(foreign)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    before = library.load()["common-issues.json"]
    assert [pattern.title for pattern in before.patterns] == ["CORS error with modules"]

    build = Feedback(
        run="r1",
        timestamp=now(),
        project_type="cli",
        status=Status.FAILED,
        test_iterations=0,
        duration_seconds=1,
        recommendations=(
            Recommendation(for_phase="docs", recommendation="Run it", priority="low"),
        ),
    )
    converted, skipped = library.add(learn(build))
    assert "common-issues.json.original-1" in converted
    assert "patterns.1: advice" in skipped
    assert path.with_name("common-issues.json.original-1").read_text() == foreign
    after = PatternFile.model_validate_json(path.read_bytes())
    assert {each.title for each in after.patterns} == {"CORS error with modules", "Run it"}
    assert before.patterns[0] in after.patterns
    assert library.add(learn(build)) == []
