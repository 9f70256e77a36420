"""From a build's feedback to patterns."""

from datetime import UTC, date

from foundry.schema.learning import (
    FILES,
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
from foundry.store.patterns.merge import collect

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
