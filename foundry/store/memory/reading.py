"""What is read of a memory: rows as entries and heads, filters as conditions, and figures."""

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from foundry.schema.base import Json
from foundry.schema.memory import (
    CallMade,
    ContextSnapshot,
    Filter,
    Head,
    MemoryEntry,
    MemoryStats,
    MemorySummary,
    Moment,
    Touched,
)
from foundry.store.memory.database import DamagedMemory

MANY = 200
"""Rows that are asked for at a time."""

_TIMES = ("began", "ended")
COLUMNS = "number, id, kind, run, phase, step, conversation, turn, began, ended, tokens"
_NEWEST = """
SELECT e.number, e.id, e.kind, e.run, e.phase, e.step, e.conversation, e.turn, e.ended, e.tokens,
       s.text, s.insights, s.tokens
FROM entry e LEFT JOIN summary s ON s.number = (
  SELECT max(number) FROM summary WHERE entry = e.number)
"""
_COUNTS = """
SELECT count(*) AS entries, count(*) FILTER (WHERE kind = 'turn') AS turns,
  count(*) FILTER (WHERE kind = 'step') AS steps, count(DISTINCT run) AS runs,
  ifnull(sum(tokens), 0) AS original_tokens, min(ended) AS first, max(ended) AS last,
  (SELECT count(DISTINCT path) FROM touched) AS files,
  (SELECT ifnull(sum(tokens), 0) FROM summary
   WHERE number IN (SELECT max(number) FROM summary GROUP BY entry)) AS summary_tokens,
  (SELECT ifnull(sum(c.size), 0) FROM part p JOIN content c ON c.number = p.content)
    AS original_bytes,
  (SELECT ifnull(sum(size), 0) FROM content) AS distinct_bytes,
  (SELECT ifnull(sum(length(data)), 0) FROM content) AS stored_bytes
FROM entry
"""


class Part(NamedTuple):
    """One text of a snapshot."""

    kind: str
    name: str
    failed: bool
    text: str


def whole(text: str) -> str:
    """Text that can be stored or asked for: half of a surrogate pair, which a model's JSON or a
    command line may hold, can't."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def stamp(moment: datetime) -> str:
    """A time as it is stored: in UTC, so that text sorts as time does."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def timed(moment: Moment) -> Moment:
    """A moment with its times as they are stored: in UTC, to the millisecond."""
    times = {name: datetime.fromisoformat(stamp(getattr(moment, name))) for name in _TIMES}
    return moment.model_copy(update=times)


def some_entries(
    connection: sqlite3.Connection, after: int, most: int = MANY
) -> list[tuple[int, MemoryEntry]]:
    """The entries that were stored next after a number, with their own numbers."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM entry WHERE number > ? ORDER BY number LIMIT ?", (after, most)
    ).fetchall()
    return [(row[0], entry(connection, row)) for row in rows]


def every_entry(connection: sqlite3.Connection) -> Iterator[tuple[int, MemoryEntry]]:
    """All entries, oldest first; few are held at a time, and rows may be added meanwhile."""
    after = 0
    while some := some_entries(connection, after):
        yield from some
        after = some[-1][0]


def find_entry(connection: sqlite3.Connection, entry_id: str) -> MemoryEntry | None:
    """The entry with this id."""
    row = connection.execute(
        f"SELECT {COLUMNS} FROM entry WHERE id = ?", (whole(entry_id),)
    ).fetchone()
    return entry(connection, row) if row else None


def entry(connection: sqlite3.Connection, row: Sequence[Any]) -> MemoryEntry:
    """The whole entry that a row begins; raises DamagedMemory when it can't be made out."""
    try:
        return _entry(connection, row)
    except (zlib.error, ValueError) as error:
        raise DamagedMemory(f"the memory's entry {row[0]} is damaged") from error


def _entry(connection: sqlite3.Connection, row: Sequence[Any]) -> MemoryEntry:
    number = row[0]
    parts = connection.execute(
        "SELECT p.kind, p.name, p.failed, c.packed, c.data FROM part p "
        "JOIN content c ON c.number = p.content WHERE p.entry = ? ORDER BY p.place",
        (number,),
    )
    files = connection.execute(
        "SELECT path, deeds FROM touched WHERE entry = ? ORDER BY place", (number,)
    )
    return MemoryEntry(
        id=row[1], kind=row[2], run=row[3], phase=row[4], step=row[5], conversation=row[6],
        turn=row[7], began=row[8], ended=row[9], tokens=row[10],
        snapshot=snapshot(
            (Part(kind, name, bool(failed), unpacked(packed, data))
             for kind, name, failed, packed, data in parts),
            (Touched(path=path, deeds=deeds) for path, deeds in files),
        ),
        summaries=summaries(connection, number),
    )  # fmt: skip


