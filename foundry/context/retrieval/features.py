"""Every signal of every file for one query, side by side, by the names that weights.json has."""

import math
from collections.abc import Callable, Mapping, Sequence

from foundry.context.retrieval import history_features as history_signals
from foundry.context.retrieval import index_features as index_signals
from foundry.context.retrieval.files import Kind, suffix
from foundry.context.retrieval.index import Index, Scores, bm25, rarity
from foundry.context.retrieval.passages import Passages
from foundry.context.retrieval.query import Query

READ = 30
READ_ASIDE = 5
"""So many source files and others are opened for their passages. On 1,284 commits of 32
repositories P@1 was 64.9% with 15 source files, 65.1% with 30, 65.4% with twice that; R@10 was
88.1, 88.6 and 88.5%."""
DEFINING = 80
"""So many files have their definitions looked at one by one."""
EVIDENCE = ("content", "path", "told", "exact_path")
"""What the text itself says; files that merely changed lately or lie near are no answer. Of 8,253
files that 4,828 commits changed it loses 51, which is 0.2 points of hit@5 and of R@10."""
FOREMOST, LEADING = 5, 40
"""So many files are asked what changes along with them, and what they import or are imported by."""
Read = Callable[[str], str]
"""The text of a file by its path; empty when it can't be read."""


def collect(index: Index, query: Query, read: Read) -> tuple[list[int], dict[str, Scores]]:
    """The files that there is evidence for in a rough order; each signal's values by file.

    Missing values are zero.
    """
    found = _from_index(index, query) | _from_history(index, query)
    rough = _rough(found)
    order = sorted(rough, key=lambda number: (-rough[number], number))
    found |= _from_neighbours(index, rough, order)
    source = [number for number in order if index.kinds[number] == Kind.SOURCE]
    others = [number for number in order if index.kinds[number] != Kind.SOURCE]
    weights, subject = _weights(index, query)
    opened = source[:READ] + others[:READ_ASIDE]
    found |= _from_passages(query, {n: read(index.paths[n]) for n in opened}, weights, subject)
    found["best_definition"] = index_signals.best_definition(index, weights, order[:DEFINING])
    found["best_definition_subject"] = index_signals.best_definition(
        index, subject, order[:DEFINING]
    )
    found["rough"] = rough
    return [n for n in order if any(found[name].get(n) for name in EVIDENCE)], found


def _from_index(index: Index, query: Query) -> dict[str, Scores]:
    total = len(index.paths)
    content = bm25(index.content, query.terms, index.lengths, k=1.2, b=0.3)
    defined_lengths = [50] * total
    path, name = index_signals.in_path(index, query.terms)
    path_subject, name_subject = index_signals.in_path(index, query.subject)
    exact, bare = index_signals.named(index, query)
    return {
        "content": content,
        "content_flat": bm25(index.content, query.terms, index.lengths, k=1.2, b=0.75),
        "subject": bm25(index.content, query.subject, index.lengths, k=1.2, b=0.3),
        "coverage": index_signals.coverage(index, query.terms),
        "coverage_subject": index_signals.coverage(index, query.subject),
        "path": path,
        "name": name,
        "path_subject": path_subject,
        "name_subject": name_subject,
        "exact_path": exact,
        "bare_name": bare,
        "defined": bm25(index.defined, query.terms, defined_lengths, k=1.2, b=0.0),
        "defined_subject": bm25(index.defined, query.subject, defined_lengths, k=1.2, b=0.0),
        "names": index_signals.exact_names(index.content, query.names, total),
        "defines_names": index_signals.exact_names(index.defined, query.names, total),
        "compound": index_signals.exact_names(index.content, query.compounds, total),
        "defines_compound": index_signals.exact_names(index.defined, query.compounds, total),
        "names_path": index_signals.exact_names(index.named, query.names | query.compounds, total),
        "scope_folder": index_signals.in_folder(index, query.scope),
        "tested": index_signals.tested_by(index, content),
    }


def _from_history(index: Index, query: Query) -> dict[str, Scores]:
    similar = history_signals.similar_commits(index, query.terms)
    voted, best = history_signals.votes(index, similar)
    subject_votes, _ = history_signals.votes(
        index, history_signals.similar_commits(index, query.subject)
    )
    recent, _ = history_signals.votes(index, similar, 150)
    fresh8 = history_signals.decayed(index, 8)
    return {
        "votes_recent": recent,
        "fresh2": history_signals.decayed(index, 2),
        "fresh20": history_signals.decayed(index, 20),
        "folder_fresh": history_signals.folder_news(index, fresh8),
        "votes": voted,
        "best_vote": best,
        "votes_subject": subject_votes,
        "told": history_signals.told(index, query.terms),
        "told_subject": history_signals.told(index, query.subject),
        "scope": history_signals.in_scope(index, query),
        "fresh8": fresh8,
        "fresh60": history_signals.decayed(index, 60),
        "often": history_signals.decayed(index, 1000),
        "age": history_signals.age(index),
    }


def _rough(found: dict[str, Scores]) -> Scores:
    """A first ranking, for what needs to know which files lead."""
    total: Scores = {}
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


def _from_neighbours(index: Index, rough: Scores, order: Sequence[int]) -> dict[str, Scores]:
    """What the leading files say of those that they have to do with."""
    leading = {number: rough[number] for number in order[:LEADING]}
    return {
        "together": history_signals.together(index, {n: rough[n] for n in order[:FOREMOST]}),
        "imports": index_signals.spread(leading, index.imported),
        "importers": index_signals.spread(leading, index.importers),
        "mates": index_signals.folder_mates(index, rough),
    }


def _weights(index: Index, query: Query) -> tuple[dict[str, float], dict[str, float]]:
    """What the terms of the text and of its first line weigh, rarity included."""
    rare = rarity(index.content, query.terms, len(index.paths))
    return (
        {term: query.terms[term] * worth for term, worth in rare.items()},
        {term: rare[term] * worth for term, worth in query.subject.items() if term in rare},
    )


def _from_passages(
    query: Query,
    texts: Mapping[int, str],
    weights: Mapping[str, float],
    subject: Mapping[str, float],
) -> dict[str, Scores]:
    passages = Passages(weights, subject, query.pairs, query.subject_pairs)
    scored = {number: passages.score(text) for number, text in texts.items()}
    return {
        "passage": {number: each.best for number, each in scored.items()},
        "passage2": {number: each.next_best for number, each in scored.items()},
        "meeting": {number: each.meeting for number, each in scored.items()},
        "passage_subject": {number: each.best_subject for number, each in scored.items()},
        "meeting_subject": {number: each.meeting_subject for number, each in scored.items()},
        "phrases": {number: each.phrases for number, each in scored.items()},
        "phrase": {number: each.phrase for number, each in scored.items()},
        "phrases_subject": {number: each.phrases_subject for number, each in scored.items()},
        "phrase_subject": {number: each.phrase_subject for number, each in scored.items()},
        "quoted": _quoted(query, texts),
    }


def _quoted(query: Query, texts: Mapping[int, str]) -> Scores:
    """Files that have what the text quotes, counting the more the fewer of them there are."""
    found: Scores = {}
    for quotation in sorted(query.quoted):
        having = [number for number, text in texts.items() if quotation in text]
        for number in having:
            found[number] = found.get(number, 0.0) + 1 / len(having) ** 0.7
    return found


def traits(index: Index, number: int) -> dict[str, float]:
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
