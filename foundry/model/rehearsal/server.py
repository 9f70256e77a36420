"""The rehearsal model: a script behind the Messages API, on a real socket of this machine.

`POST /v1/messages` (streamed or whole), `POST /v1/messages/count_tokens` and
`GET /v1/models/{id}`. It listens on 127.0.0.1 only and writes nothing to the terminal.
"""

import hashlib
import json
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Condition
from typing import Any

from foundry.model.rehearsal.billing import Ledger, Prompt, count_output, measure
from foundry.model.rehearsal.delivery import (
    Delivery,
    HttpRequest,
    deliver_error,
    deliver_json,
    deliver_message,
)
from foundry.model.rehearsal.faults import Fault, alter, error_of
from foundry.model.rehearsal.listener import Listener
from foundry.model.rehearsal.rules import (
    MAX_BODY_BYTES,
    ApiError,
    check_breakpoints,
    check_credentials,
    check_request,
    check_thinking,
    check_thoughts,
    with_thoughts,
)
from foundry.model.rehearsal.script import Script, Turn
from foundry.schema.messages import Usage

_SECRET = frozenset({"authorization", "x-api-key", "cookie"})


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request as it came in: its path, its body, its headers without credentials.

    `time` is in seconds since the epoch.
    """

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    time: float


class RehearsalServer:
    """Serves `script` from `start` to `stop`, or for the length of a `with` block.

    `keep` bounds how many requests are recorded (None: all of them). `window` is the context
    window in tokens: a longer prompt is refused, as the API does. A server that was stopped can
    be started again and has the same port, bills and strikes.
    """

    def __init__(
        self,
        script: Script,
        *,
        port: int = 0,
        keep: int | None = None,
        window: int = 200_000,
        max_output: int = 64_000,
    ) -> None:
        self.port = port
        self.window = window
        self.max_output = max_output
        self._script = script
        self._ledger = Ledger()
        self._strikes: Counter[str] = Counter()
        self._recorded: deque[Recorded] = deque(maxlen=keep)
        self._received = 0
        self._changed = Condition()
        self._listener: Listener | None = None

    @property
    def url(self) -> str:
        """What a client takes as its base URL."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> tuple[Recorded, ...]:
        """What was asked, oldest first, as far as it is kept."""
        with self._changed:
            return tuple(self._recorded)

    @property
    def billed(self) -> Usage:
        """The sum of all bills, of replies that were broken on their way too."""
        return self._ledger.total

    def wait_for(self, count: int, timeout: float = 30) -> bool:
        """Wait until `count` requests have come in since the first start; False: timed out."""
        with self._changed:
            return self._changed.wait_for(lambda: self._received >= count, timeout)

    def start(self) -> None:
        """Listen and serve in threads. Raises OSError when the port is taken."""
        self._listener = Listener(self.port, self._respond)
        self.port = self._listener.port
        self._listener.start()

    def stop(self) -> None:
        """Refuse new connections, break the open ones, wait for their threads."""
        if self._listener is not None:
            self._listener.stop()
            self._listener = None

    def __enter__(self) -> "RehearsalServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _respond(self, request: HttpRequest) -> Delivery:
        """The reply to one request; all of the API is behind this, and no socket."""
        try:
            return self._route(request)
        except ApiError as error:
            return deliver_error(error)

    def _route(self, request: HttpRequest) -> Delivery:
        check_credentials(request.headers)
        match request.method, request.path:
            case "POST", "/v1/messages":
                return self._message(request)
            case "POST", "/v1/messages/count_tokens":
                body = self._read(request)
                check_request(body, counting=True)
                return deliver_json({"input_tokens": measure(body).tokens})
            case "GET", path if path.startswith("/v1/models/"):
                return deliver_json(self._model(path.removeprefix("/v1/models/")))
            case _:
                raise ApiError(404, f"Not found: {request.method} {request.path}")

    def _message(self, request: HttpRequest) -> Delivery:
        body = self._read(request)
        check_request(body)
        check_thinking(body)
        check_thoughts(body)
        prompt = measure(body)
        check_breakpoints(len(prompt.breakpoints))
        turn = self._script(body)
        key = turn.id or hashlib.blake2b(request.body, digest_size=8).hexdigest()
        fault = self._strike(key, turn.fault)
        if fault and fault.kind == "status":
            raise error_of(fault)
        if prompt.tokens > self.window:
            sizes = f"{prompt.tokens} tokens > {self.window} maximum"
            raise ApiError(400, f"prompt is too long: {sizes}")
        message = _compose(turn, key, body)
        message = alter(fault, message) if fault else message
        message["usage"] = self._bill(turn, prompt, message["content"])
        return deliver_message(message, streamed=bool(body.get("stream")), fault=fault)

    def _read(self, request: HttpRequest) -> dict[str, Any]:
        if len(request.body) > MAX_BODY_BYTES:
            raise ApiError(413, "Request exceeds the maximum size")
        try:
            body = json.loads(request.body)
        except ValueError as error:
            raise ApiError(400, f"The request body is not valid JSON: {error}") from error
        if not isinstance(body, dict):
            raise ApiError(400, "The request body is not a JSON object")
        headers = {name: text for name, text in request.headers.items() if name not in _SECRET}
        with self._changed:
            self._recorded.append(Recorded(request.path, body, headers, time.time()))
            self._received += 1
            self._changed.notify_all()
        return body

    def _strike(self, key: str, fault: Fault | None) -> Fault | None:
        """The turn's fault, as long as it has strikes left."""
        if fault is None:
            return None
        with self._changed:
            if 0 <= fault.times <= self._strikes[key]:
                return None
            self._strikes[key] += 1
            return fault

    def _bill(self, turn: Turn, prompt: Prompt, content: list[dict[str, Any]]) -> dict[str, int]:
        bill = self._ledger.charge(prompt, count_output(content))
        usage = turn.usage or bill
        return {
            "input_tokens": usage.input_tokens,
            "cache_creation_input_tokens": usage.cache_write_tokens,
            "cache_read_input_tokens": usage.cache_read_tokens,
            "output_tokens": usage.output_tokens,
        }

    def _model(self, name: str) -> dict[str, Any]:
        return {
            "type": "model",
            "id": name,
            "display_name": f"{name} (rehearsal)",
            "created_at": "2026-01-01T00:00:00Z",
            "max_input_tokens": self.window,
            "max_tokens": self.max_output,
        }


def _compose(turn: Turn, key: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """The message of the API that this turn stands for; ids are the same every time."""
    content = with_thoughts(turn.content, body)
    calls = [block for block in content if block["type"] == "tool_use"]
    for number, block in enumerate(calls, 1):
        block.setdefault("id", f"toolu_{key}_{number}")
    return {
        "id": f"msg_{key}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": turn.stop_reason or ("tool_use" if calls else "end_turn"),
        "stop_sequence": None,
    }