def summaries(connection: sqlite3.Connection, number: int) -> tuple[MemorySummary, ...]:
    """An entry's summaries, oldest first."""
    rows = connection.execute(
        "SELECT id, at, source, tokens, text, insights FROM summary WHERE entry = ? "
        "ORDER BY number", (number,),
    )  # fmt: skip
    return tuple(
        MemorySummary(
            id=row[0], at=row[1], source=row[2], tokens=row[3], text=row[4],
            insights=json.loads(row[5]),
        )
        for row in rows
    )  # fmt: skip


def heads(
    connection: sqlite3.Connection,
    which: Filter,
    *,
    limit: int | None = None,
    newest_first: bool = False,
) -> list[Head]:
    """The heads of the entries that a filter means, in the order in which they were stored."""
    condition, values = where(which)
    order = "DESC" if newest_first else "ASC"
    rows = connection.execute(
        f"{_NEWEST} WHERE {condition} ORDER BY e.number {order} LIMIT ?",
        (*values, -1 if limit is None else limit),
    )
    return [head(row) for row in rows]


def past(connection: sqlite3.Connection, conversation: str, limit: int) -> list[Head]:
    """The newest heads of all steps, and of one conversation's turns, oldest first."""
    rows = connection.execute(
        f"{_NEWEST} WHERE e.kind = 'step' OR e.conversation = ? ORDER BY e.number DESC LIMIT ?",
        (conversation, limit),
    ).fetchall()
    return [head(row) for row in reversed(rows)]


def matching(connection: sqlite3.Connection, beginning: str, limit: int) -> list[str]:
    """The ids that begin so."""
    beginning = whole(beginning)
    rows = connection.execute(
        "SELECT id FROM entry WHERE substr(id, 1, ?) = ? ORDER BY number LIMIT ?",
        (len(beginning), beginning, limit),
    )
    return [row[0] for row in rows]


def heads_of(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, Head]:
    """The heads of these entries, by number."""
    wanted = list(numbers)
    marks = ",".join("?" * len(wanted))
    rows = connection.execute(f"{_NEWEST} WHERE e.number IN ({marks})", wanted)
    return {row[0]: head(row) for row in rows}


def head(row: Sequence[Any]) -> Head:
    """The head that a row holds; raises DamagedMemory when it can't be made out."""
    try:
        return _head(row)
    except ValueError as error:
        raise DamagedMemory(f"the memory's entry {row[0]} is damaged") from error


def _head(row: Sequence[Any]) -> Head:
    return Head(
        number=row[0], id=row[1], kind=row[2], run=row[3], phase=row[4], step=row[5],
        conversation=row[6], turn=row[7], ended=row[8], tokens=row[9], summary=row[10] or "",
        insights=json.loads(row[11] or "[]"), summary_tokens=row[12] or 0,
    )  # fmt: skip


def where(which: Filter) -> tuple[str, list[Any]]:
    """A filter as a condition on `entry e`, with its values."""
    conditions, values = ["1"], list[Any]()
    for column in ("run", "phase", "step", "conversation", "kind"):
        wanted = getattr(which, column)
        if wanted:
            conditions.append(f"e.{column} = ?")
            values.append(whole(wanted))
    for bound, comparison in ((which.since, ">="), (which.until, "<")):
        if bound is not None:
            conditions.append(f"e.ended {comparison} ?")
            values.append(stamp(bound))
    if which.file:
        path = whole(which.file).removeprefix("./")
        conditions.append(
            "e.number IN (SELECT entry FROM touched WHERE path = ? OR substr(path, -length(?)) = ?)"
        )
        values += [path, f"/{path}", f"/{path}"]
    return " AND ".join(conditions), values


def number_of(connection: sqlite3.Connection, entry_id: str) -> int | None:
    """The number of the entry with this id."""
    row = connection.execute("SELECT number FROM entry WHERE id = ?", (entry_id,)).fetchone()
    return row[0] if row else None


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


def unpacked(packed: int, data: bytes) -> str:
    """A stored text."""
    return (zlib.decompress(data) if packed else data).decode()


def stats(connection: sqlite3.Connection) -> MemoryStats:
    """Everything that is told of a memory."""
    cursor = connection.execute(_COUNTS)
    names = [column[0] for column in cursor.description]
    found = dict(zip(names, cursor.fetchone(), strict=True))
    pages = connection.execute("SELECT * FROM pragma_page_count(), pragma_page_size()").fetchone()
    return MemoryStats(**found, file_bytes=pages[0] * pages[1])
