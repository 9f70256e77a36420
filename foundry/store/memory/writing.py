"""Entries into the tables, all of one or nothing of it."""

import json
import sqlite3
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from hashlib import sha256

from foundry.schema.base import Json, now
from foundry.schema.memory import Draft, MemoryEntry, MemorySummary, Moment
from foundry.store.memory import index, originals, rows

Clean = Callable[[str], str]
"""Takes out of a text what must not be stored."""


def new_entry(moment: Moment, summary: Draft | None, clean: Clean) -> MemoryEntry:
    """A moment as it is stored."""
    kept = _cleaned_moment(moment, clean)
    entry_id = originals.identify(kept)
    drafts = () if summary is None else (_summary(entry_id, cleaned(summary, clean), now()),)
    return MemoryEntry(**dict(kept), id=entry_id, summaries=drafts)


def readmitted(entry: MemoryEntry, clean: Clean) -> MemoryEntry:
    """An entry from elsewhere as it is stored here."""
    moment = Moment(**{name: getattr(entry, name) for name in Moment.model_fields})
    kept = _cleaned_moment(moment, clean)
    entry_id = originals.identify(kept)
    summaries = tuple(_summary(entry_id, cleaned(each, clean), each.at) for each in entry.summaries)
    return MemoryEntry(**dict(kept), id=entry_id, summaries=summaries)


def is_intact(entry: MemoryEntry) -> bool:
    """Whether an entry has the id of its content, so was not changed since it was stored."""
    moment = Moment(**{name: getattr(entry, name) for name in Moment.model_fields})
    return originals.identify(rows.timed(moment)) == entry.id


def cleaned(draft: Draft, clean: Clean) -> Draft:
    """A summary with every text cleaned."""
    return Draft(
        text=clean(rows.whole(draft.text)),
        insights=tuple(clean(rows.whole(each)) for each in draft.insights),
        tokens=draft.tokens,
        source=draft.source,
    )


def insert(connection: sqlite3.Connection, entry: MemoryEntry) -> bool:
    """Store an entry, or the summaries of it that are missing; whether anything was new."""
    known = rows.number_of(connection, entry.id)
    if known is not None:
        return _add(connection, known, entry.id, entry.summaries)
    cursor = connection.execute(
        "INSERT INTO entry (id, kind, run, phase, step, conversation, turn, began, ended, tokens) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (entry.id, entry.kind, entry.run, entry.phase, entry.step, entry.conversation, entry.turn,
         rows.stamp(entry.began), rows.stamp(entry.ended), entry.tokens),
    )  # fmt: skip
    number = cursor.lastrowid
    assert number is not None
    for place, part in enumerate(originals.parts(entry.snapshot)):
        content = originals.put(connection, part.text)
        row = (number, place, part.kind, part.name, part.failed, content)
        connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)
    connection.executemany(
        "INSERT INTO touched VALUES (?, ?, ?, ?)",
        [(number, n, each.path, each.deeds) for n, each in enumerate(entry.snapshot.files)],
    )
    _insert_summaries(connection, number, entry.summaries)
    index.add(connection, number, entry, entry.summaries)
    return True


def add_summary(connection: sqlite3.Connection, entry_id: str, draft: Draft) -> None:
    """Add a summary to an entry; raises KeyError when there is no such entry."""
    number = rows.number_of(connection, entry_id)
    if number is None:
        raise KeyError(entry_id)
    _add(connection, number, entry_id, (_summary(entry_id, draft, now()),))


def _add(
    connection: sqlite3.Connection,
    number: int,
    entry_id: str,
    summaries: tuple[MemorySummary, ...],
) -> bool:
    before = rows.summaries(connection, number)
    known = {each.id for each in before}
    new = tuple(each for each in summaries if each.id not in known)
    if new:
        whole = rows.find_entry(connection, entry_id)
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
        [(each.id, number, rows.stamp(each.at), each.source, each.tokens, each.text,
          json.dumps(each.insights)) for each in summaries],
    )  # fmt: skip


def _summary(entry_id: str, draft: Draft, at: datetime) -> MemorySummary:
    told = json.dumps([entry_id, draft.text, draft.insights, draft.source])
    digest = sha256(told.encode()).hexdigest()[:16]
    return MemorySummary(
        id=f"sum_{entry_id.split('_')[1]}_{digest}", at=at.astimezone(UTC), text=draft.text,
        insights=draft.insights, tokens=draft.tokens, source=draft.source,
    )  # fmt: skip


def _cleaned_moment(moment: Moment, clean: Clean) -> Moment:
    snapshot = moment.snapshot
    texts = _mapped(snapshot.model_dump(), clean)
    return rows.timed(moment.model_copy(update={"snapshot": snapshot.model_validate(texts)}))


def _mapped(value: Json, clean: Clean) -> Json:
    """A JSON value with every text in it cleaned, those of its names too."""
    if isinstance(value, str):
        return clean(rows.whole(value))
    if isinstance(value, Mapping):
        return {clean(rows.whole(key)): _mapped(each, clean) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(each, clean) for each in value]
    return value
