"""The figures of a verdict, and the one line that screen, status, summary and evidence share."""

from collections import Counter
from collections.abc import Iterable, Sequence

from foundry.engine.findings import NAMED, findings, reviewed
from foundry.engine.requirements import last_look
from foundry.schema.journal import StepRecord
from foundry.schema.summary import Counts, RequirementEvidence

FOUND = {"tests", "hollow", "deleted", "noticed", "apart"}
"""What an examination and the counts have in common."""

FOUND = {"tests", "hollow", "deleted", "noticed", "apart"}
"""What an examination and the counts have in common."""

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
        **(found.model_dump(include=FOUND) if found else {}),
        reviewed=bool(review.asked),
        findings=len(findings(records)),
        open=len(open_findings(records)),
        unreproduced=review.unreproduced,
    )


def told(counts: Counts) -> str:
    """`12 of 14 requirements proven, 2 tested; 38 tests ran, 0 skipped, 0 removed; …`."""
    parts = (_met(counts), _ran(counts), _hollow(counts), _read(counts))
    reach = "" if counts.apart else "work tree within reach of the checks"
    return "; ".join(filter(None, (*parts, reach)))


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
    share = f", and {counts.noticed} of {counts.deleted} deleted statements"
    words = HOLLOW.get(counts.hollow, "")
    return words + share if words and counts.deleted else words


def _read(counts: Counts) -> str:
    if not counts.reviewed:
        return ""
    mended = counts.findings - counts.open
    found = ((counts.open, "open"), (mended, "mended"), (counts.unreproduced, "not reproduced"))
    said = ", ".join(f"{number} {word}" for number, word in found if number or word == "open")
    return f"reviewer: {said}"
