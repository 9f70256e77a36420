"""The library: what a build adds is there for the next, whatever happens meanwhile."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from foundry.errors import ArtifactError
from foundry.schema.learning import FILES, Feedback, Issue, PatternFile, Recommendation, Success
from foundry.schema.run import Status
from foundry.store.patterns.learn import learn
from foundry.store.patterns.library import Library

SHIPPED = Path(__file__).parents[2] / "patterns"
ISSUES = "common-issues.json"
TODAY = date(2026, 12, 1)


def issue(title: str, **changes: object) -> Issue:
    fields = {
        "title": title,
        "description": "seen",
        "root_cause": "why",
        "solution": "mend it",
        "detected_in_phase": "test",
        "should_detect_in_phase": "architect",
        "severity": "high",
        "prevention": "think first",
    }
    return Issue.model_validate(fields | changes)


def feedback(run: str, *titles: str, **changes: object) -> Feedback:
    fields = {
        "run": run,
        "timestamp": datetime(2026, 11, 30, 23, 30, tzinfo=UTC),
        "project_type": "cli",
        "tech_stack": ("python",),
        "status": Status.VERIFIED,
        "test_iterations": 1,
        "duration_seconds": 60,
        "issues": tuple(issue(title) for title in titles),
    }
    return Feedback.model_validate(fields | changes)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "home", tmp_path / "no-shipped-patterns")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path / "home" / "patterns"


def titles(file: PatternFile) -> set[str]:
    return {pattern.title for pattern in file.patterns}


# what a build teaches


def test_each_lesson_goes_to_the_file_of_its_kind() -> None:
    files = learn(
        feedback(
            "r1",
            "Locks leak",
            worked=(Success(title="Fake clock", description="Pass it in", kind="test"),),
            recommendations=(
                Recommendation(for_phase="scout", recommendation="Ask. Then go.", priority="low"),
                Recommendation(for_phase="docs", recommendation="Run it.", priority="low"),
            ),
        )
    )
    assert {name: titles(file) for name, file in files.items()} == {
        "common-issues.json": {"Locks leak", "Run it"},
        "test-patterns.json": {"Fake clock"},
        "architecture-patterns.json": set(),
        "scout-learnings.json": {"Ask"},
    }


def test_an_issue_becomes_advice_to_the_phases_that_could_have_seen_it() -> None:
    (pattern,) = learn(feedback("r1", "Locks leak"))[ISSUES].patterns
    assert pattern.phases == ("architect", "test")
    assert pattern.advice == "think first\nWhen it shows: mend it"
    assert pattern.description == "seen\nCause: why"
    assert (pattern.builds, pattern.frequency, pattern.source) == (("r1",), 1, "local")
    assert pattern.first_seen == pattern.last_seen == date(2026, 11, 30)
    assert pattern.summary == "[high] Locks leak: think first When it shows: mend it"


def test_what_worked_counts_only_in_a_verified_build() -> None:
    worked = (Success(title="Fake clock", description="Pass it in", kind="test"),)
    for status in Status:
        learnt = learn(feedback("r1", worked=worked, status=status))["test-patterns.json"]
        assert bool(learnt.patterns) == (status is Status.VERIFIED)


def test_the_longest_words_that_a_model_may_use_fit_a_pattern() -> None:
    long = issue(
        "t" * 160,
        **dict.fromkeys(("description", "root_cause", "solution", "prevention"), "x" * 2000),
        technologies=("y" * 160,),
    )
    recommendation = Recommendation(
        for_phase="test", recommendation="\ud800" + "z" * 1999, priority="low"
    )
    files = learn(
        feedback("r1", issues=(long,), recommendations=(recommendation,), project_type="p" * 999)
    )
    assert [len(file.model_dump_json()) > 1000 for file in files.values()][:2] == [True, True]


# adding


def test_the_next_build_finds_what_a_build_added(library: Library) -> None:
    assert library.add(learn(feedback("r1", "Locks leak"))) == []
    found = library.matching("cli", ["python"], "a lock", "architect", today=TODAY)
    assert [pattern.title for pattern in found] == ["Locks leak"]


def test_adding_the_same_build_twice_changes_nothing(library: Library, own: Path) -> None:
    files = learn(feedback("r1", "Locks leak", "Dates drift"))
    library.add(files)
    before = (own / ISSUES).read_bytes(), (own / ISSUES).stat().st_ino
    library.add(files)
    assert before == ((own / ISSUES).read_bytes(), (own / ISSUES).stat().st_ino)


def test_the_same_lesson_in_other_words_order_is_one_pattern_of_two_builds(
    library: Library,
) -> None:
    library.add(learn(feedback("r1", "npm test hangs in watch mode")))
    library.add(learn(feedback("r2", "Watch mode: the npm tests hang")))
    (pattern,) = library.load()[ISSUES].patterns
    assert pattern.builds == ("r1", "r2")


def test_shipped_patterns_are_offered_and_never_copied(tmp_path: Path) -> None:
    library = Library(tmp_path, SHIPPED)
    assert list(library.load()) == list(FILES.values())
    library.add(learn(feedback("r1", "Locks leak")))
    own = PatternFile.model_validate_json((tmp_path / "patterns" / ISSUES).read_bytes())
    assert titles(own) == {"Locks leak"}
    assert titles(library.load()[ISSUES]) > {"Locks leak"}


def test_a_build_that_teaches_nothing_writes_nothing(library: Library, own: Path) -> None:
    assert library.add(learn(feedback("r1"))) == []
    assert list(own.glob("*.json")) == []


# what may be wrong with a user's own files


@pytest.mark.parametrize(
    ("content", "field", "reason"),
    [
        (b"", "", "not JSON"),
        (b'{"kind": "common-issue", "patt', "", "not JSON"),
        (b"\xff\xfe", "", "not JSON"),
        (b"[" * 5000, "", "not JSON"),
        (b"[]", "", "no patterns in it"),
        (b'"text"', "", "no patterns in it"),
        (b'{"kind": "common-issue"}', "last_updated", "Field required"),
        (b'{"kind": "test", "last_updated": "2026-11-21"}', "kind", "expected 'common-issue'"),
        (
            b'{"kind": "common-issue", "last_updated": "2026-11-21", "patterns": [{"id": "x"}]}',
            "patterns.0.kind",
            "Field required",
        ),
    ],
)
def test_a_damaged_file_is_named_and_kept(
    library: Library, own: Path, content: bytes, field: str, reason: str
) -> None:
    own.mkdir(parents=True)
    (own / ISSUES).write_bytes(content)
    with pytest.raises(ArtifactError) as caught:
        library.load()
    assert caught.value.file == str(own / ISSUES)
    assert caught.value.field == field
    assert reason in caught.value.reason

    (warning,) = library.add(learn(feedback("r1", "Locks leak")))
    assert "common-issues.json.damaged-1" in warning
    assert reason in warning
    assert (own / "common-issues.json.damaged-1").read_bytes() == content
    assert titles(library.load()[ISSUES]) == {"Locks leak"}


def test_each_damaged_file_is_kept_under_its_own_name(library: Library, own: Path) -> None:
    own.mkdir(parents=True)
    for content in (b"first", b"second"):
        (own / ISSUES).write_bytes(content)
        library.add(learn(feedback("r1", "Locks leak")))
    kept = [path.read_bytes() for path in sorted(own.glob("*.damaged-*"))]
    assert kept == [b"first", b"second"]


def test_a_file_of_a_newer_foundry_is_left_alone(library: Library, own: Path) -> None:
    own.mkdir(parents=True)
    newer = json.dumps({"version": 2, "kind": "common-issue", "lessons": {}}).encode()
    (own / ISSUES).write_bytes(newer)
    (warning,) = library.add(learn(feedback("r1", "Locks leak")))
    assert "newer Foundry" in warning
    assert (own / ISSUES).read_bytes() == newer
    assert list(own.glob("*damaged*")) == []
    with pytest.raises(ArtifactError, match="newer Foundry"):
        library.load()


def test_one_bad_file_does_not_keep_the_others_from_learning(library: Library, own: Path) -> None:
    (own / ISSUES).mkdir(parents=True)
    worked = (Success(title="Fake clock", description="Pass it in", kind="test"),)
    warnings = library.add(learn(feedback("r1", "Locks leak", worked=worked)))
    assert len(warnings) == 1
    assert "nothing was added to it" in warnings[0]
    assert "Fake clock" in (own / "test-patterns.json").read_text()


def test_a_home_that_cannot_be_made_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    (warning,) = Library(tmp_path / "home", SHIPPED).add(learn(feedback("r1", "Locks leak")))
    assert "nothing was added" in warning


def test_a_link_to_the_users_own_place_stays_a_link(library: Library, own: Path) -> None:
    library.add(learn(feedback("r1", "Locks leak")))
    elsewhere = own.parent / "dotfiles.json"
    (own / ISSUES).rename(elsewhere)
    (own / ISSUES).symlink_to(elsewhere)
    library.add(learn(feedback("r2", "Dates drift")))
    assert (own / ISSUES).is_symlink()
    assert "Dates drift" in elsewhere.read_text()


def test_a_file_is_replaced_whole_and_never_written_in_place(library: Library, own: Path) -> None:
    library.add(learn(feedback("r1", "Locks leak")))
    before = (own / ISSUES).read_bytes()
    (own / "reader").hardlink_to(own / ISSUES)
    library.add(learn(feedback("r2", "Dates drift")))
    assert (own / "reader").read_bytes() == before
    assert titles(library.load()[ISSUES]) == {"Locks leak", "Dates drift"}
