"""What the Messages API refuses, so that a request it would refuse fails in a rehearsal too.

Stricter than the API in one point: two messages of one role in a row are an error here, where
the API would join them; a conversation that sends such a pair has lost something in between.

A thought is signed with everything that stood before it. One that comes back to other words is
refused, as newer models do; whoever changes a conversation has to take all thoughts out of it.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from foundry.errors import FoundryError

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""The `type` that belongs to a status; whatever is missing is an `api_error`."""

MARK = "rehearsed-"
TYPES = ("adaptive", "enabled", "disabled", "between_tools")
LEAST_BUDGET = 1_024

MAX_BREAKPOINTS = 4
MAX_BODY_BYTES = 32_000_000

canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode
"""JSON that is the same for the same value."""

_FIELDS = frozenset(
    {"model", "messages", "max_tokens", "system", "tools", "tool_choice", "stream", "metadata"}
    | {"stop_sequences", "temperature", "top_k", "top_p", "thinking", "output_config"}
    | {"output_format", "cache_control", "service_tier", "container", "context_management"}
    | {"mcp_servers", "inference_geo", "diagnostics", "speed"}
)


class ApiError(FoundryError):
    """An error reply of the API: its HTTP status, its type, its message and extra headers."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        type: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.type = type or ERROR_TYPES.get(status, "api_error")
        self.headers = headers or {}


def check_credentials(headers: Mapping[str, str]) -> None:
    """Any key will do, but there must be one. Raises ApiError (401)."""
    if not headers.get("x-api-key") and not headers.get("authorization"):
        raise ApiError(401, "x-api-key header is required")


def check_request(body: Mapping[str, Any], *, counting: bool = False) -> None:
    """Raise ApiError (400) for what the API would refuse; `counting` is for count_tokens."""
    for name in body:
        if name not in _FIELDS:
            raise ApiError(400, f"{name}: Extra inputs are not permitted")
    required = ("model", "messages") if counting else ("model", "messages", "max_tokens")
    for name in required:
        if name not in body:
            raise ApiError(400, f"{name}: Field required")
    if not counting and not (isinstance(body["max_tokens"], int) and body["max_tokens"] > 0):
        raise ApiError(400, "max_tokens: Input should be an integer greater than 0")
    names = [tool.get("name") for tool in body.get("tools") or ()]
    if len(set(names)) < len(names):
        raise ApiError(400, "tools: Tool names must be unique.")
    if body.get("system"):
        _check_blocks("system", blocks_of(body["system"], "system"))
    _check_messages(body["messages"])


def check_breakpoints(count: int) -> None:
    """Raise ApiError (400) for more cache breakpoints than the API takes."""
    if count > MAX_BREAKPOINTS:
        raise ApiError(
            400,
            f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. "
            f"Found {count}.",
        )


def blocks_of(content: Any, where: str = "content") -> list[dict[str, Any]]:
    """Content as blocks: a plain string is one text block. Raises ApiError (400) otherwise."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list) and all(isinstance(block, dict) for block in content):
        return content
    raise ApiError(400, f"{where}: Input should be a valid list of content blocks")


def _check_messages(messages: Any) -> None:
    if not isinstance(messages, list) or not messages:
        raise ApiError(400, "messages: at least one message is required")
    expected = "user"
    pending: list[Any] = []
    for number, message in enumerate(messages):
        where = f"messages.{number}"
        role = message.get("role")
        blocks = blocks_of(message.get("content"), f"{where}.content")
        _check_blocks(where, blocks)
        if role == "system":  # allowed anywhere, and no part of the alternation
            continue
        if role != expected:
            raise ApiError(400, _wrong_role(where, role, expected, first=number == 0))
        if role == "user":
            _check_results(where, blocks, pending)
        pending = [block.get("id") for block in blocks if block.get("type") == "tool_use"]
        expected = "assistant" if role == "user" else "user"
    if expected == "user":
        raise ApiError(400, "messages: the conversation must end with a user message")


def _wrong_role(where: str, role: Any, expected: str, *, first: bool) -> str:
    if role not in ("user", "assistant"):
        return f"{where}.role: Input should be 'user' or 'assistant'"
    if first:
        return 'messages: first message must use the "user" role'
    return (
        f'{where}: roles must alternate between "user" and "assistant", '
        f'but found "{role}" instead of "{expected}"'
    )


