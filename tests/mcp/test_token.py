"""Tokens are opaque, can't be altered, and can't be made by anyone but their session."""

import secrets
import string

import pytest

from foundry.mcp import token
from foundry.mcp.messages import Refusal

SESSION, SECRET = secrets.token_hex(token.SESSION_BYTES), secrets.token_hex(16)


@pytest.mark.parametrize("number", [0, 1, 255, 256, 10_000, 2**32 - 1])
def test_a_token_says_session_and_number(number: int) -> None:
    ticket = token.read(token.issue(SESSION, number, SECRET))
    assert (ticket.session, ticket.number) == (SESSION, number)
    token.check(ticket, SECRET)


def test_no_altered_token_passes() -> None:
    whole = token.issue(SESSION, 7, SECRET)
    letters = string.ascii_letters + string.digits + "-_"
    for place in range(len(whole)):
        for letter in letters:
            altered = whole[:place] + letter + whole[place + 1 :]
            if altered != whole:
                with pytest.raises(Refusal) as refused:
                    token.check(token.read(altered), SECRET)
                assert refused.value.code == "token-damaged"


@pytest.mark.parametrize(
    "text",
    ["", "fw_", "tour", "fw_" + "A" * 36, "fw_" + "A" * 400, "fw_é", "fw_AAA!", "\0", "=" * 39],
)
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(Refusal) as refused:
        token.check(token.read(text), SECRET)
    assert refused.value.code == "token-damaged"
    assert "workflowId" in refused.value.hint


def test_cut_and_lengthened_tokens_are_refused() -> None:
    whole = token.issue(SESSION, 7, SECRET)
    for text in (*(whole[:length] for length in range(len(whole))), whole + "A", whole + "AAAA",
                 whole.removeprefix("fw_"), whole[:9] + "!" + whole[9:]):  # fmt: skip
        with pytest.raises(Refusal):
            token.check(token.read(text), SECRET)


def test_space_around_a_token_does_no_harm() -> None:
    whole = token.issue(SESSION, 7, SECRET)
    token.check(token.read(f" {whole}\n"), SECRET)


def test_another_secret_makes_another_token() -> None:
    other = token.issue(SESSION, 7, secrets.token_hex(16))
    assert other[:20] == token.issue(SESSION, 7, SECRET)[:20]
    with pytest.raises(Refusal):
        token.check(token.read(other), SECRET)
