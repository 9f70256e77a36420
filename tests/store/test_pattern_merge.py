"""Merging is a join: commutative, associative, idempotent, and it loses nothing."""

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.schema.learning import PHASES, SEVERITIES, Pattern, PatternFile
from foundry.store.artifacts import to_json
from foundry.store.patterns.learn import collect, merge

DAY = date(2026, 11, 21)

names = st.lists(st.sampled_from(["any", "cli", "python", "node", "web"]), max_size=3)
days = st.integers(0, 400).map(lambda n: DAY + timedelta(n))
wordings = st.sampled_from(["a", "é"])
patterns = st.builds(
    Pattern,
    id=st.sampled_from(["test-1", "test-2"]),
    kind=st.just("test"),
    title=wordings,
    description=wordings,
    advice=wordings,
    phases=st.lists(st.sampled_from(PHASES), min_size=1, max_size=3),
    severity=st.sampled_from(SEVERITIES),
    project_types=names,
    tech_stack=names,
    keywords=names,
    first_seen=days,
    last_seen=days,
    builds=st.lists(st.sampled_from(["r1", "r2", "r3", "r4"]), max_size=4),
    source=st.sampled_from(["local", "shipped"]),
)
files = st.builds(collect, st.just("test"), st.lists(patterns, max_size=4), days)


@settings(deadline=None, database=None)
@given(files, files, files)
def test_any_merge_is_a_join_that_loses_nothing(
    a: PatternFile, b: PatternFile, c: PatternFile
) -> None:
    merged = merge(a, b)
    assert to_json(merge(b, a)) == to_json(merged)
    assert merge(merged, c) == merge(a, merge(b, c))
    assert merge(a, a) == a
    assert merge(merged, b) == merged
    assert PatternFile.model_validate_json(to_json(merged)) == merged
    both = (*a.patterns, *b.patterns)
    for pattern in merged.patterns:
        same = [each for each in both if each.id == pattern.id]
        assert set(pattern.builds) == {run for each in same for run in each.builds}
        assert pattern.frequency == len(set(pattern.builds))
        assert pattern.first_seen == min(each.first_seen for each in same)
        assert pattern.last_seen == max(each.last_seen for each in same)
        texts = [(each.title, each.description, each.advice, each.source) for each in same]
        assert (pattern.title, pattern.description, pattern.advice, pattern.source) in texts
    assert {each.id for each in merged.patterns} == {each.id for each in both}


def pattern(**changes: object) -> Pattern:
    fields: dict[str, object] = {
        "id": "test-1",
        "kind": "test",
        "title": "t",
        "advice": "a",
        "phases": ("test",),
        "first_seen": DAY,
        "last_seen": DAY,
    }
    return Pattern.model_validate(fields | changes)


def joined(*each: Pattern) -> Pattern:
    (found,) = collect("test", each, DAY).patterns
    return found


def test_shipped_words_stay_and_else_the_fuller_advice() -> None:
    shipped = pattern(source="shipped", advice="short")
    long, longer = pattern(advice="long" * 9), pattern(advice="longer" * 9)
    assert joined(long, shipped).advice == "short"
    assert joined(longer, long).advice == longer.advice


@pytest.mark.parametrize("field", ["title", "description", "advice"])
def test_words_of_equal_length_have_one_winner_too(field: str) -> None:
    a, b = pattern(**{field: "same"}), pattern(**{field: "size"})
    assert joined(a, b) == joined(b, a)


def test_a_lesson_that_held_for_any_stack_is_not_narrowed() -> None:
    assert joined(pattern(tech_stack=("python",)), pattern()).tech_stack == ()
    two = joined(pattern(tech_stack=("python",)), pattern(tech_stack=("node",)))
    assert two.tech_stack == ("node", "python")


def test_the_highest_severity_stays() -> None:
    assert joined(pattern(severity="critical"), pattern(severity="low")).severity == "critical"


def test_kinds_do_not_mix() -> None:
    other = PatternFile(kind="scout", last_updated=DAY)
    with pytest.raises(ValueError, match="kind 'scout'"):
        merge(PatternFile(kind="test", last_updated=DAY), other)
    with pytest.raises(ValueError, match="of kind 'test'"):
        PatternFile(kind="scout", last_updated=DAY, patterns=(pattern(),))


def test_an_id_is_used_once() -> None:
    with pytest.raises(ValueError, match="used twice"):
        PatternFile(kind="test", last_updated=DAY, patterns=(pattern(), pattern(title="u")))
