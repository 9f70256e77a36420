import pytest

from foundry.errors import ContextOverflow, ModelRejected
from foundry.model.faults import QUOTE, Endpoint, Refusal, judge, quote
from foundry.model.retry import Transient

HERE = Endpoint("some-model", "http://127.0.0.1:1", ("local-secret",))


def judged(status, kind="", words="", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return judge(Refusal(status, kind, words, named), HERE, 1_800_000_000.0)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_what_may_pass(status):
    verdict = judged(status, words="busy", retry_after="3")
    assert isinstance(verdict, Transient)
    assert verdict.retry_after == 3
    assert verdict.again
    assert "busy" in verdict.reason


def test_the_server_decides_whether_to_retry():
    assert judged(503, x_should_retry="false").again is False
    assert isinstance(judged(400, x_should_retry="true"), Transient)
    assert isinstance(judged(400, x_should_retry="false"), ModelRejected)


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        ("overloaded_error", Transient),
        ("api_error", Transient),
        ("rate_limit_error", Transient),
        ("timeout_error", Transient),
        ("never_heard_of", Transient),
        ("", Transient),
        ("invalid_request_error", ModelRejected),
        ("authentication_error", ModelRejected),
        ("request_too_large", ContextOverflow),
    ],
)
def test_an_error_inside_a_stream_is_known_by_its_type(kind, verdict):
    assert type(judged(200, kind)) is verdict


@pytest.mark.parametrize(
    "words",
    [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 195000 + 21333 > 200000",
        "the request exceeds the available context size, try increasing it",
        "This model's maximum context length is 4096 tokens. However, you requested 5000",
        "litellm.ContextWindowExceededError: too much",
        "The number of tokens to keep is greater than the context length",
    ],
)
def test_ways_to_say_that_a_prompt_does_not_fit(words):
    assert isinstance(judged(400, "invalid_request_error", words), ContextOverflow)
    assert isinstance(judged(200, "api_error", words), ContextOverflow)


@pytest.mark.parametrize(
    "words",
    [
        "max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens",
        "context_management: Extra inputs are not permitted",
        "messages.1: text content blocks must be non-empty",
    ],
)
def test_other_bad_requests_are_no_overflow(words):
    verdict = judged(400, "invalid_request_error", words)
    assert isinstance(verdict, ModelRejected)
    assert words in verdict.message


def test_a_rate_limit_in_tokens_is_no_overflow():
    words = "exceeds the maximum context length of tokens per minute"
    assert isinstance(judged(429, "rate_limit_error", words), Transient)


@pytest.mark.parametrize(
    ("status", "words", "hint"),
    [
        (401, "invalid key", "Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN"),
        (403, "not for you", "Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN"),
        (402, "pay first", "Add credit"),
        (400, "Your credit balance is too low to access the API", "Add credit"),
        (404, "model: some-model", "'some-model'? Choose one with --model"),
    ],
)
def test_hints_say_what_to_do(status, words, hint):
    verdict = judged(status, words=words)
    assert isinstance(verdict, ModelRejected)
    assert hint in verdict.hint
    assert words in verdict.message


def test_quoted_words_are_one_short_clean_line():
    assert quote("a\n\tb \x1b[31mred\x1b[0m\x07") == "a b [31mred[0m"
    assert len(quote("word " * 1000)) == QUOTE
    assert quote("<html><head><title>\n502 Bad\n</title></head>") == "a web page, '502 Bad'"
    assert quote(" <p>") == "a web page"


@pytest.mark.parametrize(
    "words", ["key local-secret is bad", "sk-ant-api03-abcdefgh_ij", "got Bearer abcdefghij.k"]
)
def test_keys_are_never_quoted(words):
    shown = judged(400, words=words).message
    assert "[key]" in shown
    assert not any(part in shown for part in ("local-secret", "abcdefgh"))
