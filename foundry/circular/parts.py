"""Which parts of a task are done, from the journal. Pure.

A part is done when a thread that worked on it says so, until a later one finds something in it or
a check fails there: who doubts an end and names no part opens all of them again. Nothing ends by
this; it decides what threads are told and given.
"""

import re
from collections.abc import Iterable, Sequence

from foundry.circular.history import assignment_of, last_mark, mark_of
from foundry.circular.partitions import parts_of
from foundry.circular.schema import Part, PartitionReport
from foundry.circular.state_schema import Mark, Report
from foundry.permission.globs import covers
from foundry.schema.journal import Entry

_WORD = re.compile(r"[\w./-]+")


def done_parts(entries: Sequence[Entry]) -> frozenset[str]:
    """The ids of the parts in which nothing is left."""
    assignment = assignment_of(entries)
    if assignment is None:
        return frozenset()
    parts, _ = parts_of(assignment.base_context, assignment.prompt)
    done: frozenset[str] = frozenset()
    for mark in filter(None, map(mark_of, entries)):
        done = _after(done, mark, parts)
    return done


def unmerged(entries: Sequence[Entry]) -> tuple[PartitionReport, ...]:
    """What was worked on side by side last and could not be merged: it is due again, alone."""
    for entry in reversed(entries):
        mark = mark_of(entry)
        if mark and mark.report and mark.report.kind == "work":
            return tuple(each for each in mark.report.partitions if not each.merged)
    return ()


def alone(entries: Sequence[Entry]) -> str:
    """Why the iteration that is due is the work of one conversation; empty where it may be split.

    What could not be merged, and what a doubt found, is not the work of any part.
    """
    if left := unmerged(entries):
        return f"alone: could not be merged: {', '.join(each.title for each in left)}"
    report = last_mark(entries).report
    return "alone: what a doubt found" if report and report.kind == "doubt" else ""


def is_about(part: Part, text: str) -> bool:
    """Whether a text names a part, or a file of it."""
    words = {word.strip(".") for word in _WORD.findall(text)}
    return part.id in words or any(
        covers(glob.rstrip("/"), word, surely=True) for word in words for glob in part.paths
    )


def _after(done: frozenset[str], mark: Mark, parts: Sequence[Part]) -> frozenset[str]:
    if mark.report:
        done |= _claimed(mark.report) & {part.id for part in parts}
        left = (*mark.report.remaining, *mark.report.found)
        open_again = _about(parts, left)
        if mark.report.kind == "doubt" and mark.report.verdict != "done" and not open_again:
            return frozenset()
        done -= open_again
    if mark.measure:
        done -= _about(parts, (name for each in mark.measure.failures for name in each.ids))
    return done


def _claimed(report: Report) -> frozenset[str]:
    aside = (each for each in report.partitions if each.merged and each.verdict == "done")
    return frozenset((*report.parts_done, *(part for each in aside for part in each.parts)))


def _about(parts: Sequence[Part], texts: Iterable[str]) -> frozenset[str]:
    told = "\n".join(texts)
    return frozenset(part.id for part in parts if told and is_about(part, told))
