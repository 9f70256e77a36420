"""What a server's refusal means for a run: try again, shrink the conversation, or stop."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from foundry.errors import ContextOverflow, ModelError, ModelRejected
from foundry.model.retry import Transient, parse_retry_after

QUOTE = 300
"""How many characters of a server's words go into a message of ours."""

STATUS_OF = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""An error inside a stream has the status 200 of the stream; its type says what it is."""

OVERFLOW = re.compile(
    r"prompt is too long"
    r"|input length and .?max_tokens.? exceed"
    r"|exceed_context_size"
    r"|context.?window.?exceeded"
    r"|(exceed|maximum|greater than|too (long|large)).{0,80}context.?(length|size|window|limit)"
    r"|context.?(length|size|window|limit).{0,80}(exceed|maximum|too (long|large|small))",
    re.IGNORECASE | re.DOTALL,
)
"""How Anthropic, llama.cpp, vLLM, LM Studio and LiteLLM say that a prompt doesn't fit."""

BILLING = re.compile(r"credit balance|billing|spend(ing)? limit", re.IGNORECASE)
SECRET = re.compile(r"\bsk-[\w-]{8,}|(?<=bearer )\S{8,}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A server's error as it came. `status` is 200 for an error inside a stream."""

    status: int
    kind: str
    words: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Whom we asked, for messages: the model's name, the server, and the keys never to show."""

    model: str
    url: str
    secrets: tuple[str, ...] = ()


def judge(refusal: Refusal, endpoint: Endpoint, now: float) -> Transient | ModelError:
    """The exception that a refusal calls for; `now` is Unix time, for dates in headers."""
    status = STATUS_OF.get(refusal.kind, 500) if refusal.status < 300 else refusal.status
    words = quote(refusal.words, endpoint.secrets)
    said = f"{endpoint.url} answered {status}" + (f": {words}" if words else "")
    if status == 413 or (status != 429 and OVERFLOW.search(refusal.words)):
        return ContextOverflow(f"the conversation no longer fits {endpoint.model}: {words}")
    should_retry = refusal.headers.get("x-should-retry")
    if status in (408, 409, 429) or status >= 500 or should_retry == "true":
        retry_after = parse_retry_after(refusal.headers, now)
        return Transient(said, retry_after=retry_after, again=should_retry != "false")
    return ModelRejected(said, hint=_mend(status, words, endpoint))


def _mend(status: int, words: str, endpoint: Endpoint) -> str:
    """What to do about a refusal that repeating can't change."""
    if status == 402 or (status in (400, 403) and BILLING.search(words)):
        return "Add credit or raise the spending limit of the account, then run `foundry resume`"
    if status in (401, 403):
        return f"Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN to a key that may use {endpoint.url}"
    if status == 404:
        return (
            f"Is there a model {endpoint.model!r}? Choose one with --model. "
            "A --base-url is written without /v1 at its end"
        )
    return ""


def quote(words: str, secrets: tuple[str, ...] = ()) -> str:
    """A server's words on one short line: no markup, no control characters, no keys."""
    for secret in secrets:
        words = words.replace(secret, "[key]")
    if words.lstrip().startswith("<"):
        words = _title(words)
    words = SECRET.sub("[key]", " ".join(words.split()))
    words = "".join(c for c in words if c.isprintable())
    return words if len(words) <= QUOTE else words[: QUOTE - 1] + "…"


def _title(page: str) -> str:
    found = re.search(r"<title[^>]*>(.*?)</title", page, re.IGNORECASE | re.DOTALL)
    return f"a web page, {found[1].strip()!r}" if found else "a web page"
