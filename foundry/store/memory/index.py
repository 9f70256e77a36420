"""The search index: what an entry is found by, and ranked search: BM25 and how lately it was.

What is in the index is made from the originals and can be made anew.

A question is compared with what entries say, and with what they did. Where there is code at hand,
three comparisons count alike, each giving its best entry one: the words with what entries say, the
code with what they say, and the code with what they did. The constants were chosen on the history
of 23 public repositories and measured on 22 others (scripts/benchmarks/memory_recall.py).

How often a term occurs in an entry is not counted: it made one percent of a difference there, and
positions cost more than half of the index. Common terms only add to entries that rarer ones found:
that keeps a search short however much there is.
"""

import math
import sqlite3
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from foundry.ranking import length_penalty, rarity
from foundry.schema.base import strings
from foundry.schema.memory import RECALL, Filter, Head, MemorySummary, Moment, Sought
from foundry.store.memory.database import empty_index
from foundry.store.memory.reading import every_entry, heads_of, where
from foundry.tokenize import IDENTIFIER, count_terms, terms

LONGEST = 16_000
"""Characters of a text that are searched; of a longer one the beginning and the end."""

TAIL = 4_000

K, B = 1.2, 0.5
"""Okapi's constants: how much length counts."""

MOST_TERMS = 60
"""Of a query's terms the rarest; more say nothing new and take time."""

POSTINGS = 12_000
"""Entries that the terms of one aspect may bring in; commoner terms add to those."""

FINALISTS = 400
"""Entries whose length is looked at."""

WITHIN = 20
"""So many entries later, having happened lately is worth half."""

LATELY_ASKED, LATELY_AT_HAND = 0.3, 1.5
"""What having happened just now is worth: for a question, and for what goes on from there."""

DONE = 0.5
"""What doing counts beside saying, for a question."""

Scores = dict[int, float]


class Aspect(NamedTuple):
    """Where to look for what, and what it counts."""

    table: str
    weights: Mapping[str, float]
    worth: float


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
        ("said", sorted(said(moment, summaries))),
        ("done", sorted(done(moment))),
    ]


def _count(connection: sqlite3.Connection, entries: int, lengths: list[int]) -> None:
    said, done = (entries * length for length in lengths)
    connection.executemany(
        "UPDATE total SET value = value + ? WHERE name = ?",
        [(entries, "entries"), (said, "said"), (done, "done")],
    )


def search(connection: sqlite3.Connection, sought: Sought, which: Filter, limit: int) -> list[Head]:
    """The entries that fit best, best first; none where nothing speaks for any."""
    allowed = _allowed(connection, which)
    comparisons = _comparisons(sought)
    scores: Scores = {}
    for aspects in comparisons:
        found: Scores = {}
        for aspect in aspects:
            _add(found, _bm25(connection, aspect, allowed), aspect.worth)
        _add(scores, found, 1 / max(found.values(), default=1.0))
    if not scores:
        return []
    lately = sought.recency
    if lately is None:
        lately = LATELY_AT_HAND if _at_hand(sought) else LATELY_ASKED
    newest = connection.execute("SELECT max(number) FROM entry").fetchone()[0]
    whole = len(comparisons) + lately
    for number in scores:
        scores[number] += lately / (1 + (newest - number) / WITHIN)
    ranked = sorted(scores.items(), key=lambda each: (-each[1], -each[0]))[:limit]
    heads = heads_of(connection, (number for number, _ in ranked))
    return [
        heads[number].model_copy(update={"score": round(score / whole, 4)})
        for number, score in ranked
        if number in heads
    ]


def _at_hand(sought: Sought) -> str:
    return "\n".join(filter(None, (searched(sought.code), *sought.paths)))


def _comparisons(sought: Sought) -> list[list[Aspect]]:
    asked = dict.fromkeys(count_terms(searched(sought.text)), 1.0)
    there = {t: 1 + math.log(times) for t, times in count_terms(_at_hand(sought)).items()}
    if not there:
        return [[Aspect("said", asked, 1.0), Aspect("done", asked, DONE)]] if asked else []
    by_code = [[Aspect("said", there, 1.0)], [Aspect("done", there, 1.0)]]
    return [[Aspect("said", asked, 1.0)], *by_code] if asked else by_code


