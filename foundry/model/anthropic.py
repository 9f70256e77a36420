"""A model behind the Messages API, reached through the `anthropic` SDK.

The SDK brings credentials, the connection and the decoding of streams. Retries are ours
(retry.py), what is sent (request.py), and putting a reply together (stream.py): its helper
raises nothing when a stream is cut, completes the JSON of a cut tool call, and reparses that JSON
at every delta.
"""

import importlib
import os
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from foundry.errors import InputError, ModelError, ModelRejected
from foundry.model import prices
from foundry.model.base import Connection
from foundry.model.endpoint import (
    PLACEHOLDER,
    has_model,
    is_loopback,
    needs_placeholder,
    require_loopback,
)
from foundry.model.faults import Endpoint, Refusal, judge, quote
from foundry.model.request import Body, always_thinks, body_of, headers_of, refuses_thinking
from foundry.model.retry import RetryNotice, RetryPolicy, Transient, retrying
from foundry.model.stream import read_reply, without_surrogates
from foundry.schema.base import Json
from foundry.schema.messages import ModelRequest, Reply, Usage

if TYPE_CHECKING:
    from anthropic import Anthropic, APIConnectionError, APIStatusError, Stream

DEFAULT_WINDOW = 200_000
CLAUDE_OUTPUT = 32_000
"""What every Claude since version 4 can write in one reply."""
OTHER_OUTPUT = 8_192

KEY_HINT = (
    "Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, or give a local server with --base-url; "
    "`foundry demo` needs neither"
)


class AnthropicProvider:
    """Models of the API, and of any server that speaks it."""

    def __call__(self, name: str, connection: Connection) -> "AnthropicModel":
        """The model; raises InputError where only this machine may be asked, and it is not."""
        require_loopback(connection.base_url)
        return connect(name, connection)

    def usable(self, name: str, base_url: str) -> str:
        """The name; raises InputError when there is neither a key nor a server to ask."""
        if has_model(base_url):
            return name
        raise InputError(
            "there is no model to talk to",
            hint="Set ANTHROPIC_API_KEY, or name a server of your own with the Messages API "
            "(--base-url http://localhost:11434 --model NAME for Ollama), or see `foundry demo`, "
            "which needs neither",
        )


PROVIDER = AnthropicProvider()


def connect(name: str, connection: Connection, api_key: str | None = None) -> "AnthropicModel":
    """A model that is closed with its connection; the SDK is imported while other work goes on."""
    model = AnthropicModel(
        name,
        base_url=connection.base_url or None,
        api_key=api_key,
        retry=connection.retry,
        read_timeout=connection.read_timeout,
        on_retry=connection.on_retry,
        wait=connection.wait,
    )
    connection.closing.callback(model.close)
    model.warm()
    return model


