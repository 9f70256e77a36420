"""How much each file has to do with a query, feature by feature, by the names in weights.json.

Twenty-three are left of fifty-one: the others went one by one, those first without which a fit
loses the least (cross-validated by repository, see scripts/fit-retrieval).
"""

import math
import posixpath
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise

from foundry.context.retrieval.files import Kind, suffix
from foundry.context.retrieval.index import Index, Postings, Scores, bm25, postings, rarity
from foundry.context.retrieval.query import Query
from foundry.tokenize import IDENTIFIER, parts, stem, terms

READ = 30
READ_OTHERS = 5
"""So many source files and others are opened for what follows one another in them, or is quoted."""
DEFINING = 80
"""So many files have their definitions looked at one by one."""
FOREMOST = 5
"""So many files are asked what changes along with them."""
HALF = 80
"""Identifiers in half a passage; passages overlap by half."""
EVIDENCE = ("content", "path", "mentioned", "written_path")
"""What the text itself says; files that merely changed lately or lie near are no answer."""
ROUGH = {"content": 1.0, "subject": 0.7, "path": 0.5, "name": 0.5, "written_path": 2.0,
         "defined": 0.5, "defines": 0.7, "scope": 0.4, "votes": 0.4, "votes_subject": 0.4,
         "mentioned": 0.8, "changed60": 0.25}  # fmt: skip
"""What a first ranking is made of, for what needs to know which files lead."""
Read = Callable[[str], str]
"""The text of a file by its path; empty when it can't be read."""
Pair = tuple[str, str]
Hits = list[tuple[int, list[str]]]
"""The positions of the identifiers that have terms of the query, with these terms."""


def collect(index: Index, query: Query, read: Read) -> tuple[list[int], dict[str, Scores]]:
    """The files that there is evidence for in a rough order; each feature's values by file.

    Missing values are zero.
    """
    total = len(index.paths)
    found = {
        "content": bm25(index.content, query.terms, index.lengths, k=1.2, b=0.75),
        "subject": bm25(index.content, query.subject, index.lengths, k=1.2, b=0.3),
        "coverage": coverage(index, query),
        "path": in_path(index, query),
        "name": in_name(index, query),
        "written_path": written_path(index, query),
        "identifiers": identifiers(index.content, query.names, total),
        "defined": bm25(index.defined, query.terms, [1] * total, k=1.2, b=0.0),
        "defines": identifiers(index.defined, query.names, total),
        "scope": in_scope(index, query.scope),
        "votes": votes(index, query.terms, half_life=150),
        "votes_subject": votes(index, query.subject),
        "mentioned": mentioned(index, query),
        **{f"changed{half_life}": decayed(index, half_life) for half_life in (2, 20, 60, 1000)},
    }
    found["rough"] = rough = _rough(found)
    order = sorted(rough, key=lambda number: (-rough[number], number))
    source = [number for number in order if index.kinds[number] == Kind.SOURCE]
    others = [number for number in order if index.kinds[number] != Kind.SOURCE]
    texts = {n: read(index.paths[n]) for n in source[:READ] + others[:READ_OTHERS]}
    rare = rarity(index.content, query.terms, total)
    found["together"] = together(index, {number: rough[number] for number in order[:FOREMOST]})
    subject = {term: rare[term] * worth for term, worth in query.subject.items() if term in rare}
    found["definition"] = best_definition(index, subject, order[:DEFINING])
    weights = {term: query.terms[term] * worth for term, worth in rare.items()}
    found["passage"], found["phrases"] = in_texts(texts, weights, query.pairs)
    found["quoted"] = quoted(texts, query)
    return [n for n in order if any(found[name].get(n) for name in EVIDENCE)], found


def traits(index: Index, number: int) -> dict[str, float]:
    """What a file is like, whatever the query."""
    path = index.paths[number]
    return {
        "depth": float(path.count("/")),
        "script": float(suffix(path) in ("sh", "bash", "zsh", "sql", "proto", "ps1")),
    }


def _rough(found: Mapping[str, Scores]) -> Scores:
    total: Scores = {}
    for name, weight in ROUGH.items():
        top = max(found[name].values(), default=0.0)
        if top > 0:
            for number, score in found[name].items():
                total[number] = total.get(number, 0.0) + weight * score / top
    return total


def coverage(index: Index, query: Query) -> Scores:
    """The share of the query's rarity that a file has, in content or path."""
    rare = rarity(index.content, query.terms, len(index.paths))
    whole = sum(rare.values()) or 1.0
    scores: Scores = {}
    for term, worth in rare.items():
        having = {n for n, _ in postings(index.content, term)}
        having.update(n for n, _ in postings(index.named, term))
        for number in having:
            scores[number] = scores.get(number, 0.0) + worth / whole
    return scores


def in_path(index: Index, query: Query) -> Scores:
    """The rarity of the query's terms in the path."""
    found: Scores = {}
    for term, worth in rarity(index.named, query.terms, len(index.paths)).items():
        for number, _ in postings(index.named, term):
            found[number] = found.get(number, 0.0) + worth * min(2.0, query.terms[term])
    return found


