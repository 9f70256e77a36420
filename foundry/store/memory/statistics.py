"""What a memory holds, counted."""

import sqlite3

from foundry.schema.memory import MemoryStats

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


def stats(connection: sqlite3.Connection) -> MemoryStats:
    """Everything that is told of a memory."""
    cursor = connection.execute(_COUNTS)
    names = [column[0] for column in cursor.description]
    found = dict(zip(names, cursor.fetchone(), strict=True))
    pages = connection.execute("SELECT * FROM pragma_page_count(), pragma_page_size()").fetchone()
    return MemoryStats(**found, file_bytes=pages[0] * pages[1])
