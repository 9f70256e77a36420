"""From the events of a streamed reply to a Reply.

Blocks are put together as the JSON that the server sent, so that kinds and fields which we don't
know come through unchanged, and a tool call's arguments are parsed once and whole: parsing them
as they grow would take a cut call for a shorter one.
"""

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from foundry.model.retry import Transient
from foundry.schema.base import Json
from foundry.schema.messages import Block, Reply, Usage

USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}
MAX_CHARACTERS = 20_000_000
MAX_SECONDS = 3_600
"""Far beyond any reply that a model may give: what goes on longer is broken."""

DEEPEST = 100
"""Levels of a tool call's arguments: no tool has so many, and whoever keeps them goes through all
of them."""

GROWS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
    "citations_delta": "citation",
}


def read_reply(events: Iterable[Json], on_text: Callable[[str], None] | None = None) -> Reply:
    """Read a stream to its end.

    Raises Transient, with what was counted until then, for a stream that was cut, makes no sense
    or has no end.
    """
    draft = _Draft()
    try:
        return _read(draft, events, on_text)
    except Transient as fault:
        fault.usage = draft.counted()
        raise


def _read(draft: "_Draft", events: Iterable[Json], on_text: Callable[[str], None] | None) -> Reply:
    begun, heard = time.monotonic(), 0
    for event in events:
        heard += len(str(event))
        if heard > MAX_CHARACTERS or time.monotonic() - begun > MAX_SECONDS:
            raise Transient("the model's reply did not come to an end")
        try:
            text = draft.take(event)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise _garbled(error) from error
        if text and on_text is not None:
            on_text(text)
    try:
        return draft.reply()
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise _garbled(error) from error


def _garbled(error: Exception) -> Transient:
    return Transient(f"the model's reply was garbled ({type(error).__name__}: {error})")


class _Draft:
    """What has arrived so far of one reply."""

    def __init__(self) -> None:
        self.message: dict[str, Any] | None = None
        self.usage: dict[str, Any] = {}
        self.stop_reason: str | None = None
        self.blocks: dict[int, dict[str, Any]] = {}
        self.pieces: dict[int, dict[str, list[Any]]] = {}

    def take(self, event: Json) -> str:
        """Add one event; returns the text that it brought. Unknown kinds are passed over."""
        kind = event["type"]
        if kind == "content_block_delta":
            return self._grow(event["index"], event["delta"])
        if kind == "content_block_start":
            self.blocks[event["index"]] = dict(event["content_block"])
            self.pieces[event["index"]] = defaultdict(list)
        elif kind == "message_start":
            self.message = event["message"]
            self._count(event["message"].get("usage"))
        elif kind == "message_delta":
            self.stop_reason = event["delta"].get("stop_reason") or self.stop_reason
            self._count(event.get("usage"))
        return ""

    def _grow(self, index: int, delta: dict[str, Any]) -> str:
        field = GROWS.get(delta["type"])
        if field is None:
            return ""
        piece = delta[field]
        self.pieces[index][field].append(piece)
        return str(piece) if field == "text" else ""

    def _count(self, usage: dict[str, Any] | None) -> None:
        """Later counts are totals: they replace earlier ones, where they are given at all."""
        self.usage.update({k: v for k, v in (usage or {}).items() if v is not None})

    def reply(self) -> Reply:
        if self.message is None:
            raise Transient("the stream ended before the model's reply began")
        if self.stop_reason is None:
            raise Transient("the model's reply was cut off")
        blocks = (_whole(self.blocks[i], self.pieces[i]) for i in sorted(self.blocks))
        rounds = self._rounds()
        return Reply(
            content=tuple(block for block in blocks if not _is_blank(block)),
            stop_reason=self.stop_reason,
            usage=sum(rounds, Usage()),
            last_usage=rounds[-1] if len(rounds) > 1 else None,
            model=self.message.get("model") or "",
            id=self.message.get("id") or "",
        )

    def counted(self) -> Usage:
        """What the server has counted so far, as far as it makes sense."""
        try:
            return sum(self._rounds(), Usage())
        except (LookupError, TypeError, ValueError, AttributeError):
            return Usage()

    def _rounds(self) -> list[Usage]:
        rounds = [_usage(each) for each in self.usage.get("iterations") or ()]
        return rounds or [_usage(self.usage)]


def _usage(counted: dict[str, Any]) -> Usage:
    return Usage(**{ours: counted.get(theirs) or 0 for ours, theirs in USAGE.items()})


def _whole(start: dict[str, Any], pieces: dict[str, list[Any]]) -> Block:
    block = {key: value for key, value in start.items() if value is not None}
    for field, parts in pieces.items():
        if field == "partial_json":
            raw = without_surrogates("".join(parts))
            block["input"] = _arguments(raw) if raw else block.get("input", {})
        elif field == "citation":
            block["citations"] = [*block.get("citations", []), *parts]
        else:
            block[field] = block.get(field, "") + without_surrogates("".join(parts))
    if block["type"] == "tool_use" and not (block.get("id") and block.get("name")):
        raise ValueError("a tool call without id or name")
    return block


def _arguments(raw: str) -> Json:
    """A tool call's arguments; words that are no JSON, or too deep, stay what they are."""
    try:
        value = json.loads(raw, strict=False, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return raw
    if _is_deeper(value, DEEPEST):
        return raw
    return without_surrogates(value) if "\\u" in raw else value


def _is_deeper(value: Json, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(levels == 0 or _is_deeper(each, levels - 1) for each in inner)


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def _is_blank(block: Block) -> bool:
    """The API refuses to be sent blank text, also where it was its own."""
    return block["type"] == "text" and not block.get("text", "").strip()


def without_surrogates(value: Json) -> Json:
    """The value with lone surrogates replaced: they can't be written or sent as UTF-8."""
    if isinstance(value, str):
        return (
            value
            if value.isascii()
            else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        )
    if isinstance(value, dict):
        return {without_surrogates(k): without_surrogates(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [without_surrogates(v) for v in value]
    return value
