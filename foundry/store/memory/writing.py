"""Entries into the tables, all of one or nothing of it, and out of them.

A snapshot is kept as parts, and a part as content that is stored once, packed where that pays.
"""

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256

from foundry.schema.base import Json, now
from foundry.schema.memory import ContextSnapshot, Draft, Filter, MemoryEntry, MemorySummary, Moment
from foundry.store.memory import index, reading
from foundry.store.memory.reading import Part

Clean = Callable[[str], str]
"""Takes out of a text what must not be stored."""

WORTH_PACKING = 200
"""Bytes. Below, packing gains nothing."""


def new_entry(moment: Moment, summary: Draft | None, clean: Clean) -> MemoryEntry:
    """A moment as it is stored."""
    kept = _cleaned_moment(moment, clean)
    entry_id = identify(kept)
    drafts = () if summary is None else (_summary(entry_id, cleaned(summary, clean), now()),)
    return MemoryEntry(**dict(kept), id=entry_id, summaries=drafts)


def readmitted(entry: MemoryEntry, clean: Clean) -> MemoryEntry:
    """An entry from elsewhere as it is stored here."""
    moment = Moment(**{name: getattr(entry, name) for name in Moment.model_fields})
    kept = _cleaned_moment(moment, clean)
    entry_id = identify(kept)
    summaries = tuple(_summary(entry_id, cleaned(each, clean), each.at) for each in entry.summaries)
    return MemoryEntry(**dict(kept), id=entry_id, summaries=summaries)


def identify(moment: Moment) -> str:
    """An entry's id: the same for the same content, wherever and however often it is stored."""
    content = moment.model_dump(mode="json", include=set(Moment.model_fields) - {"tokens"})
    return f"ctx_{moment.turn}_{sha256(_canonical(content).encode()).hexdigest()[:16]}"


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


def is_intact(entry: MemoryEntry) -> bool:
    """Whether an entry has the id of its content, so was not changed since it was stored."""
    moment = Moment(**{name: getattr(entry, name) for name in Moment.model_fields})
    return identify(reading.timed(moment)) == entry.id


def cleaned(draft: Draft, clean: Clean) -> Draft:
    """A summary with every text cleaned."""
    return Draft(
        text=clean(reading.whole(draft.text)),
        insights=tuple(clean(reading.whole(each)) for each in draft.insights),
        tokens=draft.tokens,
        source=draft.source,
    )


def insert(connection: sqlite3.Connection, entry: MemoryEntry) -> bool:
    """Store an entry, or the summaries of it that are missing; whether anything was new."""
    known = reading.number_of(connection, entry.id)
    if known is not None:
        return _add(connection, known, entry.id, entry.summaries)
    cursor = connection.execute(
        "INSERT INTO entry (id, kind, run, phase, step, conversation, turn, began, ended, tokens) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (entry.id, entry.kind, entry.run, entry.phase, entry.step, entry.conversation, entry.turn,
         reading.stamp(entry.began), reading.stamp(entry.ended), entry.tokens),
    )  # fmt: skip
    number = cursor.lastrowid
    assert number is not None
    for position, part in enumerate(parts(entry.snapshot)):
        content = put(connection, part.text)
        row = (number, position, part.kind, part.name, part.failed, content)
        connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)
    connection.executemany(
        "INSERT INTO touched VALUES (?, ?, ?, ?)",
        [(number, n, each.path, each.deeds) for n, each in enumerate(entry.snapshot.files)],
    )
    _insert_summaries(connection, number, entry.summaries)
    index.add(connection, number, entry, entry.summaries)
    return True


def purge(connection: sqlite3.Connection, which: Filter) -> int:
    """Remove for good what a filter means, and every text that nothing else holds; how many
    entries. It is the only way in which an original is ever deleted."""
    condition, values = reading.where(which)
    numbers = connection.execute(
        f"SELECT e.number, e.id FROM entry e WHERE {condition}", values
    ).fetchall()
    _let_go(connection, True)
    for number, entry_id in numbers:
        entry = reading.find_entry(connection, entry_id)
        assert entry is not None
        index.remove(connection, number, entry, entry.summaries)
        for table in ("part", "touched", "summary"):
            connection.execute(f"DELETE FROM {table} WHERE entry = ?", (number,))
        connection.execute("DELETE FROM entry WHERE number = ?", (number,))
    connection.execute(
        "DELETE FROM content WHERE NOT EXISTS (SELECT 1 FROM part WHERE content = content.number)"
    )
    _let_go(connection, False)
    return len(numbers)


def add_summary(connection: sqlite3.Connection, entry_id: str, draft: Draft) -> None:
    """Add a summary to an entry; raises KeyError when there is no such entry."""
    number = reading.number_of(connection, entry_id)
    if number is None:
        raise KeyError(entry_id)
    _add(connection, number, entry_id, (_summary(entry_id, draft, now()),))


def _add(
    connection: sqlite3.Connection,
    number: int,
    entry_id: str,
    summaries: tuple[MemorySummary, ...],
) -> bool:
    before = reading.summaries(connection, number)
    known = {each.id for each in before}
    new = tuple(each for each in summaries if each.id not in known)
    if new:
        whole = reading.find_entry(connection, entry_id)
        assert whole is not None
        index.remove(connection, number, whole, before)
        _insert_summaries(connection, number, new)
        index.add(connection, number, whole, (*before, *new))
    return bool(new)


def _insert_summaries(
    connection: sqlite3.Connection, number: int, summaries: tuple[MemorySummary, ...]
) -> None:
    connection.executemany(
        "INSERT INTO summary (id, entry, at, source, tokens, text, insights) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(each.id, number, reading.stamp(each.at), each.source, each.tokens, each.text,
          json.dumps(each.insights)) for each in summaries],
    )  # fmt: skip


def _summary(entry_id: str, draft: Draft, at: datetime) -> MemorySummary:
    content = json.dumps([entry_id, draft.text, draft.insights, draft.source])
    digest = sha256(content.encode()).hexdigest()[:16]
    return MemorySummary(
        id=f"sum_{entry_id.split('_')[1]}_{digest}", at=at.astimezone(UTC), text=draft.text,
        insights=draft.insights, tokens=draft.tokens, source=draft.source,
    )  # fmt: skip


def _cleaned_moment(moment: Moment, clean: Clean) -> Moment:
    snapshot = moment.snapshot
    texts = _mapped(snapshot.model_dump(), clean)
    return reading.timed(moment.model_copy(update={"snapshot": snapshot.model_validate(texts)}))


def _mapped(value: Json, clean: Clean) -> Json:
    """A JSON value with every text in it cleaned, those of its names too."""
    if isinstance(value, str):
        return clean(reading.whole(value))
    if isinstance(value, Mapping):
        return {clean(reading.whole(key)): _mapped(each, clean) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(each, clean) for each in value]
    return value


def _let_go(connection: sqlite3.Connection, now: bool) -> None:
    connection.execute("UPDATE total SET value = ? WHERE name = 'purging'", (now,))


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


def _canonical(value: Json) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
