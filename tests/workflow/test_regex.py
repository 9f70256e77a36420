"""Lookaheads at the beginning of a pattern: Python's answers, without its backtracking."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from foundry.workflow.regex import Anything, compiled_with_lookaheads

PATTERNS = [
    "^(?!.*b)",
    "^(?=.*a)",
    "^(?=.*a)(?!.*b)[ab]c",
    "^(?=.{2,}$)a",
    "^(?!a|b)",
    "^(?=[)(]|a)(?![^)]b).c",
    r"^(?=\(|a).",
    "^(?=[])]|a).",
    "^(?=[^])]).c",
    "^(?![^]()])[^a]",
    "^(?!(a(b|c)))a(b|c)?",
    "(?=ab)",
    "(?!a)",
    "(?!.*b)",
    "(?=a|c)",
    "a(b)",
]
REFUSED = [
    "(?=a)b",
    "(?!a)b",
    "(?!a*)",
    "(?!a|$)",
    r"(?!\b)",
    "^(?!a)b|c",
    "^(?!a)*b",
    "^(?!a){2}b",
    "^(?!a)?",
    "^a(?!b)",
    "^((?!b).)*$",
    "^(?!(?!a))",
    "^(?<!a)b",
    r"^(?=(a))\1",
    "^(?!a",
    "^(?=",
]
TEXTS = st.text("abc)(\n", max_size=8)


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=TEXTS)
@settings(max_examples=40)
@example(text="")
def test_it_matches_what_python_matches(pattern: str, text: str) -> None:
    ours = compiled_with_lookaheads(pattern, "").search(text) is not None
    theirs = re.search(pattern.replace("$", r"\Z"), text) is not None
    assert ours is theirs


def test_flags_go_for_all_parts() -> None:
    assert compiled_with_lookaheads("^(?=.*B)(?!.*C)a", "is").search("A\nb")
    assert not compiled_with_lookaheads("^(?=.*B)(?!.*C)a", "is").search("A\nbc")
    assert not compiled_with_lookaheads("^(?=.*B)a", "").search("ab")


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_is_not_linear_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="RE2"):
        compiled_with_lookaheads(pattern, "")


def test_with_the_flag_m_the_beginning_is_no_beginning() -> None:
    with pytest.raises(ValueError, match="RE2"):
        compiled_with_lookaheads("^(?!a)b", "m")


def test_what_every_text_matches_is_known() -> None:
    assert isinstance(compiled_with_lookaheads("(?!.*TODO)", ""), Anything)
    assert not isinstance(compiled_with_lookaheads("^(?!.*TODO)", ""), Anything)


def test_a_pattern_of_endless_lookaheads_is_refused() -> None:
    with pytest.raises(ValueError, match="longer than"):
        compiled_with_lookaheads("^" + "(?=a)" * 5000 + "a")