def in_name(index: Index, query: Query) -> Scores:
    """The rarity of the first line's terms in a file's name, times their share of its words."""
    rare = rarity(index.named, query.subject, len(index.paths))
    found: Scores = {}
    for number in {n for term in rare for n, _ in postings(index.named, term)}:
        folder, _, name = index.paths[number].rpartition("/")
        name = name.partition(".")[0]
        if folder and name in ("index", "mod", "__init__", "main", "lib"):
            name = folder.rpartition("/")[2]
        words = [stem(part) for part in parts(name)]
        known = [rare[word] for word in words if word in rare]
        if known:
            found[number] = sum(known) * len(known) / len(words)
    return found


def written_path(index: Index, query: Query) -> Scores:
    """Files whose path or file name the text writes out."""
    found: Scores = {}
    for number, path in enumerate(index.paths):
        low = path.lower()
        if low in query.paths:
            found[number] = 2.0
        elif posixpath.basename(low) in query.paths or any(
            "/" in each and low.endswith("/" + each) for each in query.paths
        ):
            found[number] = 1.0
    return found


def identifiers(packed: Postings, names: Iterable[str], total: int) -> Scores:
    """Files that contain these identifiers."""
    scores: Scores = {}
    for term, worth in rarity(packed, sorted(names), total).items():
        for number, times in postings(packed, term):
            scores[number] = scores.get(number, 0.0) + worth * (1 + math.log(times))
    return scores


def in_scope(index: Index, scope: str) -> Scores:
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


def votes(index: Index, asked: Mapping[str, float], half_life: float = math.inf) -> Scores:
    """What the earlier commits with messages like the query say of the files that they changed.

    The most alike count by far the most; each counts half as much for every `half_life` since.
    """
    found: Scores = {}
    scores = bm25(index.messages, asked, index.message_lengths, k=1.2, b=0.4)
    top = max(scores.values(), default=1.0)
    for commit, score in scores.items():
        files = index.changed[commit]
        share = (score / top) ** 2 * score / math.sqrt(len(files)) * 0.5 ** (commit / half_life)
        for number in files:
            found[number] = found.get(number, 0.0) + share
    return found


def mentioned(index: Index, query: Query) -> Scores:
    """BM25 over all that was ever said of a file: the messages of the commits that changed it."""
    rare = rarity(index.messages, query.terms, len(index.changed))
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
            scores[number] = scores.get(number, 0.0) + query.terms[term] * worth * times_heard / (
                times_heard + base
            )
    return scores


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


def together(index: Index, leaders: Scores) -> Scores:
    """How often a file changed along with the files that lead so far."""
    count = dict.fromkeys(leaders, 0.0)
    beside: dict[int, Scores] = {number: {} for number in leaders}
    for files in index.changed:
        if len(files) > 15:
            continue
        for number in files:
            if number in beside:
                count[number] += 1
                mine = beside[number]
                for other in files:
                    if other != number:
                        mine[other] = mine.get(other, 0.0) + 1 / (len(files) - 1) ** 0.5
    found: Scores = {}
    for number, others in beside.items():
        for other, times in others.items():
            gain = leaders[number] * times / (count[number] + 2)
            found[other] = found.get(other, 0.0) + gain
    return found


def in_texts(
    texts: Mapping[int, str], weights: Mapping[str, float], pairs: Iterable[Pair]
) -> tuple[Scores, Scores]:
    """(the best passage of each file, what those of these pairs weigh that follow one another)."""
    known = {(a, b): weights[a] + weights[b] for a, b in pairs if a in weights and b in weights}
    asked: dict[str, list[str]] = {}  # which of the query's terms an identifier has
    best: Scores = {}
    phrases: Scores = {}
    for number, text in texts.items():
        hits = []
        for position, name in enumerate(IDENTIFIER.findall(text)):
            if (own := asked.get(name)) is None:
                own = asked[name] = [term for term in terms(name) if term in weights]
            if own:
                hits.append((position, own))
        if hits:
            best[number] = _best_passage(hits, weights)
            phrases[number] = _phrases(hits, known)
    return best, phrases


def _best_passage(hits: Hits, weights: Mapping[str, float]) -> float:
    """The most that the terms of one passage weigh, a term that is repeated a little more."""
    bags: dict[int, dict[str, int]] = {}
    for position, own in hits:
        slot = position // HALF
        for bag in (bags.setdefault(slot - 1, {}), bags.setdefault(slot, {})):
            for term in own:
                bag[term] = bag.get(term, 0) + 1
    return max(sum(weights[t] * n / (n + 0.6) for t, n in bag.items()) for bag in bags.values())


def _phrases(hits: Hits, known: Mapping[Pair, float]) -> float:
    """The weight of the pairs whose terms follow one another, in a name or from one to the next."""
    times: dict[Pair, int] = {}
    last_position, last = -9, ""
    for position, own in hits:
        words = [term for term in own if term[0] != "="]
        for pair in pairwise([last, *words] if position == last_position + 1 else words):
            if pair in known:
                times[pair] = times.get(pair, 0) + 1
        last_position, last = position, words[-1] if words else ""
    return sum(known[pair] * n / (n + 1) for pair, n in times.items())


def quoted(texts: Mapping[int, str], query: Query) -> Scores:
    """Files that have what the text quotes, counting the more the fewer of them there are."""
    found: Scores = {}
    for quotation in sorted(query.quoted):
        having = [number for number, text in texts.items() if quotation in text]
        for number in having:
            found[number] = found.get(number, 0.0) + 1 / len(having) ** 0.7
    return found