def _add(scores: Scores, more: Scores, worth: float) -> None:
    for number, score in more.items():
        scores[number] = scores.get(number, 0.0) + worth * score


def _allowed(connection: sqlite3.Connection, which: Filter) -> frozenset[int] | None:
    if which == Filter():
        return None
    condition, values = where(which)
    rows = connection.execute(f"SELECT e.number FROM entry e WHERE {condition}", values)
    return frozenset(row[0] for row in rows)


def _bm25(connection: sqlite3.Connection, aspect: Aspect, allowed: frozenset[int] | None) -> Scores:
    if allowed is not None and not allowed:
        return {}
    totals = dict(connection.execute("SELECT name, value FROM total"))
    gains = _gains(connection, aspect, totals["entries"])
    scores = _collected(connection, aspect.table, gains, allowed)
    best = sorted(scores, key=lambda number: (-scores[number], -number))[:FINALISTS]
    mean = totals[aspect.table] / max(1, totals["entries"]) or 1.0
    column = aspect.table
    lengths = connection.execute(
        f"SELECT entry, {column} FROM extent WHERE entry IN ({','.join('?' * len(best))})", best
    )
    return {
        number: scores[number] * (K + 1) / (1 + length_penalty(length, mean, k=K, b=B))
        for number, length in lengths
    }


def _gains(
    connection: sqlite3.Connection, aspect: Aspect, entries: int
) -> list[tuple[str, int, float]]:
    """The terms that count most, with the entries that have them and what each is worth; the
    rarest first."""
    wanted = list(aspect.weights)
    rows: list[tuple[str, int]] = []
    for start in range(0, len(wanted), 500):
        some = wanted[start : start + 500]
        rows += connection.execute(
            f"SELECT term, doc FROM temp.{aspect.table}_terms "
            f"WHERE term IN ({','.join('?' * len(some))})", some,
        )  # fmt: skip
    gains = [
        (term, having,
         aspect.weights[term] * rarity(having, entries))
        for term, having in rows
    ]  # fmt: skip
    most = sorted(gains, key=lambda each: (-each[2], each[0]))[:MOST_TERMS]
    return sorted(most, key=lambda each: each[1])


def _collected(
    connection: sqlite3.Connection,
    table: str,
    gains: Iterable[tuple[str, int, float]],
    allowed: frozenset[int] | None,
) -> Scores:
    scores: Scores = {}
    generating: list[str] = []
    left = POSTINGS
    for term, having, gain in gains:
        if having <= left or not generating:
            expression, most = f'"{term}"', max(left, 1)
            generating.append(expression)
            left -= having
        else:
            expression, most = f'"{term}" AND ({" OR ".join(generating)})', -1
        rows = connection.execute(
            f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY rowid DESC LIMIT ?",
            (expression, most),
        )
        for (number,) in rows:
            if allowed is None or number in allowed:
                scores[number] = scores.get(number, 0.0) + gain
    return scores


def said(moment: Moment, summaries: Iterable[MemorySummary]) -> set[str]:
    """The terms of an entry's words, decisions and summaries.

    The task counts for the step alone: all of its turns have the same.
    """
    snapshot = moment.snapshot
    texts = [snapshot.said, *snapshot.decisions]
    texts += [snapshot.task] if moment.kind == "step" else []
    for summary in summaries:
        texts += [summary.text, *summary.insights]
    return distinct(texts)


def done(moment: Moment) -> set[str]:
    """The terms of an entry's files, calls, results and state.

    What it recalled is not its own: a search finds where that was first.
    """
    snapshot = moment.snapshot
    texts = [touched.path for touched in snapshot.files]
    for call in snapshot.calls:
        if call.tool != RECALL:
            texts += [*strings(call.arguments), call.result]
    return distinct([*texts, *strings(snapshot.state)])


def distinct(texts: Iterable[str]) -> set[str]:
    """The terms in texts, each once."""
    found: set[str] = set()
    for text in texts:
        for identifier in set(IDENTIFIER.findall(searched(text))):
            found.update(terms(identifier))
    return found


def searched(text: str) -> str:
    """What of a text is searched."""
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST - TAIL]}\n{text[-TAIL:]}"
