"""The words of text and code as retrieval counts them; the memory has the same ones."""

from foundry.tokenize import (
    IDENTIFIER,
    LONGEST,
    STOP_WORDS,
    is_compound,
    parts,
    stem,
    terms,
)

__all__ = [
    "IDENTIFIER",
    "LONGEST",
    "STOP_WORDS",
    "count_terms",
    "is_compound",
    "parts",
    "stem",
    "terms",
]


def count_terms(text: str) -> dict[str, int]:
    """The terms of a text, by how often."""
    counts: dict[str, int] = {}
    for identifier in IDENTIFIER.findall(text):
        for term in terms(identifier):
            counts[term] = counts.get(term, 0) + 1
    return counts
