"""The memory's tables, and how an older file becomes a newer one.

Originals are in `entry`, `part` and `content`: triggers forbid to change them, and to delete them
outside a purge. A text is in `content` once, by its SHA-256. `said` and `done` are what searches
look in: for each entry the terms of its words and of its calls, without their order.
"""

import sqlite3

ANALYSIS = 2
"""Of the terms in `said` and `done`: raise it when they are made differently, and they are made
anew."""

_INDEX = """
CREATE VIRTUAL TABLE said USING fts5(
  words, content='', detail=none, columnsize=0, tokenize="ascii tokenchars '='");
CREATE VIRTUAL TABLE done USING fts5(
  words, content='', detail=none, columnsize=0, tokenize="ascii tokenchars '='");
CREATE TABLE extent (
  entry INTEGER PRIMARY KEY, said INTEGER NOT NULL, done INTEGER NOT NULL);
INSERT INTO total VALUES ('entries', 0), ('said', 0), ('done', 0);
"""

_FIRST = """
CREATE TABLE total (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO total VALUES ('purging', 0), ('analysis', 0);

CREATE TABLE entry (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL, run TEXT NOT NULL, phase TEXT NOT NULL, step TEXT NOT NULL,
  conversation TEXT NOT NULL, turn INTEGER NOT NULL,
  began TEXT NOT NULL, ended TEXT NOT NULL, tokens INTEGER NOT NULL);
CREATE INDEX entry_of_run ON entry (run, step);
CREATE INDEX entry_of_conversation ON entry (conversation, turn);
CREATE INDEX entry_in_time ON entry (ended);

CREATE TABLE content (
  number INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE, size INTEGER NOT NULL, packed INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE part (
  entry INTEGER NOT NULL REFERENCES entry, place INTEGER NOT NULL,
  kind TEXT NOT NULL, name TEXT NOT NULL, failed INTEGER NOT NULL,
  content INTEGER NOT NULL REFERENCES content, PRIMARY KEY (entry, place)) WITHOUT ROWID;
CREATE INDEX part_with_content ON part (content);
CREATE TABLE touched (
  entry INTEGER NOT NULL REFERENCES entry, place INTEGER NOT NULL,
  path TEXT NOT NULL, deeds TEXT NOT NULL, PRIMARY KEY (entry, place)) WITHOUT ROWID;
CREATE INDEX touched_path ON touched (path);
CREATE TABLE summary (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE, entry INTEGER NOT NULL REFERENCES entry, at TEXT NOT NULL,
  source TEXT NOT NULL, tokens INTEGER NOT NULL, text TEXT NOT NULL, insights TEXT NOT NULL);
CREATE INDEX summary_of_entry ON summary (entry);
"""

_KEPT = ("entry", "content", "part", "touched", "summary")

_GUARD = """
CREATE TRIGGER {0}_stays BEFORE UPDATE ON {0}
BEGIN SELECT RAISE(ABORT, 'originals are never changed'); END;
CREATE TRIGGER {0}_is_kept BEFORE DELETE ON {0}
WHEN (SELECT value FROM total WHERE name = 'purging') = 0
BEGIN SELECT RAISE(ABORT, 'originals are only ever purged'); END;
"""

MIGRATIONS = (_FIRST + "".join(_GUARD.format(table) for table in _KEPT),)
"""From each version of the file to the next; a new file goes through all of them."""


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring a file of `version` to the newest, within a transaction that is open."""
    for script in MIGRATIONS[version:]:
        _run(connection, script)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def empty_index(connection: sqlite3.Connection) -> None:
    """Begin the search tables anew, within a transaction that is open."""
    for table in ("said", "done", "extent"):
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection.execute("DELETE FROM total WHERE name IN ('entries', 'said', 'done')")
    _run(connection, _INDEX)
    connection.execute("UPDATE total SET value = ? WHERE name = 'analysis'", (ANALYSIS,))


def _run(connection: sqlite3.Connection, script: str) -> None:
    """Statement by statement: `executescript` would end the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""
