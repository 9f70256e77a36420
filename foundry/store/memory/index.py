"""Entries in the search tables. What is there is made from the originals and can be made anew."""

import sqlite3
from collections.abc import Iterable

from foundry.schema.memory import MemorySummary, Moment
from foundry.store.memory import terms
from foundry.store.memory.layout import empty_index
from foundry.store.memory.rows import every_entry


def add(
    connection: sqlite3.Connection, number: int, moment: Moment, summaries: Iterable[MemorySummary]
) -> None:
    """Make an entry findable."""
    lengths = []
    for table, found in _terms(moment, summaries):
        connection.execute(
            f"INSERT INTO {table} (rowid, words) VALUES (?, ?)", (number, " ".join(found))
        )
        lengths.append(len(found))
    connection.execute("INSERT INTO extent VALUES (?, ?, ?)", (number, *lengths))
    _count(connection, 1, lengths)


def remove(
    connection: sqlite3.Connection, number: int, moment: Moment, summaries: Iterable[MemorySummary]
) -> None:
    """Take out an entry that was added with the same content."""
    lengths = []
    for table, found in _terms(moment, summaries):
        connection.execute(
            f"INSERT INTO {table} ({table}, rowid, words) VALUES ('delete', ?, ?)",
            (number, " ".join(found)),
        )
        lengths.append(len(found))
    connection.execute("DELETE FROM extent WHERE entry = ?", (number,))
    _count(connection, -1, lengths)


def rebuild(connection: sqlite3.Connection) -> None:
    """Make the search tables anew, within a transaction that is open."""
    empty_index(connection)
    for number, entry in every_entry(connection):
        add(connection, number, entry, entry.summaries)


def _terms(moment: Moment, summaries: Iterable[MemorySummary]) -> list[tuple[str, list[str]]]:
    return [
        ("said", sorted(terms.said(moment, summaries))),
        ("done", sorted(terms.done(moment))),
    ]


def _count(connection: sqlite3.Connection, entries: int, lengths: list[int]) -> None:
    said, done = (entries * length for length in lengths)
    connection.executemany(
        "UPDATE total SET value = value + ? WHERE name = ?",
        [(entries, "entries"), (said, "said"), (done, "done")],
    )
