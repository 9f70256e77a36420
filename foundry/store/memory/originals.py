"""Snapshots as parts, and parts as content that is stored once, packed where that pays."""

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import NamedTuple

from foundry.schema.base import Json
from foundry.schema.memory import CallMade, ContextSnapshot, Moment, Touched

WORTH_PACKING = 200
"""Bytes. Below, packing gains nothing."""


class Part(NamedTuple):
    """One text of a snapshot."""

    kind: str
    name: str
    failed: bool
    text: str


def identify(moment: Moment) -> str:
    """An entry's id: the same for the same content, wherever and however often it is stored."""
    told = moment.model_dump(mode="json", include=set(Moment.model_fields) - {"tokens"})
    return f"ctx_{moment.turn}_{sha256(_canonical(told).encode()).hexdigest()[:16]}"


def parts(snapshot: ContextSnapshot) -> Iterator[Part]:
    """The texts that a snapshot is made of; its files are not among them."""
    if snapshot.task:
        yield Part("task", "", False, snapshot.task)
    if snapshot.said:
        yield Part("said", "", False, snapshot.said)
    for call in snapshot.calls:
        yield Part("call", call.tool, False, _canonical(call.arguments))
        yield Part("result", call.tool, call.failed, call.result)
    if snapshot.state:
        yield Part("state", "", False, _canonical(snapshot.state))
    for decision in snapshot.decisions:
        yield Part("decision", "", False, decision)


def snapshot(given: Iterable[Part], files: Iterable[Touched]) -> ContextSnapshot:
    """The snapshot that these parts are of."""
    texts = {"task": "", "said": "", "state": "{}"}
    calls: list[CallMade] = []
    decisions: list[str] = []
    arguments: Json = None
    for part in given:
        match part.kind:
            case "call":
                arguments = json.loads(part.text)
            case "result":
                calls.append(CallMade(tool=part.name, arguments=arguments, result=part.text,
                                      failed=part.failed))  # fmt: skip
            case "decision":
                decisions.append(part.text)
            case _:
                texts[part.kind] = part.text
    return ContextSnapshot(
        task=texts["task"], said=texts["said"], state=json.loads(texts["state"]),
        calls=tuple(calls), decisions=tuple(decisions), files=tuple(files),
    )  # fmt: skip


def put(connection: sqlite3.Connection, text: str) -> int:
    """Store a text unless it is there already; returns its number."""
    raw = text.encode()
    digest = sha256(raw).digest()
    known = connection.execute("SELECT number FROM content WHERE digest = ?", (digest,)).fetchone()
    if known:
        return int(known[0])
    packed = zlib.compress(raw, 6) if len(raw) >= WORTH_PACKING else raw
    pays = len(packed) < len(raw)
    row = (digest, len(raw), pays, packed if pays else raw)
    cursor = connection.execute(
        "INSERT INTO content (digest, size, packed, data) VALUES (?, ?, ?, ?)", row
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def unpacked(packed: int, data: bytes) -> str:
    """A stored text."""
    return (zlib.decompress(data) if packed else data).decode()


def _canonical(value: Json) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
