"""Transcripts: the messages of one conversation, in the shape of the Messages API.

A run appends its conversations message by message to local/conversations/<id>.jsonl, as they were
said: what is taken out of a conversation later is still there. Others keep one JSON document.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foundry.errors import InputError
from foundry.schema.messages import Block, Message

HINT = (
    "Give an array of messages, an object with `messages`, or one message a line, as the "
    "Messages API has them"
)


class _Unfit(ValueError):
    """What a file has that no transcript has."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a request would hold."""

    messages: tuple[Message, ...]
    system: str | tuple[Block, ...] = ()
    tools: tuple[Block, ...] = ()


def read_transcript(path: Path) -> Transcript:
    """A transcript of either shape; a torn last line, left by a killed process, is passed over.

    Raises InputError, which says what is wrong with it, for any other file.
    """
    try:
        if path.exists() and not path.is_file():  # a pipe would wait for somebody to write
            raise InputError(f"cannot read {path}: it is no file", hint=HINT)
        text = _whole(path.read_bytes()).decode()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text", hint=HINT) from error
    try:
        return _transcript(_document(text))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no transcript: {error}", hint=HINT) from error


def find(folder: Path, conversation: str) -> Path:
    """The transcript of a conversation by its id, or by a part of it that no other has.

    Raises InputError when there is none, or more than one.
    """
    exact = folder / f"{conversation}.jsonl"
    known = sorted(folder.glob("*.jsonl"))
    if exact in known:
        return exact
    found = [path for path in known if conversation in path.stem]
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError(
            f"there is no conversation {conversation!r} in {folder}",
            hint="`foundry context` lists them",
        )
    names = ", ".join(path.stem for path in found[:6]) + (", …" if len(found) > 6 else "")
    raise InputError(f"several conversations match {conversation!r}: {names}")


def _whole(raw: bytes) -> bytes:
    """Without a last line that was torn within a character."""
    lines, _, last = raw.rpartition(b"\n")
    try:
        last.decode()
    except UnicodeDecodeError:
        return lines or raw
    return raw


def _document(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        lines = list(_lines(text))
        if not lines:
            raise _Unfit(f"it is no JSON ({error})") from error
        return lines


def _lines(text: str) -> Iterator[Any]:
    """The values of JSON lines; nothing where a line other than the last is none."""
    *whole, last = [line for line in text.split("\n") if line.strip()] or [""]
    try:
        values = [json.loads(line) for line in whole]
    except ValueError:
        return
    yield from values
    try:
        yield json.loads(last)
    except ValueError:
        return


def _transcript(document: Any) -> Transcript:
    if isinstance(document, dict) and "role" in document:
        document = [document]
    if isinstance(document, list):
        document = {"messages": document}
    if not isinstance(document, dict) or not isinstance(document.get("messages"), list):
        raise _Unfit("it has no list of messages")
    messages, system, tools = (document.get(key) for key in ("messages", "system", "tools"))
    if not messages:
        raise _Unfit("it has no messages")
    for number, message in enumerate(messages, 1):
        _validate(message, f"message {number}")
    if not isinstance(system or "", str):
        _validate_blocks(system, "system")
    if not isinstance(tools or [], list) or not all(isinstance(each, dict) for each in tools or ()):
        raise _Unfit("`tools` is no list of objects")
    given = system if isinstance(system, str) else tuple(system or ())
    return Transcript(tuple(messages), given, tuple(tools or ()))


def _validate(message: Any, where: str) -> None:
    if not isinstance(message, dict):
        raise _Unfit(f"{where} is no object")
    if message.get("role") not in ("user", "assistant", "system"):
        raise _Unfit(f"{where} has the role {message.get('role')!r}")
    if not isinstance(message.get("content"), str):
        _validate_blocks(message.get("content"), where)


NEEDED = {"text": ("text",), "tool_use": ("id", "name"), "tool_result": ("tool_use_id",),
          "thinking": ("thinking",)}  # fmt: skip


def _validate_blocks(blocks: Any, where: str) -> None:
    if not isinstance(blocks, list):
        raise _Unfit(f"{where} has neither text nor blocks as its content")
    for number, block in enumerate(blocks, 1):
        inside = f"{where}, block {number}"
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise _Unfit(f"{inside} is no block with a type")
        for field in NEEDED.get(block["type"], ()):
            if not isinstance(block.get(field), str):
                raise _Unfit(f"{inside} ({block['type']}) has no {field}")
        inner = block.get("content") if block["type"] == "tool_result" else None
        if inner is not None and not isinstance(inner, str):
            _validate_blocks(inner, inside)
