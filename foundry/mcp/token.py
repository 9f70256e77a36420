"""Tokens: opaque words for "this step of this session is due". Pure.

Whoever presents one says that the step is done. A token can't be guessed or altered: it carries an
authentication code under its session's own secret. It holds no state, only where the state is.
"""

import hmac
from base64 import b64decode, urlsafe_b64encode
from dataclasses import dataclass

from foundry.mcp.messages import Refusal

PREFIX = "fw_"
SESSION_BYTES = 12
SECRET = r"^[0-9a-f]{32}$"
"""How a session's secret is written."""

_NUMBER, _SEAL = 4, 11  # with the session a multiple of three bytes: then nothing is padded


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a token says. `number` counts the steps before this one; `seal` is not checked yet."""

    session: str
    number: int
    seal: bytes


def issue(session: str, number: int, secret: str) -> str:
    """The token of a session's step."""
    body = bytes.fromhex(session) + number.to_bytes(_NUMBER, "big")
    return PREFIX + urlsafe_b64encode(body + _seal(body, secret)).decode()


def read(token: str) -> Ticket:
    """What a token says; raises Refusal for what is none."""
    text = token.strip()
    try:
        raw = b64decode(text.removeprefix(PREFIX), altchars="-_", validate=True)
    except ValueError:
        raw = b""
    if not text.startswith(PREFIX) or len(raw) != SESSION_BYTES + _NUMBER + _SEAL:
        raise damaged()
    number = int.from_bytes(raw[SESSION_BYTES : SESSION_BYTES + _NUMBER], "big")
    return Ticket(raw[:SESSION_BYTES].hex(), number, raw[SESSION_BYTES + _NUMBER :])


def check(ticket: Ticket, secret: str) -> None:
    """Raise Refusal unless the token was issued by this session."""
    body = bytes.fromhex(ticket.session) + ticket.number.to_bytes(_NUMBER, "big")
    if not hmac.compare_digest(_seal(body, secret), ticket.seal):
        raise damaged()


def damaged() -> Refusal:
    """What is said of a token that no session issued."""
    return Refusal(
        "token-damaged",
        "this is not a token that was given out, or not the whole of one",
        hint="Copy `token` of the last reply as it is, or start again with `workflowId`",
    )


def _seal(body: bytes, secret: str) -> bytes:
    return hmac.digest(bytes.fromhex(secret), body, "sha256")[:_SEAL]
