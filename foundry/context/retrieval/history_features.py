"""How much each file has to do with a query, signal by signal, from the history in the index."""

import math

from foundry.context.retrieval.index import Index, Scores, bm25, postings, rarity
from foundry.context.retrieval.query import Query

SIMILAR = 60
"""So many of the earlier commits with the most similar messages have a say."""


def similar_commits(index: Index, weights: dict[str, float]) -> dict[int, float]:
    """The earlier commits whose messages are most like the query."""
    scores = bm25(index.messages, weights, index.message_lengths, k=1.2, b=0.4)
    best = sorted(scores.items(), key=lambda each: (-each[1], each[0]))[:SIMILAR]
    return dict(best)


def votes(index: Index, similar: dict[int, float], half_life: float = 1e9) -> tuple[Scores, Scores]:
    """(the sum, the best) of what the similar commits say of the files that they changed."""
    total: Scores = {}
    best: Scores = {}
    top = max(similar.values(), default=1.0)
    for commit, score in similar.items():
        files = index.changed[commit]
        share = (score / top) ** 2 * score / math.sqrt(len(files)) * 0.5 ** (commit / half_life)
        for number in files:
            total[number] = total.get(number, 0.0) + share
            best[number] = max(best.get(number, 0.0), score / len(files) ** 0.25)
    return total, best


def told(index: Index, weights: dict[str, float]) -> Scores:
    """BM25 over all that was ever said of a file: the messages of the commits that changed it."""
    rare = rarity(index.messages, weights, len(index.changed))
    lengths = [0.0] * len(index.paths)
    for files in index.changed:
        for number in files:
            lengths[number] += 1 / len(files)
    mean = sum(lengths) / max(1, sum(1 for each in lengths if each)) or 1.0
    scores: Scores = {}
    for term, worth in rare.items():
        heard: dict[int, float] = {}
        for commit, times in postings(index.messages, term):
            files = index.changed[commit]
            gain = min(times, 3) / len(files) ** 0.7
            for number in files:
                heard[number] = heard.get(number, 0.0) + gain
        for number, times_heard in heard.items():
            base = 0.8 * (0.4 + 0.6 * lengths[number] / mean)
            scores[number] = scores.get(number, 0.0) + weights[term] * worth * times_heard / (
                times_heard + base
            )
    return scores


def in_scope(index: Index, query: Query) -> Scores:
    """The share of the commits with the query's scope that changed a file."""
    if not query.scope:
        return {}
    heads = {query.scope, query.scope.rpartition("/")[2], query.scope.partition("/")[0]}
    found: Scores = {}
    total = 0.0
    for commit, scope in enumerate(index.scopes):
        if not scope:
            continue
        near = 1.0 if scope == query.scope else 0.4 if heads & set(scope.split("/")) else 0.0
        if near:
            near *= 0.5 + 0.5 * math.exp(-total / 30)
            total += near
            for number in index.changed[commit]:
                found[number] = found.get(number, 0.0) + near / math.sqrt(
                    len(index.changed[commit])
                )
    return {number: score / (total + 1) for number, score in found.items()}


def decayed(index: Index, half_life: float) -> Scores:
    """How often a file changed, a commit counting half as much for every `half_life` since."""
    found: Scores = {}
    for age, files in enumerate(index.changed):
        gain = 0.5 ** (age / half_life)
        if gain < 0.001:
            break
        for number in files:
            found[number] = found.get(number, 0.0) + gain / len(files) ** 0.5
    return found


def age(index: Index) -> Scores:
    """One for a file that the newest commit changed, less the longer ago."""
    found: Scores = {}
    for commit, files in enumerate(index.changed):
        for number in files:
            if number not in found:
                found[number] = 1 / (1 + math.log1p(commit))
    return found


def together(index: Index, leaders: Scores) -> Scores:
    """How often a file changed along with the files that lead so far."""
    count = dict.fromkeys(leaders, 0.0)
    pairs: dict[int, Scores] = {number: {} for number in leaders}
    for files in index.changed:
        if len(files) > 15:
            continue
        for number in files:
            if number in pairs:
                count[number] += 1
                mine = pairs[number]
                for other in files:
                    if other != number:
                        mine[other] = mine.get(other, 0.0) + 1 / (len(files) - 1) ** 0.5
    found: Scores = {}
    for number, others in pairs.items():
        for other, times in others.items():
            gain = leaders[number] * times / (count[number] + 2)
            found[other] = found.get(other, 0.0) + gain
    return found


def folder_news(index: Index, changes: Scores) -> Scores:
    """What the files of a folder changed lately, on all of them alike."""
    folders = [path.rpartition("/")[0] for path in index.paths]
    total: dict[str, float] = {}
    for number, score in changes.items():
        total[folders[number]] = total.get(folders[number], 0.0) + score
    return {n: total[folder] for n, folder in enumerate(folders) if folder in total}
