"""The features of every file for one query: the signals, put side by side."""

import math
from collections.abc import Callable

from foundry.conversation.retrieval import past, signals
from foundry.conversation.retrieval.index import Index
from foundry.conversation.retrieval.kinds import Kind, suffix
from foundry.conversation.retrieval.passages import Passages
from foundry.conversation.retrieval.query import Query

READ = 30
READ_ASIDE = 5
"""So many source files and others are opened for their passages; more changed no figure."""
DEFINING = 80
"""So many files have their definitions looked at one by one."""
Read = Callable[[str], str]
"""The text of a file by its path; empty when it can't be read."""


def collect(index: Index, query: Query, read: Read) -> tuple[list[int], dict[str, signals.Scores]]:
    """The candidates, and for each feature its value by candidate; missing ones are zero."""
    found = _from_index(index, query)
    found |= _from_history(index, query)
    leading = _rough(found)
    order = sorted(leading, key=lambda n: (-leading[n], n))
    leaders = {n: leading[n] for n in order[:5]}
    found["together"] = past.together(index, leaders)
    found["imports"] = signals.spread(index, {n: leading[n] for n in order[:40]}, index.imported)
    found["importers"] = signals.spread(index, {n: leading[n] for n in order[:40]}, index.importers)
    found["mates"] = signals.folder_mates(index, leading)
    source = [number for number in order if index.kinds[number] == Kind.SOURCE]
    others = [number for number in order if index.kinds[number] != Kind.SOURCE]
    found |= _from_passages(index, query, read, source[:READ] + others[:READ_ASIDE])
    found |= _from_definitions(index, query, order[:DEFINING])
    found["rough"] = leading
    return order, found


def _from_index(index: Index, query: Query) -> dict[str, signals.Scores]:
    total = len(index.paths)
    content = signals.bm25(index.content, query.terms, index.lengths, k=1.2, b=0.3)
    defined_lengths = [50] * total
    path, name = signals.in_path(index, query.terms)
    path_subject, name_subject = signals.in_path(index, query.subject)
    exact, bare = signals.named(index, query)
    return {
        "content": content,
        "content_flat": signals.bm25(index.content, query.terms, index.lengths, k=1.2, b=0.75),
        "subject": signals.bm25(index.content, query.subject, index.lengths, k=1.2, b=0.3),
        "coverage": signals.coverage(index, query.terms),
        "coverage_subject": signals.coverage(index, query.subject),
        "path": path,
        "name": name,
        "path_subject": path_subject,
        "name_subject": name_subject,
        "exact_path": exact,
        "bare_name": bare,
        "defined": signals.bm25(index.defined, query.terms, defined_lengths, k=1.2, b=0.0),
        "defined_subject": signals.bm25(
            index.defined, query.subject, defined_lengths, k=1.2, b=0.0
        ),
        "names": signals.exact_names(index.content, query.names, total),
        "defines_names": signals.exact_names(index.defined, query.names, total),
        "compound": signals.exact_names(index.content, query.compounds, total),
        "defines_compound": signals.exact_names(index.defined, query.compounds, total),
        "names_path": signals.exact_names(index.named, query.names | query.compounds, total),
        "scope_folder": signals.in_folder(index, query.scope),
        "tested": signals.tested_by(index, content),
    }


def _from_history(index: Index, query: Query) -> dict[str, signals.Scores]:
    similar = past.similar_commits(index, query.terms)
    voted, best = past.votes(index, similar)
    subject_votes, _ = past.votes(index, past.similar_commits(index, query.subject))
    recent, _ = past.votes(index, similar, 150)
    fresh8 = past.decayed(index, 8)
    return {
        "votes_recent": recent,
        "fresh2": past.decayed(index, 2),
        "fresh20": past.decayed(index, 20),
        "folder_fresh": past.folder_news(index, fresh8),
        "votes": voted,
        "best_vote": best,
        "votes_subject": subject_votes,
        "told": past.told(index, query.terms),
        "told_subject": past.told(index, query.subject),
        "scope": past.in_scope(index, query),
        "fresh8": fresh8,
        "fresh60": past.decayed(index, 60),
        "often": past.decayed(index, 1000),
        "age": past.age(index),
    }


def _rough(found: dict[str, signals.Scores]) -> signals.Scores:
    """A first ranking, for what needs to know which files lead."""
    total: signals.Scores = {}
    for name, weight in (
        ("content", 1.0), ("subject", 0.7), ("path", 0.5), ("name_subject", 0.5),
        ("defined", 0.5), ("votes", 0.8), ("told", 0.8), ("exact_path", 2.0), ("bare_name", 0.3),
        ("defines_names", 0.7), ("scope", 0.4), ("fresh60", 0.25),
    ):  # fmt: skip
        top = max(found[name].values(), default=0.0)
        if top > 0:
            for number, score in found[name].items():
                total[number] = total.get(number, 0.0) + weight * score / top
    return total


def _weights(index: Index, query: Query) -> tuple[dict[str, float], dict[str, float]]:
    """What the terms of the text and of its first line weigh, rarity included."""
    rare = signals.rarity(index.content, query.terms, len(index.paths))
    return (
        {term: query.terms[term] * worth for term, worth in rare.items()},
        {term: rare[term] * worth for term, worth in query.subject.items() if term in rare},
    )


def _from_definitions(index: Index, query: Query, order: list[int]) -> dict[str, signals.Scores]:
    weights, subject = _weights(index, query)
    return {
        "best_definition": signals.best_definition(index, weights, order),
        "best_definition_subject": signals.best_definition(index, subject, order),
    }


def _from_passages(
    index: Index, query: Query, read: Read, order: list[int]
) -> dict[str, signals.Scores]:
    weights, subject = _weights(index, query)
    passages = Passages(weights, subject)
    scored = {}
    holders: dict[str, list[int]] = {}
    for number in order:
        text = read(index.paths[number])
        scored[number] = passages.score(text)
        for each in sorted(query.quoted):
            if each in text:
                holders.setdefault(each, []).append(number)
    quoted: signals.Scores = {}
    for having in holders.values():
        for number in having:
            quoted[number] = quoted.get(number, 0.0) + 1 / len(having) ** 0.7
    return {
        "passage": {number: each.best for number, each in scored.items()},
        "passage2": {number: each.next_best for number, each in scored.items()},
        "meeting": {number: each.meeting for number, each in scored.items()},
        "passage_subject": {number: each.best_subject for number, each in scored.items()},
        "meeting_subject": {number: each.meeting_subject for number, each in scored.items()},
        "quoted": quoted,
    }


def of_file(index: Index, number: int) -> dict[str, float]:
    """What a file is like, whatever the query."""
    path = index.paths[number]
    name = path.rpartition("/")[2].partition(".")[0].lower()
    return {
        "length": math.log1p(index.lengths[number]),
        "depth": float(path.count("/")),
        "fan_in": math.log1p(len(index.importers[number])),
        "fan_out": math.log1p(len(index.imported[number])),
        "entry": float(name in ("main", "__main__", "cli", "app", "server")),
        "index": float(name in ("index", "mod", "__init__", "lib")),
        "types": float(name in ("types", "type", "constants", "errors", "version", "interfaces")),
        "script": float(suffix(path) in ("sh", "bash", "zsh", "sql", "proto", "ps1")),
    }