class AnthropicModel:
    """One model of one server. Safe to share between threads; `close` it in the end.

    Building it is instant: the SDK is imported and connected at the first request. Without
    `api_key` the SDK finds its credentials (ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, a profile);
    without `base_url` it reads ANTHROPIC_BASE_URL. Timeouts are in seconds; `read_timeout` is the
    longest silence within a reply. `on_retry` hears of every wait; `wait` does the waiting.
    """

    def __init__(  # noqa: PLR0913 - options with defaults, not things to remember
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        retry: RetryPolicy | None = None,
        connect_timeout: float = 10.0,
        read_timeout: float = 120.0,
        on_retry: Callable[[RetryNotice], None] | None = None,
        wait: Callable[[float], object] = time.sleep,
        window: int | None = None,
        max_output: int | None = None,
    ) -> None:
        self._name = name
        self._base_url = base_url
        self._api_key = api_key
        self._retry = retry or RetryPolicy()
        self._connect_timeout = connect_timeout
        self._read_timeout = read_timeout
        self._on_retry = on_retry
        self._wait = wait
        self._window = window
        self._max_output = max_output
        self._unthinking = False
        self._lock = threading.Lock()
        self._client: Anthropic | None = None

    @property
    def name(self) -> str:
        """The model id as the server knows it."""
        return self._name

    @property
    def window(self) -> int:
        """The context window in tokens: as given, as known, or 200,000."""
        return self._window or prices.window(self._name) or DEFAULT_WINDOW

    @property
    def max_output(self) -> int:
        """The most tokens that one reply may have: as given, or what such a model surely can."""
        return self._max_output or (CLAUDE_OUTPUT if "claude" in self._name else OTHER_OUTPUT)

    @property
    def always_thinks(self) -> bool:
        """Whether it thinks before every answer, also where it is asked not to."""
        return always_thinks(self._name)

    def cost(self, usage: Usage) -> float | None:
        """US dollars for one reply's usage, or None where no price is known."""
        return prices.cost(self._name, usage)

    def warm(self) -> None:
        """Start to import the SDK, which takes a second, while other work goes on."""
        threading.Thread(target=importlib.import_module, args=["anthropic"], daemon=True).start()

    def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> Reply:
        """Send one request and return the whole reply; `on_text` hears it as it streams.

        After a cut the text starts over; `on_retry` says so in between. The reply's usage has what
        was cut in it, and so has the `billed` of an error. Raises ModelUnavailable,
        ModelRejected or ContextOverflow; what `on_text` raises closes the stream and passes
        through, KeyboardInterrupt too.
        """
        body = self._body(request)
        try:
            return self._complete(body, on_text)
        except ModelRejected as error:
            if "thinking" not in body or not refuses_thinking(error.message):
                raise
        self._unthinking = True  # the name promised more than the server takes
        return self._complete(self._body(request), on_text)

    def _complete(self, body: Body, on_text: Callable[[str], None] | None) -> Reply:
        cut = Usage()

        def attempt() -> Reply:
            nonlocal cut
            try:
                with closing(self._events(body)) as events:
                    return read_reply(events, on_text)
            except Transient as fault:
                cut += fault.usage
                raise

        try:
            reply = retrying(attempt, self._retry, wait=self._wait, on_retry=self._on_retry)
        except ModelError as error:
            error.billed = cut.model_dump()
            raise
        if cut == Usage():
            return reply
        return replace(reply, usage=reply.usage + cut, last_usage=reply.context)

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _body(self, request: ModelRequest) -> Body:
        return body_of(self._name, request, thinks=not self._unthinking)

    def _events(self, body: Body) -> Generator[Json, None, None]:
        """The events of one attempt; whatever the SDK raises becomes Transient or a ModelError.

        A generator, so that the caller's own exceptions never pass through these clauses.
        """
        import anthropic
        import httpx2

        client = self._connected()
        try:
            with _post(client, body) as stream:
                started = False
                for event in stream:
                    started = True
                    yield event
                if not started:
                    raise self._no_stream(stream.response.headers.get("content-type", ""))
        except anthropic.APIStatusError as error:
            raise judge(_refusal(error), self._endpoint(client), time.time()) from error
        except anthropic.APIConnectionError as error:
            raise self._unconnected(error, client) from error
        except anthropic.AnthropicError as error:
            raise ModelRejected(f"no credentials for {client.base_url}: {error}") from error
        except httpx2.TimeoutException as error:
            raise Transient(f"the reply stalled for {self._read_timeout:g} s") from error
        except httpx2.HTTPError as error:
            raise Transient(f"the connection broke within the reply ({error})") from error
        except ValueError as error:
            raise Transient(f"the reply was garbled ({error})") from error

    def _connected(self) -> "Anthropic":
        with self._lock:
            if self._client is None:
                self._client = self._connect()
            return self._client

    def _connect(self) -> "Anthropic":
        """The SDK's client, with the SDK's own retries and telemetry off."""
        import anthropic
        import httpx2

        timeout = httpx2.Timeout(self._read_timeout, connect=self._connect_timeout)
        key = self._api_key or None
        http_client = None
        url = self._base_url or os.environ.get("ANTHROPIC_BASE_URL", "")
        if is_loopback(url):
            if needs_placeholder(url):
                key = key or PLACEHOLDER
            # A proxy from the environment can't reach our loopback. (The SDK's own default
            # client would take it even with trust_env=False.)
            http_client = httpx2.Client(timeout=timeout, trust_env=False, follow_redirects=True)
        try:
            client = anthropic.Anthropic(
                api_key=key,
                base_url=self._base_url,
                max_retries=0,
                timeout=timeout,
                open_telemetry=False,
                http_client=http_client,
            )
        except (anthropic.AnthropicError, httpx2.InvalidURL, ValueError) as error:
            where = self._base_url or "the API"
            raise ModelRejected(f"can't use {where}: {error}", hint=KEY_HINT) from error
        try:
            _check_credentials(client)
        except ModelError:
            client.close()
            raise
        return client

    def _endpoint(self, client: "Anthropic") -> Endpoint:
        secrets = tuple(key for key in (client.api_key, client.auth_token) if key)
        return Endpoint(self._name, _url(client), secrets)

    def _no_stream(self, content_type: str) -> Transient:
        return Transient(
            f"the answer is no stream of a model's reply but {content_type or 'nothing'}",
            hint="Check --base-url (without /v1 at its end) and what stands between",
        )

    def _unconnected(self, error: "APIConnectionError", client: "Anthropic") -> Exception:
        """No answer at all: the cause, which the SDK hides, says whether that can pass."""
        import httpx2

        url = _url(client)
        cause = error.__cause__ or error
        words = quote(str(cause) or type(cause).__name__)
        if isinstance(cause, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError):
            return ModelRejected(f"can't ask {url}: {words}", hint="Check --base-url and the key")
        if isinstance(cause, httpx2.ReadTimeout):
            return Transient(f"{url} gave no answer for {self._read_timeout:g} s")
        return Transient(
            f"can't reach {url} ({words})",
            hint="Check that the server runs there (--base-url, ANTHROPIC_BASE_URL) and the "
            "network, then run `foundry resume`",
        )


def _post(client: "Anthropic", body: Body) -> "Stream[object]":
    """Open a stream of plain JSON events: the SDK's typed ones cost more than the network."""
    from anthropic import Stream

    def send(body: Body) -> "Stream[object]":
        return client.post(
            "/v1/messages",
            cast_to=object,
            body=body,
            options={"headers": headers_of(body)},
            stream=True,
            stream_cls=Stream[object],
        )

    try:
        return send(body)
    except UnicodeEncodeError:
        # A tool brought a lone surrogate; better a replacement character than a dead run.
        return send(without_surrogates(body))


def _refusal(error: "APIStatusError") -> Refusal:
    body = error.body
    words = error.api_message or (body if isinstance(body, str) else "") or str(body or "")
    kind = error.type
    return Refusal(
        error.status_code, kind if isinstance(kind, str) else "", str(words), error.response.headers
    )


def _check_credentials(client: "Anthropic") -> None:
    """Say what is missing before the SDK fails with a TypeError or UnicodeEncodeError."""
    key = client.api_key or client.auth_token
    if not key and client.credentials is None:
        raise ModelRejected(f"there is no key for {_url(client)}", hint=KEY_HINT)
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise ModelRejected(
            "the API key has characters that no key has (a line break?)", hint=KEY_HINT
        )


def _url(client: "Anthropic") -> str:
    return str(client.base_url).rstrip("/")
