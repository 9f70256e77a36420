"""From the journal to the iterations that it tells of. Pure: the same journal, the same history.

Every step of an iteration leaves its mark in the variable `circular`: the work what a thread came
to, the measure what the harness found after it, a doubt whether the claim withstood it.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta

from foundry.circular.schema import (
    Assignment,
    Issue,
    IterationState,
    IterationStatus,
    Mark,
    Measure,
    Report,
)
from foundry.circular.verdicts import ErrorType, error_line, error_of
from foundry.schema.journal import Attempt, Entry, Resume, Start, StepRecord

MARK = "circular"
"""The variable that holds the marks."""

ASSIGNMENT = "circular_assignment"
"""The variable that holds what every iteration is told."""

PARTITION = "circular_partition"
"""The variable of a thread that works beside others: which parts are its own."""

REVERTED = "circular_reverted"
"""The variable that tells which iteration a person took back."""

_ITERATION = re.compile(r"\[(\d+)\]/")


def mark_of(entry: Entry) -> Mark | None:
    """The mark that a journal line leaves."""
    raw = entry.patch.get(MARK) if isinstance(entry, StepRecord) else None
    return None if raw is None else Mark.model_validate(raw)


def last_mark(entries: Sequence[Entry]) -> Mark:
    """Where the run stands."""
    marks = (mark for entry in reversed(entries) if (mark := mark_of(entry)))
    return next(marks, Mark(number=0))


def assignment_of(entries: Sequence[Entry]) -> Assignment | None:
    """What the iterations are told since the last change that a person accepted."""
    for entry in reversed(entries):
        given = entry.context if isinstance(entry, Start) else getattr(entry, "patch", {})
        if isinstance(entry, Start | Resume) and ASSIGNMENT in given:
            return Assignment.model_validate(given[ASSIGNMENT])
    return None


def states_of(
    entries: Sequence[Entry], commits: Mapping[str, str] | None = None
) -> tuple[IterationState, ...]:
    """The iterations so far, those that only doubted among them; the last may not be measured yet.

    `commits` gives the commit of each step.
    """
    states: list[IterationState] = []
    errors: list[str] = []
    for entry in entries:
        if isinstance(entry, Attempt) and _ITERATION.search(entry.step):
            error = error_of(entry.reason) or ErrorType.EXECUTION_FAILURE
            errors.append(error_line(error, entry.detail))
        mark = mark_of(entry)
        if mark is None or not isinstance(entry, StepRecord):
            continue
        if mark.report:
            sha = (commits or {}).get(entry.step, "")
            states.append(_reported(entry, mark, mark.report, tuple(errors), sha))
            errors.clear()
        if mark.measure and states:
            states[-1] = _measured(states[-1], entry, mark.measure)
        _settle(states, mark)
    return tuple(states)


def last_work(entries: Sequence[Entry]) -> tuple[StepRecord, Report] | None:
    """The newest iteration, measured or not: its journal line, and its report."""
    for entry in reversed(entries):
        mark = mark_of(entry)
        if mark and mark.report and mark.report.kind == "work" and isinstance(entry, StepRecord):
            return entry, mark.report
    return None


def left_of(entries: Sequence[Entry]) -> tuple[str, ...]:
    """What the last threads said is left: those since the last work, its own report included."""
    left: list[str] = []
    for entry in reversed(entries):
        mark = mark_of(entry)
        if mark and mark.report:
            left += [*mark.report.remaining, *mark.report.found]
            if mark.report.kind == "work":
                break
    return tuple(dict.fromkeys(left))


def reverted_of(entries: Sequence[Entry]) -> frozenset[int]:
    """The numbers of the iterations whose work a person took back."""
    patches = [entry.patch for entry in entries if isinstance(entry, Resume)]
    return frozenset(patch[REVERTED] for patch in patches if REVERTED in patch)


def standing(
    states: Sequence[IterationState], entries: Sequence[Entry]
) -> tuple[IterationState, ...]:
    """Those iterations whose work nobody took back."""
    reverted = reverted_of(entries)
    return tuple(state for state in states if state.number not in reverted)


def measured(states: Sequence[IterationState]) -> tuple[IterationState, ...]:
    """All but the last where it was cut off before its checks were run: they say nothing of it."""
    return tuple(state for state in states if state.kind == "doubt" or state.tree)


def _reported(
    entry: StepRecord, mark: Mark, report: Report, errors: tuple[str, ...], commit: str
) -> IterationState:
    spend = entry.spend
    return IterationState(
        number=max(mark.number, 1),
        kind=report.kind,
        started_at=entry.at - timedelta(seconds=spend.seconds),
        ended_at=entry.at,
        model=report.model or spend.model,
        threshold=report.threshold,
        prompt_version=report.prompt_version,
        reasons=report.reasons,
        partitions=report.partitions,
        files_modified=entry.files,
        tokens=spend.usage.context_tokens,
        cost_usd=spend.cost_usd,
        peak_context=spend.context_share,
        reason=report.reason,
        ending=report.ending,
        verdict=report.verdict,
        commit=commit,
        errors=(*errors, *report.errors),
    )


def _measured(state: IterationState, entry: StepRecord, measure: Measure) -> IterationState:
    return state.model_copy(
        update={
            "ended_at": entry.at,
            "status": measure.status,
            "checks": entry.checks,
            "failures": measure.failures,
            "issues_resolved": measure.resolved,
            "issues_discovered": measure.discovered,
            "change": measure.change,
            "tree": measure.tree,
        }
    )


def _settle(states: list[IterationState], mark: Mark) -> None:
    """What a doubt decides about the iteration that it doubted.

    Threads that agree are no success without a check that shows it.
    """
    report = mark.report
    if report is None or report.kind != "doubt":
        return
    left = () if report.verdict == "done" else dict.fromkeys((*report.remaining, *report.found))
    found = tuple(Issue(id=f"doubt:{each}", description=each) for each in left)
    work = next((n for n in range(len(states) - 1, -1, -1) if states[n].kind == "work"), None)
    status = IterationStatus.CONTINUE
    if mark.claimed:
        shown = work is not None and bool(states[work].checks)
        status = IterationStatus.SUCCESS if shown else IterationStatus.UNKNOWN
    update = {"status": status, "issues_discovered": found}
    states[-1] = states[-1].model_copy(update=update)
    if work is not None and (mark.over or not mark.claimed):
        states[work] = states[work].model_copy(update={"status": status})