def _check_blocks(where: str, blocks: Sequence[Mapping[str, Any]]) -> None:
    if not blocks:
        raise ApiError(400, f"{where}: all messages must have non-empty content")
    for block in blocks:
        kind = block.get("type")
        if kind == "text" and not _has_text(block.get("text")):
            raise ApiError(400, f"{where}: text content blocks must be non-empty")
        inner = block.get("content") if kind == "tool_result" else None
        if isinstance(inner, list) and inner:
            _check_blocks(where, blocks_of(inner))


def _has_text(text: Any) -> bool:
    return isinstance(text, str) and text != "" and not text.isspace()


def _check_results(where: str, blocks: Sequence[Mapping[str, Any]], calls: list[Any]) -> None:
    """Every call of the message before is answered here, once, and before anything else."""
    answered = [b.get("tool_use_id") for b in blocks if b.get("type") == "tool_result"]
    for call in calls:
        if call not in answered:
            raise ApiError(
                400,
                f"{where}: `tool_use` ids were found without `tool_result` blocks immediately "
                f"after: {call}. Each `tool_use` block must have a corresponding `tool_result` "
                "block in the next message.",
            )
    for answer in answered:
        if answer not in calls:
            raise ApiError(
                400,
                f"{where}: unexpected `tool_use_id` found in `tool_result` blocks: {answer}. Each "
                "`tool_result` block must have a corresponding `tool_use` block in the previous "
                "message.",
            )
    if len(set(answered)) < len(answered):
        raise ApiError(400, f"{where}: each tool_use must have a single result")
    if any(block.get("type") != "tool_result" for block in blocks[: len(answered)]):
        raise ApiError(400, f"{where}: `tool_result` blocks must come first in their message")


def check_thinking(body: Mapping[str, Any]) -> None:
    """Raise ApiError (400) for a `thinking` that the API would refuse."""
    thinking = body.get("thinking")
    if thinking is None:
        return
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    if kind not in TYPES:
        raise ApiError(400, f"thinking.type: Input should be one of {', '.join(TYPES)}")
    budget = thinking.get("budget_tokens")
    if kind == "enabled" and not (isinstance(budget, int) and budget >= LEAST_BUDGET):
        raise ApiError(400, f"thinking.budget_tokens: Input should be at least {LEAST_BUDGET}")
    if kind == "enabled" and budget >= body.get("max_tokens", 0):
        raise ApiError(400, "`max_tokens` must be greater than `thinking.budget_tokens`")
    if kind in ("enabled", "adaptive") and _forces(body):
        raise ApiError(400, "Thinking may not be enabled when tool_choice forces tool use.")


def check_thoughts(body: Mapping[str, Any]) -> None:
    """Raise ApiError (400) for a thought of ours that stands after other words than it did."""
    if not any(_is_ours(block) for message in body["messages"]
               for block in blocks_of(message["content"])):  # fmt: skip
        return
    prefix = _start(body)
    for number, message in enumerate(body["messages"]):
        blocks = blocks_of(message["content"])
        for position, block in enumerate(blocks):
            if _is_ours(block) and block["signature"] != MARK + prefix.hexdigest():
                raise ApiError(
                    400,
                    f"messages.{number}.content.{position}: Invalid `signature` in `thinking` "
                    "block. The block is bound to a different conversation.",
                )
        _add(prefix, message["role"], blocks)


def with_thoughts(
    content: Sequence[Mapping[str, Any]], body: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """A scripted reply's blocks: its thoughts signed, or none where the request wants none."""
    kind = (body.get("thinking") or {}).get("type")
    if kind in ("disabled", "between_tools"):
        return [dict(block) for block in content if block["type"] != "thinking"]
    return [
        {"signature": _signature(body), **block} if block["type"] == "thinking" else dict(block)
        for block in content
    ]


def _signature(body: Mapping[str, Any]) -> str:
    prefix = _start(body)
    for message in body["messages"]:
        _add(prefix, message["role"], blocks_of(message["content"]))
    return MARK + prefix.hexdigest()


def _start(body: Mapping[str, Any]) -> blake2b:
    prefix = blake2b(digest_size=12)
    _add(prefix, "tools", body.get("tools") or ())
    _add(prefix, "system", blocks_of(body.get("system") or []))
    return prefix


def _add(prefix: blake2b, owner: str, blocks: Sequence[Mapping[str, Any]]) -> None:
    for block in blocks:
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        prefix.update(f"{owner}{canonical(bare)}".encode())


def _is_ours(block: Mapping[str, Any]) -> bool:
    return str(block.get("signature", "")).startswith(MARK)


def _forces(body: Mapping[str, Any]) -> bool:
    choice = body.get("tool_choice")
    return isinstance(choice, dict) and choice.get("type") in ("any", "tool")
