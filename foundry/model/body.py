"""A request as the Messages API takes it: plain JSON, with the headers that go along."""

import json
from typing import Any

from foundry.model import thinking
from foundry.model.editing import BETAS
from foundry.schema.messages import Block, Message, ModelRequest

Body = dict[str, Any]


def body_of(name: str, request: ModelRequest, *, thinks: bool = True) -> Body:
    """What to post to ask the model `name`. Without `thinks` the wish to think is left out, for a
    server that refuses it."""
    body: Body = {
        "model": name,
        "max_tokens": request.max_tokens,
        "messages": [sendable(message) for message in request.messages],
        "stream": True,
    }
    if request.system:
        body["system"] = request.system
    if request.tools:
        body["tools"] = request.tools
    wish = request.thinking if thinks else ""
    if think := thinking.config(name, wish, request.max_tokens, request.messages):
        body["thinking"] = think
    if request.context_management:
        body["context_management"] = request.context_management
    return body


def headers_of(body: Body) -> dict[str, str]:
    """The headers that a body needs: the betas, where it edits the context."""
    return {"anthropic-beta": ",".join(BETAS)} if "context_management" in body else {}


def sendable(message: Message) -> Message:
    """The message as the API takes it: the arguments of a tool call must be an object."""
    if message["role"] != "assistant":
        return message
    return {"role": "assistant", "content": [_with_object(b) for b in message["content"]]}


def _with_object(block: Block) -> Block:
    if block.get("type") != "tool_use" or isinstance(block.get("input"), dict):
        return block
    given = block.get("input")
    raw = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return {**block, "input": {"INVALID_JSON": raw}}
