"""What the tests of the rehearsal share: servers, clients and requests."""

from contextlib import ExitStack
from typing import Any

import anthropic
import pytest

from foundry.model.rehearsal.faults import Fault
from foundry.model.rehearsal.script import Script, call, say, turn
from foundry.model.rehearsal.server import RehearsalServer

WORDS = "I write the file: naïve — 漢字 🙂."
CALL = call("write_file", path="a.py", content='print("one\\two")\n' * 300)
REPLY = turn(say(WORDS), CALL)
EPHEMERAL = {"type": "ephemeral"}


class Stage:
    """Servers and clients of one test, all closed at its end."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def serve(self, script: Script, **options: Any) -> RehearsalServer:
        return self._stack.enter_context(RehearsalServer(script, **options))

    def client(self, server: RehearsalServer, **options: Any) -> anthropic.Anthropic:
        settings = {"api_key": "any", "max_retries": 0, "timeout": 20, **options}
        return self._stack.enter_context(anthropic.Anthropic(base_url=server.url, **settings))

    def play(self, script: Script, **options: Any) -> anthropic.Anthropic:
        return self.client(self.serve(script, **options))


def request(*messages: Any, **more: Any) -> dict[str, Any]:
    turns = messages or ("hello",)
    roles = ("user", "assistant")
    return {
        "model": "claude-opus-5-5",
        "max_tokens": 1000,
        "messages": [{"role": roles[n % 2], "content": text} for n, text in enumerate(turns)],
        **more,
    }


def streamed(client: anthropic.Anthropic, **body: Any) -> Any:
    with client.messages.stream(**(body or request())) as stream:
        return stream.get_final_message()


def created(client: anthropic.Anthropic, **body: Any) -> Any:
    return client.messages.create(**(body or request()))


ASK = pytest.mark.parametrize("ask", [streamed, created])


def struck(fault: Fault) -> Script:
    """A script whose every turn has the fault."""
    return lambda _: turn(say(WORDS), CALL, fault=fault)
