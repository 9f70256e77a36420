"""What the reviews of a run came to, from its journal. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from foundry.schema.journal import StepRecord
from foundry.schema.plan import Check
from foundry.schema.review import Finding, Review

CODE, DOCS = "review", "docs_review"
"""The variables of a run that hold a `Review`: of the project, and of its documentation."""

FINDING_SECONDS = 300
"""The longest that a finding's command may take."""

NAMED = "finding: "
"""How the check of a finding is named, so that it is never taken for one of the project's own."""


def review_in(context: Mapping[str, Any], variable: str) -> Review:
    """The review that a run's variables hold; an empty one where there is none."""
    return Review.model_validate(context.get(variable) or {})


def check_of(finding: Finding) -> Check:
    """The check that a finding becomes: it holds when the fault is mended."""
    name = NAMED + " ".join(finding.title.split())
    return Check(name=name, command=finding.command, timeout_seconds=FINDING_SECONDS)


def findings(records: Iterable[StepRecord]) -> tuple[Check, ...]:
    """The findings that were ever reproduced, as checks; of equal titles the newest."""
    found: dict[str, Check] = {}
    for record in records:
        for review in _said(record):
            reproduced = () if review.candidates else map(check_of, review.found)
            found |= {check.name: check for check in reproduced}
    return tuple(found.values())


def reviewed(records: Sequence[StepRecord]) -> Review:
    """What all reviews of a run came to, that of the documentation included."""
    variables = {name: value for each in records for name, value in each.patch.items()}
    reviews = [review_in(variables, name) for name in (CODE, DOCS)]
    return Review(
        candidates=any(each.candidates for each in reviews),
        asked=tuple(asked for each in reviews for asked in each.asked),
        remarks=tuple(remark for each in reviews for remark in each.remarks),
        rulings=tuple(ruling for each in reviews for ruling in each.rulings),
        found=tuple(finding for each in reviews for finding in each.found),
        open=sum(each.open for each in reviews),
        unreproduced=sum(each.unreproduced for each in reviews),
    )


def _said(record: StepRecord) -> tuple[Review, ...]:
    return tuple(review_in(record.patch, name) for name in (CODE, DOCS) if name in record.patch)
