"""The parts of a task: which there are, which are done, and how they are shared out. Pure.

Parts come from the base context (`parts:`), or from a list with checkboxes in the prompt, or from
globs in it (one a line). Parts that name a file in common are not independent and stay together.

A part is done when a thread that worked on it says so, until a later one finds something in it or
a check fails there: who doubts an end and names no part opens all of them again. Nothing ends by
this; it decides what threads are told and given.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from foundry.circular.history import assignment_of, last_mark, last_work, mark_of
from foundry.circular.schema import BaseContext, Mark, Part, PartitionReport, Report
from foundry.permission.globs import covers
from foundry.schema.journal import Entry

_CHECKBOX = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[([ xX])\]\s+(.+)$", re.MULTILINE)
_GLOB = re.compile(
    r"^\s*(?:[-*+]\s+)?`?([\w./-]*[*?\[][\w./*?\[\]{}!-]*|[\w.-]+/(?:[\w.-]+/)*)`?\s*$",
    re.MULTILINE,
)
_PATH = re.compile(r"`([\w.-]+(?:/[\w.*-]+)+/?|[\w-]+\.\w+)`")
_WORD = re.compile(r"[\w./-]+")


@dataclass(frozen=True, slots=True)
class Partition:
    """Parts that one thread works on; `paths` are the globs that its work is about, if any."""

    id: str
    title: str
    parts: tuple[Part, ...]
    paths: tuple[str, ...]

    @property
    def items(self) -> tuple[str, ...]:
        """What there is to do, a line each."""
        return tuple(part.title for part in self.parts)


@dataclass(frozen=True, slots=True)
class Partitioning:
    """The partitions, none when the work is not to be split, and why."""

    partitions: tuple[Partition, ...]
    reason: str


def partitions(
    context: BaseContext | None,
    prompt: str,
    files: Sequence[str],
    at_most: int,
    done: Collection[str] = (),
) -> Partitioning:
    """Up to `at_most` partitions of about the same size, of the parts whose ids are not in `done`.

    `files` are those of the project.
    """
    parts, source = parts_of(context, prompt)
    parts = tuple(part for part in parts if part.id not in done)
    if at_most < 2 or len(parts) < 2:
        return Partitioning((), f"{len(parts)} independent parts in {source}: nothing to split")
    touched = [_touched(part, files) for part in parts]
    groups = _independent(touched)
    if len(groups) < 2:
        return Partitioning((), f"the {len(parts)} parts in {source} share files: nothing to split")
    bins = _balanced(groups, [max(1, len(each)) for each in touched], at_most)
    found = tuple(_partition([parts[number] for number in chosen]) for chosen in bins)
    return Partitioning(found, f"{len(parts)} parts in {source} as {len(found)} partitions")


def parts_of(context: BaseContext | None, prompt: str) -> tuple[tuple[Part, ...], str]:
    """The parts of a task and where they are named; items that are checked are done."""
    if context is not None and context.parts:
        return context.parts, "the base context"
    if boxes := _CHECKBOX.findall(prompt):
        open_items = [text.strip() for mark, text in boxes if mark == " "]
        return _named(open_items, [_PATH.findall(text) for text in open_items]), "the checklist"
    globs = list(dict.fromkeys(_GLOB.findall(prompt)))
    return _named(globs, [[glob] for glob in globs]), "the paths of the prompt"


def _named(titles: Sequence[str], paths: Sequence[Sequence[str]]) -> tuple[Part, ...]:
    return tuple(
        Part(id=_slug(title), title=title, paths=tuple(globs))
        for title, globs in zip(titles, paths, strict=True)
    )


def _slug(title: str) -> str:
    """An id that stays the same when items before it are checked."""
    words = "-".join(re.findall(r"[a-z0-9]+", title.lower()))[:36].strip("-")
    return f"{words or 'part'}-{sha256(title.encode()).hexdigest()[:6]}"


def _touched(part: Part, files: Sequence[str]) -> frozenset[str]:
    """The files that a part is about; a path that there is not stands for itself."""
    found = {file for file in files for glob in part.paths if _covers(glob, file)}
    return frozenset(found or part.paths)


def _covers(glob: str, file: str) -> bool:
    return covers(glob.rstrip("/"), file, surely=True)


def _independent(touched: Sequence[frozenset[str]]) -> list[list[int]]:
    """Groups of parts so that no file is in two groups. Parts without paths are on their own."""
    groups: list[tuple[list[int], set[str]]] = []
    for number, files in enumerate(touched):
        members, union = [number], set(files)
        apart = []
        for group in groups:
            if group[1] & union:
                members, union = group[0] + members, group[1] | union
            else:
                apart.append(group)
        groups = [*apart, (members, union)]
    return sorted(sorted(members) for members, _ in groups)


def _balanced(groups: list[list[int]], weights: list[int], at_most: int) -> list[list[int]]:
    """Groups in bins, the heaviest first, each into the lightest bin."""
    bins: list[list[int]] = [[] for _ in range(min(at_most, len(groups)))]
    for group in sorted(groups, key=lambda each: -sum(weights[number] for number in each)):
        min(bins, key=lambda each: sum(weights[number] for number in each)).extend(group)
    return sorted(sorted(each) for each in bins)


def _partition(parts: Sequence[Part]) -> Partition:
    more = f" and {len(parts) - 1} more" if len(parts) > 1 else ""
    paths = _union(part.paths for part in parts)
    return Partition(parts[0].id, f"{parts[0].title}{more}", tuple(parts), paths)


def _union(several: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for some in several for each in some))


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
    last = last_work(entries)
    return tuple(each for each in last[1].partitions if not each.merged) if last else ()


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
    return part.id in words or any(_covers(glob, word) for word in words for glob in part.paths)


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
    beside = (each for each in report.partitions if each.merged and each.verdict == "done")
    return frozenset((*report.parts_done, *(part for each in beside for part in each.parts)))


def _about(parts: Sequence[Part], texts: Iterable[str]) -> frozenset[str]:
    text = "\n".join(texts)
    return frozenset(part.id for part in parts if text and is_about(part, text))
