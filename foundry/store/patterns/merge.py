"""Merging patterns: every field is a union or an extreme.

So a merge is commutative, associative and idempotent, and neither the order nor the repetition
of builds matters.
"""

from collections.abc import Iterable
from datetime import date

from foundry.schema.learning import SEVERITIES, Kind, Pattern, PatternFile


def merge(a: PatternFile, b: PatternFile) -> PatternFile:
    """Both files in one. Raises ValueError when they are of different kinds."""
    if a.kind != b.kind:
        raise ValueError(f"cannot merge patterns of kind {b.kind!r} into {a.kind!r}")
    return collect(a.kind, (*a.patterns, *b.patterns), max(a.last_updated, b.last_updated))


def collect(kind: Kind, patterns: Iterable[Pattern], day: date) -> PatternFile:
    """The patterns of one kind as a file; those that share an id become one."""
    merged: dict[str, Pattern] = {}
    for pattern in patterns:
        if pattern.kind == kind:
            known = merged.get(pattern.id)
            merged[pattern.id] = _join(known, pattern) if known else pattern
    return PatternFile(kind=kind, last_updated=day, patterns=tuple(merged.values()))


def _join(a: Pattern, b: Pattern) -> Pattern:
    """Two sightings of one lesson; its words are taken whole from one of them."""
    words = max(a, b, key=_authority)
    return Pattern(
        id=a.id,
        kind=a.kind,
        title=words.title,
        description=words.description,
        advice=words.advice,
        source=words.source,
        phases=(*a.phases, *b.phases),
        severity=max(a.severity, b.severity, key=SEVERITIES.index),
        project_types=(*a.project_types, *b.project_types),
        tech_stack=(*a.tech_stack, *b.tech_stack) if a.tech_stack and b.tech_stack else (),
        keywords=(*a.keywords, *b.keywords),
        first_seen=min(a.first_seen, b.first_seen),
        last_seen=max(a.last_seen, b.last_seen),
        builds=(*a.builds, *b.builds),
    )


def _authority(pattern: Pattern) -> tuple[bool, int, str, str, str]:
    """A total order on wordings: shipped before local, then the fuller advice, then the letters."""
    return (
        pattern.source == "shipped",
        len(pattern.advice),
        pattern.advice,
        pattern.description,
        pattern.title,
    )
