"""Entries out of the memory for good: the only way in which an original is ever deleted."""

import sqlite3

from foundry.schema.memory import Filter
from foundry.store.memory import index, rows


def purge(connection: sqlite3.Connection, which: Filter) -> int:
    """Remove what a filter means, and every text that nothing else holds; how many entries."""
    condition, values = rows.where(which)
    numbers = connection.execute(
        f"SELECT e.number, e.id FROM entry e WHERE {condition}", values
    ).fetchall()
    _let_go(connection, True)
    for number, entry_id in numbers:
        entry = rows.find_entry(connection, entry_id)
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


def _let_go(connection: sqlite3.Connection, now: bool) -> None:
    connection.execute("UPDATE total SET value = ? WHERE name = 'purging'", (now,))
