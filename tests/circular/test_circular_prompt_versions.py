"""An edit of the prompt is kept only if progress per token rose; the original stays."""

from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.circular.adaptation import setup_of
from foundry.circular.assignment import assigned
from foundry.circular.prompt_versions import (
    SPARE,
    PromptHistory,
    active,
    proposal_of,
    propose,
    sections,
    unedited,
    with_measurement,
)
from foundry.circular.schema import Mark, Settings
from tests.support.iterations import journal_of, measured, worked

PROMPT = """# Task: remediation

## Project
{{ base_context }}

## Your objective
Remove every legacy call.

## Instructions
1. Read first.

## Success criteria
- All tests pass
- No legacy call remains

## Reporting
Say what you did.
"""
EDIT = PROMPT.replace("1. Read first.", "1. Search with ripgrep first.")


def tried(gain: int, tokens: int) -> PromptHistory:
    """A history whose one edit gained that much, against 5 in 100,000 tokens."""
    history = with_measurement(unedited(PROMPT), 1, 5, 100_000)
    history, news = propose(history, EDIT, "searching finds more")
    assert news == "version 2 is tried (searching finds more)"
    assert active(history).text == EDIT
    return with_measurement(history, 2, gain, tokens)


def test_an_edit_that_gains_more_a_token_is_kept() -> None:
    history = tried(6, 100_000)
    assert active(history).text == EDIT
    version = history.versions[1]
    assert (version.decision, version.parent, version.why) == ("kept", 1, "searching finds more")
    assert version.verdict == "60 issues a million tokens against 50"


def test_an_edit_that_does_not_is_rejected() -> None:
    for gain, tokens in ((5, 100_000), (6, 200_000), (0, 100_000), (9, 0)):
        history = tried(gain, tokens)
        assert active(history).text == PROMPT
        assert history.versions[1].decision == "rejected"


def test_the_original_and_every_version_stay_in_the_history() -> None:
    history = unedited(PROMPT)
    for number in range(1, 6):
        history = with_measurement(history, number, number % 3, 100_000)
        edit = PROMPT.replace("first.", f"first, and {number} times.")
        history, _ = propose(history, edit, "more reading")
    assert history.versions[0].text == PROMPT
    assert [each.number for each in history.versions] == list(range(1, len(history.versions) + 1))
    assert len(history.versions) > 3
    copied = PromptHistory.model_validate_json(history.model_dump_json())
    assert copied == history


def test_what_may_not_be_tried() -> None:
    history = with_measurement(unedited(PROMPT), 1, 5, 100_000)
    on_trial = propose(history, EDIT, "")[0]
    cases = [
        (unedited(PROMPT), EDIT, "was not measured yet"),
        (on_trial, EDIT + "\nMore.", "version 2 is still on trial"),
        (history, PROMPT, "was there before"),
        (tried(0, 100_000), EDIT, "was there before"),
        (history, EDIT + "x" * (SPARE + len(PROMPT)), "characters are too many"),
        (history, EDIT.replace("{{ base_context }}", ""), "double braces"),
        (history, EDIT + "{% if x %}{% endif %}", "double braces"),
        (history, EDIT.replace("- All tests pass\n", ""), "'- All tests pass'"),
        (history, EDIT.replace("pass\n", "pass\n- Except in src/db\n"), "'- Except in src/db'"),
        (history, EDIT + "\n## Constraints\nLeave src/db.", "'## Constraints'"),
        (history, EDIT.replace("every legacy call", "one legacy call"), "Remove every legacy call"),
    ]
    for before, text, reason in cases:
        after, news = propose(before, text, "")
        assert after == before
        assert "is not tried" in news and reason in news


def test_wordings_proposed_without_end_keep_no_model_that_is_stuck() -> None:
    assignment = assigned(PROMPT, settings=Settings(refine=True, models=("small", "large")))

    def idle(number: int, version: int) -> tuple[Mark, Mark]:
        new = proposal_of(f"{PROMPT}\nWording {number}.", "")
        return worked(proposal=new, model="small", prompt_version=version), measured("t::1")

    expected = {0: (1, "small"), 2: (2, "small"), 4: (1, "large")}
    marks = (*idle(1, 1), *idle(2, 2))
    for count, (version, model) in expected.items():
        setup = setup_of(journal_of(assignment, *marks[:count]))
        assert setup and (setup.version.number, setup.model) == (version, model)
    assert setup.reasons["prompt"].endswith("not tried: version 2 was rejected just now")


def test_what_is_protected() -> None:
    assert sections(PROMPT) == (
        "# Task: remediation",
        "## Your objective",
        "Remove every legacy call.",
        "## Success criteria",
        "- All tests pass",
        "- No legacy call remains",
    )
    assert sections("## Goal\nx\n### Why\ny\n## How\nz") == ("## Goal", "x", "### Why", "y")
    plain = with_measurement(unedited("Remove it."), 1, 1, 100)
    assert propose(plain, "Remove some.", "")[0] == plain
    assert propose(plain, "Remove it.\n## New goal\nNothing.", "")[0] == plain
    assert propose(plain, "Remove it.\nSearch first.", "")[0] != plain


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9), st.integers(0, 9)), max_size=12))
@settings(deadline=None, max_examples=50)
def test_whatever_is_proposed_and_measured(plan: list[tuple[bool, int, int]]) -> None:
    history = unedited(PROMPT)
    for iteration, (propose_one, gain, tokens) in enumerate(plan, 1):
        history = with_measurement(history, iteration, gain, tokens)
        if propose_one:
            edit = PROMPT.replace("first.", f"first ({iteration}).")
            history, _ = propose(history, edit, "")
        assert history.versions[0].text == PROMPT
        assert history.versions[0].decision == "original"
        assert sum(each.decision == "trial" for each in history.versions) <= 1
        rates = [_rate(each) for each in history.versions if each.decision == "kept"]
        assert all(rate > 0 for rate in rates)


def _rate(version: object) -> float:
    first = version.measurements[0]  # type: ignore[attr-defined]
    return first.gain / first.tokens if first.tokens else 0.0
