"""The figures of a verdict, and the one line that screen, status, summary and evidence share."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

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
    findings = {c.name for r in records for c in r.checks if c.kind == "finding" and _counts(r)}
    return Counts(
        requirements=states.total(),
        proven=states["proven"],
        tested=states["tested"],
        claimed=states["claimed"],
        missing=states["missing"],
        checks=len(look.checks) if look else 0,
        **(found.model_dump(include={"tests", "hollow", "noticed"}) if found else {}),
        reviewed=bool(review),
        findings=len(findings),
        open=len(open_findings(records)),
        unreproduced=int(review.get("unreproduced", 0)),
    )


def told(counts: Counts) -> str:
    """`12 of 14 requirements proven, 2 tested; 38 tests ran, 0 skipped, 0 removed; …`."""
    return "; ".join(filter(None, (_met(counts), _ran(counts), _hollow(counts), _read(counts))))


def reviewed(records: Sequence[StepRecord]) -> Mapping[str, Any]:
    """What the reviewer's steps said last; empty where none looked."""
    said: dict[str, Any] = {}
    for record in records:
        now = record.patch.get("review")
        if isinstance(now, dict):
            already = int(said.get("unreproduced", 0))
            said |= now
            said["unreproduced"] = already + int(now.get("unreproduced", 0))
    return said


def open_findings(records: Sequence[StepRecord]) -> tuple[str, ...]:
    """The reproduced findings whose command does not pass, by their titles."""
    still: dict[str, bool] = {}
    for record in records:
        for check in record.checks:
            if check.kind == "finding" and _counts(record):
                still[check.name] = not check.holds
    return tuple(name for name, fails in still.items() if fails)


def _counts(record: StepRecord) -> bool:
    """Whether its findings were reproduced: not those that a reviewer only put forward."""
    said = record.patch.get("review")
    return not (isinstance(said, dict) and said.get("candidates"))


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
