"""A verdict is verified before it is one; phrases only ever ask for that."""

from pathlib import Path

import pytest
import yaml

from foundry.circular.phrases import LONGEST, LONGEST_SENTENCE, read_closing
from foundry.circular.schema import IterationStatus, Submission
from foundry.circular.verdicts import (
    LOOKS_DONE,
    Claim,
    Verification,
    claim_in_words,
    claim_of,
    settle,
)

MESSAGES = yaml.safe_load(Path(__file__).with_name("closing_messages.yaml").read_text("utf-8"))
ENDS, DECEIVES = MESSAGES["ends"], MESSAGES["deceives"]
HOLDS = Verification(checks=True, clean=True, committed=True, agreeing=2)


def test_there_are_messages_enough_and_most_of_them_deceive() -> None:
    assert len(set(ENDS) | set(DECEIVES)) == len(ENDS) + len(DECEIVES) >= 120
    assert len(DECEIVES) >= len(ENDS)


@pytest.mark.parametrize("message", DECEIVES)
def test_no_deceiver_looks_done(message: str) -> None:
    claim = claim_in_words(message)
    assert claim.kind in ("more", "unclear"), claim.reason
    assert claim.reason
    settled = settle(claim, HOLDS)
    assert settled.status in (IterationStatus.CONTINUE, IterationStatus.UNKNOWN)
    assert not settled.ends


def test_most_true_endings_are_recognised() -> None:
    found = [message for message in ENDS if claim_in_words(message).kind == "done"]
    assert len(found) >= 0.9 * len(ENDS)


@pytest.mark.parametrize("message", ENDS)
def test_words_alone_end_nothing(message: str) -> None:
    settled = settle(claim_in_words(message))
    assert settled.status in (IterationStatus.UNKNOWN, IterationStatus.CONTINUE)
    assert not settled.ends


@pytest.mark.parametrize("ending", ENDS[:12])
@pytest.mark.parametrize(
    "more",
    [
        "Shall I proceed?",
        "But two tests fail.",
        "Next I migrate the writer.",
        "- [ ] writer",
        "Noch nicht ganz.",
        "Three of 30 files are migrated.",
    ],
)
def test_a_true_ending_is_taken_back_by_what_stands_beside_it(ending: str, more: str) -> None:
    for text in (f"{ending}\n\n{more}", f"{more}\n\n{ending}"):
        assert read_closing(text).kind != "done"


def test_a_long_message_says_nothing_for_sure() -> None:
    assert read_closing("I fixed it. " * LONGEST + "Task complete.").kind == "unclear"
    assert read_closing("").kind == "unclear"


def test_reading_takes_no_time_however_odd_the_text() -> None:
    pieces = ("a", "no more ", '"', "`<a>", "1/", "so, ", "having a-", "having a ", "now all ",
              "0 failed, ", "removed ", "the last remaining ", "- ", "a. ", "\n- [x] ")  # fmt: skip
    for piece in pieces:
        for length in (LONGEST_SENTENCE - 20, LONGEST - 20):
            assert read_closing((piece * length)[:length]).kind != "done"


# -- submissions -----------------------------------------------------------------------------------


def submission(verdict: str, *remaining: str) -> Submission:
    return Submission.model_validate(
        {"verdict": verdict, "evidence": "pytest: 30 passed", "remaining": remaining}
    )


def test_done_with_something_left_is_more() -> None:
    claim = claim_of(submission("done", "the writer"))
    assert (claim.kind, claim.remaining) == ("more", ("the writer",))
    assert settle(claim, HOLDS).status == IterationStatus.CONTINUE
    assert claim_of(submission("done", "  ")).kind == "done"


def test_evidence_is_asked_for() -> None:
    with pytest.raises(ValueError, match="evidence"):
        Submission.model_validate({"verdict": "done", "evidence": ""})


def test_only_what_holds_and_is_agreed_on_ends_a_run() -> None:
    done = claim_of(submission("done"))
    assert settle(done).reason == LOOKS_DONE
    cases = {
        (True, True, True, 2): (IterationStatus.SUCCESS, True),
        (True, True, True, 1): (IterationStatus.UNKNOWN, False),
        (False, True, True, 2): (IterationStatus.CONTINUE, False),
        (True, False, True, 2): (IterationStatus.CONTINUE, False),
        (True, True, False, 2): (IterationStatus.CONTINUE, False),
        (None, True, True, 2): (IterationStatus.UNKNOWN, True),
        (None, True, True, 1): (IterationStatus.UNKNOWN, False),
        (None, False, True, 2): (IterationStatus.CONTINUE, False),
    }
    for (checks, clean, committed, agreeing), expected in cases.items():
        settled = settle(done, Verification(checks, clean, committed, agreeing))
        assert (settled.status, settled.ends) == expected
        assert settled.reason


def test_how_many_threads_have_to_agree_is_a_setting() -> None:
    done = claim_of(submission("done"))
    for needed in (1, 2, 3):
        settled = settle(done, Verification(True, True, True, agreeing=2, needed=needed))
        assert settled.ends == (needed <= 2)


def test_blocked_is_a_claim_that_others_have_to_agree_with() -> None:
    blocked = claim_of(submission("blocked", "the key of the payment service"))
    assert settle(blocked).status == IterationStatus.BLOCKED
    assert not settle(blocked).ends
    alone = Verification(checks=False, clean=True, committed=True, agreeing=1)
    assert not settle(blocked, alone).ends
    assert settle(blocked, HOLDS).ends
    words = settle(Claim("blocked", "words", "I am blocked"), HOLDS)
    assert (words.status, words.ends) == (IterationStatus.UNKNOWN, False)


def test_more_goes_on_whatever_the_checks_say() -> None:
    settled = settle(claim_of(submission("more", "the writer")), HOLDS)
    assert (settled.status, settled.ends) == (IterationStatus.CONTINUE, False)
