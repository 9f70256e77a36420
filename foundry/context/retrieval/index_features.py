"""How much each file has to do with a query, signal by signal, from the index alone."""

import math
import posixpath
from collections.abc import Iterable, Mapping, Sequence

from foundry.context.retrieval.files import Kind
from foundry.context.retrieval.index import Index, Postings, Scores, postings, rarity
from foundry.context.retrieval.query import Query
from foundry.tokenize import parts, stem, terms


def coverage(index: Index, asked: Mapping[str, float]) -> Scores:
    """The share of the query's rarity that a file has, in content or path."""
    rare = rarity(index.content, asked, len(index.paths))
    whole = sum(rare.values()) or 1.0
    scores: Scores = {}
    for term, worth in rare.items():
        having = {n for n, _ in postings(index.content, term)}
        having.update(n for n, _ in postings(index.named, term))
        for number in having:
            scores[number] = scores.get(number, 0.0) + worth / whole
    return scores


def in_path(index: Index, asked: Mapping[str, float]) -> tuple[Scores, Scores]:
    """(the rarity of the query's terms in the path, the share that they are of its last name)."""
    rare = rarity(index.named, asked, len(index.paths))
    whole: Scores = {}
    for term, worth in rare.items():
        for number, _ in postings(index.named, term):
            whole[number] = whole.get(number, 0.0) + worth * min(2.0, asked[term])
    share: Scores = {}
    for number in whole:
        name = _stem_name(index.paths[number])
        words = [stem(part) for part in parts(name)]
        known = sum(rare.get(word, 0.0) for word in words)
        if known:
            share[number] = known * sum(word in rare for word in words) / len(words)
    return whole, share


def _stem_name(path: str) -> str:
    folder, _, name = path.rpartition("/")
    name = name.partition(".")[0]
    plain = name in ("index", "mod", "__init__", "main", "lib")
    return folder.rpartition("/")[2] if plain and folder else name


def named(index: Index, query: Query) -> tuple[Scores, Scores]:
    """(files whose path or file name the text writes out, files whose bare name it contains)."""
    exact: Scores = {}
    bare: Scores = {}
    words = set(query.terms)
    for number, path in enumerate(index.paths):
        low = path.lower()
        name = posixpath.basename(low)
        if low in query.paths:
            exact[number] = 2.0
        elif name in query.paths or any("/" in p and low.endswith("/" + p) for p in query.paths):
            exact[number] = 1.0
        inner = name.partition(".")[0]
        pieces = parts(inner)
        folded = "=" + "".join(pieces)
        if len(pieces) > 1 and folded in query.names:
            bare[number] = 2.0
        elif len(pieces) > 1 and all(stem(p) in words for p in pieces if len(p) > 1):
            bare[number] = 1.5
        elif pieces and len(pieces[0]) > 3 and stem(pieces[0]) in query.subject:
            bare[number] = 1.0
    return exact, bare


def exact_names(packed: Postings, names: Iterable[str], total: int) -> Scores:
    """Files that contain these identifiers."""
    scores: Scores = {}
    for term, worth in rarity(packed, sorted(names), total).items():
        for number, times in postings(packed, term):
            scores[number] = scores.get(number, 0.0) + worth * (1 + math.log(times))
    return scores


def spread(scores: Scores, links: Sequence[Sequence[int]]) -> Scores:
    """What the files that are linked to a file score, shared among all that each links to."""
    found: Scores = {}
    for number, score in scores.items():
        others = links[number]
        for other in others:
            found[other] = found.get(other, 0.0) + score / (3 + len(others))
    return found


def folder_mates(index: Index, scores: Scores) -> Scores:
    """The mean score of the three best other files of a file's folder."""
    folders = [path.rpartition("/")[0] for path in index.paths]
    by_folder: dict[str, list[float]] = {}
    for number, score in scores.items():
        by_folder.setdefault(folders[number], []).append(score)
    best = {folder: sorted(each, reverse=True)[:4] for folder, each in by_folder.items()}
    found: Scores = {}
    for number, folder in enumerate(folders):
        mates = list(best.get(folder, ()))
        if (own := scores.get(number, 0.0)) in mates:
            mates.remove(own)
        if mates:
            found[number] = sum(mates[:3]) / 3
    return found


def tested_by(index: Index, scores: Scores) -> Scores:
    """The best score of the tests of a file, told by import and by name."""
    tests = [n for n in scores if index.kinds[n] == Kind.TEST]
    by_name: dict[str, float] = {}
    found: Scores = {}
    for number in tests:
        score = scores[number]
        name = _bare(index.paths[number])
        by_name[name] = max(by_name.get(name, 0.0), score)
        for other in index.imported[number]:
            gain = score / (1 + 0.3 * len(index.imported[number]))
            found[other] = max(found.get(other, 0.0), gain)
    for number, path in enumerate(index.paths):
        if index.kinds[number] == Kind.SOURCE and (name := _bare(path)) in by_name:
            found[number] = max(found.get(number, 0.0), by_name[name])
    return found


def _bare(path: str) -> str:
    name = posixpath.basename(path).partition(".")[0].lower().lstrip("_")
    return name.removeprefix("test_").removesuffix("_test").removesuffix("_tests")


def best_definition(
    index: Index, weights: Mapping[str, float], candidates: Iterable[int]
) -> Scores:
    """The most that a query's terms make of one name that a file defines."""
    memo: dict[str, float] = {}
    found: Scores = {}
    for number in candidates:
        best = 0.0
        for name in index.names[number]:
            worth = memo.get(name)
            if worth is None:
                own = dict.fromkeys(terms(name))
                known = [weights[term] for term in own if term in weights]
                words = sum(1 for term in own if term[0] != "=") or 1
                worth = sum(known) * (len(known) / words) ** 0.5 if known else 0.0
                memo[name] = worth
            best = max(best, worth)
        if best:
            found[number] = best
    return found


def in_folder(index: Index, scope: str) -> Scores:
    """Files with the words of a scope in their folders, and more so in their own name."""
    words = {stem(part) for part in parts(scope)}
    if not words:
        return {}
    found: Scores = {}
    for number, path in enumerate(index.paths):
        folder, _, name = path.rpartition("/")
        share = len(words & {stem(p) for p in parts(folder)}) / len(words)
        own = {stem(p) for p in parts(name.partition(".")[0])}
        share += 0.7 * len(words & own) / len(words | own)
        if share:
            found[number] = share
    return found
