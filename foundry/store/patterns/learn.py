"""From a build's feedback to patterns, and the patterns of several builds into one.

In a merge every field is a union or an extreme. So it is commutative, associative and idempotent,
and neither the order nor the repetition of builds matters.
"""

from collections.abc import Iterable
from datetime import UTC, date

from foundry.schema.learning import (
    FILES,
    SEVERITIES,
    TEXT_LIMIT,
    TITLE_LIMIT,
    Feedback,
    Issue,
    Kind,
    Pattern,
    PatternFile,
    Phase,
    Recommendation,
    Success,
    pattern_id,
)
from foundry.schema.run import Status

_PHASES_OF: dict[Kind, tuple[Phase, ...]] = {
    "scout": ("scout",),
    "architecture": ("architect",),
    "test": ("builder", "test"),
}
_KIND_FOR: dict[Phase, Kind] = {"scout": "scout", "architect": "architecture", "test": "test"}


def learn(feedback: Feedback) -> dict[str, PatternFile]:
    """This build's patterns by file name: all four files, empty ones too.

    What "worked" counts only when the build was verified: otherwise it is a mere claim.
    """
    found = [_from_issue(feedback, issue) for issue in feedback.issues]
    if feedback.status is Status.VERIFIED:
        found += [_from_success(feedback, success) for success in feedback.worked]
    found += [_from_recommendation(feedback, each) for each in feedback.recommendations]
    return {name: collect(kind, found, _day(feedback)) for kind, name in FILES.items()}


def _from_issue(feedback: Feedback, issue: Issue) -> Pattern:
    return Pattern(
        id=pattern_id("common-issue", issue.title),
        kind="common-issue",
        title=issue.title,
        description=_joined(issue.description, "Cause: ", issue.root_cause),
        advice=_joined(issue.prevention, "When it shows: ", issue.solution),
        phases=(issue.should_detect_in_phase, issue.detected_in_phase),
        severity=issue.severity,
        tech_stack=issue.technologies,
        project_types=_types(feedback),
        first_seen=_day(feedback),
        last_seen=_day(feedback),
        builds=(feedback.run,),
    )


def _from_success(feedback: Feedback, success: Success) -> Pattern:
    return Pattern(
        id=pattern_id(success.kind, success.title),
        kind=success.kind,
        title=success.title,
        advice=success.description,
        phases=_PHASES_OF[success.kind],
        tech_stack=success.technologies,
        project_types=_types(feedback),
        first_seen=_day(feedback),
        last_seen=_day(feedback),
        builds=(feedback.run,),
    )


def _from_recommendation(feedback: Feedback, given: Recommendation) -> Pattern:
    kind = _KIND_FOR.get(given.for_phase, "common-issue")
    title = _first_sentence(given.recommendation)
    return Pattern(
        id=pattern_id(kind, title),
        kind=kind,
        title=title,
        advice=given.recommendation,
        phases=(given.for_phase,),
        severity=given.priority,
        project_types=_types(feedback),
        first_seen=_day(feedback),
        last_seen=_day(feedback),
        builds=(feedback.run,),
    )


def _first_sentence(text: str) -> str:
    sentence = " ".join(text.split()).split(". ")[0].rstrip(".")
    return sentence[:TITLE_LIMIT].strip() or text[:TITLE_LIMIT]


def _joined(text: str, label: str, more: str) -> str:
    """Both texts, the second one labelled, within what a pattern may hold."""
    both = "\n".join(part for part in (text, f"{label}{more}" if more else "") if part)
    return both if len(both) <= TEXT_LIMIT else f"{both[: TEXT_LIMIT - 1]}…"


def _types(feedback: Feedback) -> tuple[str, ...]:
    kind = feedback.project_type.strip()[:TITLE_LIMIT]
    return (kind,) if kind else ()


def _day(feedback: Feedback) -> date:
    return feedback.timestamp.astimezone(UTC).date()


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
    wording = max(a, b, key=_authority)
    return Pattern(
        id=a.id,
        kind=a.kind,
        title=wording.title,
        description=wording.description,
        advice=wording.advice,
        source=wording.source,
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
