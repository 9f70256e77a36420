"""The regions of the best files that matter for a task, within a budget of tokens."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from foundry.context.retrieval.files import read
from foundry.context.retrieval.languages import pattern
from foundry.context.retrieval.query import parse
from foundry.context.retrieval.ranker import Found, find
from foundry.model.tokens import estimate
from foundry.tokenize import IDENTIFIER, terms

FILES = 8
"""So many of the best files are quoted."""
FEWEST = 3
LEAST_SHARE = 0.1
"""After the first few, a file less likely than this part of the best one is not quoted."""
BEFORE, AFTER, BODY = 2, 5, 12
"""Lines around a line that matches, and from the start of a definition."""
TINY = 30
"""A file of so few lines may be quoted whole."""
MOST_OF_FILE = 0.6
LONGEST_LINE = 400
"""Characters. A longer line is data; its region ends before it."""


class Region(NamedTuple):
    """Lines of a file, counted from 0, the last one excluded; `worth` orders what is quoted."""

    file: int
    begin: int
    end: int
    worth: float


def excerpts(root: Path, text: str, budget_tokens: int) -> str:
    """Regions of the files that matter for a text: Markdown, one heading for each file.

    Whole lines with their numbers, definitions first; at most `budget_tokens` as
    `model/tokens.py` estimates them. Empty when nothing matters or nothing fits.
    """
    files = find(root, text, FILES)
    least = LEAST_SHARE * files[0].score if files else 0.0
    files = files[:FEWEST] + tuple(each for each in files[FEWEST:] if each.score >= least)
    lines = [read(root, each.path).decode("utf-8", "replace").splitlines() for each in files]
    weights = _weights(text, lines)
    regions = [
        region
        for number, each in enumerate(files)
        for region in _regions(number, each, lines[number], weights)
    ]
    return _rendered(files, lines, _affordable(regions, files, lines, budget_tokens))


def _affordable(
    regions: Sequence[Region],
    files: Sequence[Found],
    lines: Sequence[Sequence[str]],
    budget: int,
) -> list[Region]:
    """The best regions that fit into the budget, and that leave something of a file unquoted."""
    chosen: list[Region] = []
    taken = [0] * len(files)
    left = budget
    for region in sorted(regions, key=lambda each: (-each.worth, each.file, each.begin)):
        length = region.end - region.begin
        if taken[region.file] + length > max(TINY, MOST_OF_FILE * len(lines[region.file])):
            continue
        # what it costs alone, rounded up: beside others it can only be cheaper
        cost = 1 + _tokens(_rendered(files, lines, [region]))
        if cost <= left:
            chosen.append(region)
            taken[region.file] += length
            left -= cost
    return chosen


def _tokens(text: str) -> int:
    return estimate([{"type": "text", "text": text}])


def _weights(text: str, files: Sequence[Sequence[str]]) -> dict[str, float]:
    """How much each term of the text tells these files' lines apart."""
    asked = parse(text).terms
    counts = dict.fromkeys(asked, 0)
    total = 1
    for lines in files:
        for line in lines:
            total += 1
            for term in _found(line, asked):
                counts[term] += 1
    return {t: w * (1 - counts[t] / total) / (1 + counts[t]) ** 0.3 for t, w in asked.items()}


def _found(line: str, asked: Mapping[str, float]) -> set[str]:
    return {t for name in IDENTIFIER.findall(line) for t in terms(name) if t in asked}


def _regions(
    number: int, file: Found, lines: Sequence[str], weights: Mapping[str, float]
) -> Iterator[Region]:
    """Regions that match, best first and apart from each other."""
    form = pattern(file.path)
    candidates = []
    if lines and len(lines) <= TINY:
        candidates.append(Region(number, 0, len(lines), 1e-6))
    for position, line in enumerate(lines):
        found = _found(line, weights)
        if not found or len(line) > LONGEST_LINE:
            continue
        worth = sum(weights[term] for term in found)
        starts = bool(form and form.match(line))
        begin, end = (
            (position, position + BODY) if starts else (position - BEFORE, position + AFTER)
        )
        begin, end = _within(lines, position, max(0, begin), min(len(lines), end))
        near = {t for other in lines[begin:end] for t in _found(other, weights)}
        worth += 0.5 * sum(weights[term] for term in near - found)
        candidates.append(Region(number, begin, end, worth * (1.5 if starts else 1.0)))
    yield from _apart(candidates, file.score)


def _within(lines: Sequence[str], position: int, begin: int, end: int) -> tuple[int, int]:
    """Narrow a region around a line so that it holds no line that is data."""
    for other in range(begin, end):
        if len(lines[other]) > LONGEST_LINE:
            if other < position:
                begin = other + 1
            elif other > position:
                return begin, other
    return begin, end


def _apart(candidates: Sequence[Region], score: float) -> Iterator[Region]:
    """The candidates without those that an earlier, better one covers for the most part."""
    covered: set[int] = set()
    rank = 0
    for region in sorted(candidates, key=lambda each: (-each.worth, each.begin)):
        own = set(range(region.begin, region.end)) - covered
        if len(own) * 2 < region.end - region.begin:
            continue
        covered |= own
        yield region._replace(worth=region.worth * score / (1 + 0.3 * rank))
        rank += 1


def _rendered(
    files: Sequence[Found], lines: Sequence[Sequence[str]], regions: Sequence[Region]
) -> str:
    """Markdown: the files in their order, of each the chosen lines in theirs."""
    parts = []
    for number, each in enumerate(files):
        chosen = sorted({n for r in regions if r.file == number for n in range(r.begin, r.end)})
        if not chosen:
            continue
        parts.append(f"## {each.path}")
        last = -1
        for position in chosen:
            if position != last + 1:
                parts.append("    …")
            parts.append(f"{position + 1:5} {lines[number][position].rstrip()}")
            last = position
        parts.append("")
    return "\n".join(parts)
