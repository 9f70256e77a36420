"""The figures of a verdict, and the one line that screen, status, summary and evidence share."""

from collections import Counter
from collections.abc import Iterable, Sequence

from foundry.engine.findings import NAMED, findings, reviewed
from foundry.engine.requirements import last_look
from foundry.schema.journal import StepRecord
from foundry.schema.summary import Counts, RequirementEvidence

HOLLOW = {
    "noticed": "hollow run noticed",
    "unnoticed": "hollow run NOT noticed",
    "nothing": "no code to hollow",
}


def counts(records: Sequence[StepRecord], requirements: Iterable[RequirementEvidence]) -> Counts:
    """What a run came to so far."""
    states = Counter(each.state for each in requirements)
    look = last_look(records)
    found = look.examination if look else None
    review = reviewed(records)
    return Counts(
        requirements=states.total(),
        proven=states["proven"],
        tested=states["tested"],
        claimed=states["claimed"],
        missing=states["missing"],
        checks=len(look.checks) if look else 0,
        **(found.model_dump(include={"tests", "hollow", "noticed"}) if found else {}),
        reviewed=bool(review.asked),
        findings=len(findings(records)),
        open=len(open_findings(records)),
        unreproduced=review.unreproduced,
    )


def told(counts: Counts) -> str:
    """`12 of 14 requirements proven, 2 tested; 38 tests ran, 0 skipped, 0 removed; …`."""
    return "; ".join(filter(None, (_met(counts), _ran(counts), _hollow(counts), _read(counts))))


def open_findings(records: Sequence[StepRecord]) -> tuple[str, ...]:
    """The reproduced findings whose command did not pass when it last ran, by their names."""
    names = [check.name for check in findings(records)]
    fails = {c.name: not c.holds for r in records for c in r.checks if c.kind == "finding"}
    return tuple(name.removeprefix(NAMED) for name in names if fails.get(name, True))


def _met(counts: Counts) -> str:
    if not counts.requirements:
        return ""
    plural = "" if counts.requirements == 1 else "s"
    head = f"{counts.proven} of {counts.requirements} requirement{plural} proven"
    rest = ((counts.tested, "tested"), (counts.claimed, "claimed"), (counts.missing, "missing"))
    return ", ".join((head, *(f"{number} {word}" for number, word in rest if number)))


def _ran(counts: Counts) -> str:
    tests = counts.tests
    if not tests.known:
        return ""
    return f"{tests.ran} tests ran, {tests.skipped} skipped, {tests.removed} removed"


def _hollow(counts: Counts) -> str:
    share = f" ({counts.noticed:.0%} of deleted statements)" if counts.noticed is not None else ""
    return HOLLOW[counts.hollow] + share if counts.hollow in HOLLOW else ""


def _read(counts: Counts) -> str:
    if not counts.reviewed:
        return ""
    lost = f", {counts.unreproduced} not reproduced" if counts.unreproduced else ""
    return f"reviewer: {counts.open} open{lost}"
