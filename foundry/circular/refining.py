"""Self-refining prompts: an edit is tried, and kept only if progress per token rose. Pure.

The original is the first version and stays it. A proposal is tried in the next iteration; then it
is kept or rejected, by what the harness measured, against the last iterations of the version that
it edits. An edit may not change what the task is: what stands between double braces and the
sections that say objective, criteria and constraints stay word for word; where a prompt has no such
section, all its lines stay, and lines may only be added.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from foundry.circular.base_context import fingerprint
from foundry.circular.metrics import PER_TOKENS
from foundry.circular.schema import Measurement, PromptHistory, PromptVersion

COMPARED = 3
"""Iterations of the edited version that an edit is measured against."""

GROWTH = 2.0
"""How many times as long as the original a prompt may get."""

ROOM = 1_000
"""Characters that an edit may add to any prompt, however short."""

_HEADING = re.compile(r"^(#+)\s*(.*)$")
_PROTECTED = re.compile(
    r"\b(objectives?|goals?|criteria|constraints?|rules?|task)\b", re.IGNORECASE
)
_BRACES = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Whether an edit is tried, why (not), and the history with it."""

    history: PromptHistory
    accepted: bool
    why: str


def begin(text: str) -> PromptHistory:
    """The history of a prompt that nobody edited yet."""
    original = PromptVersion(number=1, text=text, sha256=fingerprint(text), decision="original")
    return PromptHistory(versions=(original,))


def active(history: PromptHistory) -> PromptVersion:
    """The version that the next iteration has: the one on trial, or the last that was kept."""
    return next(each for each in reversed(history.versions) if each.decision != "rejected")


def tampered(history: PromptHistory) -> tuple[int, ...]:
    """The numbers of the versions whose text is no longer what was written into the history."""
    return tuple(each.number for each in history.versions if fingerprint(each.text) != each.sha256)


def propose(history: PromptHistory, text: str, why: str) -> Proposal:
    """A history with an edit on trial, or the same history and why the edit is not tried."""
    parent = active(history)
    if reason := _objection(history, text):
        return Proposal(history, False, reason)
    version = PromptVersion(
        number=len(history.versions) + 1,
        text=text,
        sha256=fingerprint(text),
        parent=parent.number,
        why=why,
        decision="trial",
    )
    versions = (*history.versions, version)
    return Proposal(PromptHistory(versions=versions), True, f"version {version.number} is tried")


def measured(history: PromptHistory, iteration: int, gain: int, tokens: int) -> PromptHistory:
    """The history with what an iteration achieved; a version on trial is kept or rejected by it."""
    version = active(history)
    measurement = Measurement(iteration=iteration, gain=gain, tokens=tokens)
    update: dict[str, object] = {"measurements": (*version.measurements, measurement)}
    if version.decision == "trial":
        parent = history.versions[(version.parent or 1) - 1]
        update |= _decision(_rate(parent.measurements[-COMPARED:]), _rate((measurement,)))
    versions = list(history.versions)
    versions[version.number - 1] = version.model_copy(update=update)
    return PromptHistory(versions=tuple(versions))


def _decision(before: float, now: float) -> dict[str, object]:
    kept = now > before
    verdict = f"{now:.3g} issues a million tokens {'against' if kept else 'are no more than'} "
    return {"decision": "kept" if kept else "rejected", "verdict": f"{verdict}{before:.3g}"}


def _rate(measurements: Sequence[Measurement]) -> float:
    tokens = sum(each.tokens for each in measurements)
    return sum(each.gain for each in measurements) * PER_TOKENS / tokens if tokens else 0.0


def _objection(history: PromptHistory, text: str) -> str:
    """Why an edit can't be tried; empty when it can."""
    original, current = history.versions[0], active(history)
    if current.decision == "trial":
        return f"version {current.number} is still on trial"
    if not current.measurements:
        return f"version {current.number} was not measured yet: there is nothing to compare with"
    if any(fingerprint(text) == each.sha256 for each in history.versions):
        return "this wording was there before"
    if len(text) > max(GROWTH * len(original.text), len(original.text) + ROOM):
        return f"{len(text):,} characters are too many for a prompt that began with "\
               f"{len(original.text):,}"  # fmt: skip
    if sorted(_BRACES.findall(text)) != sorted(_BRACES.findall(original.text)):
        return "it changes what stands between double braces"
    return _changes_task(original.text, text)


def _changes_task(original: str, text: str) -> str:
    """How an edit changes what the task is; empty when it does not."""
    before, after = sections(original), sections(text)
    if before or after:
        changed = next(
            (each for each in (*before, *after) if (each in before) != (each in after)), ""
        )
        if before == after:
            return ""
        return f"it changes what the task is: {changed or 'the order of its lines'!r}"
    lines = {line.strip() for line in text.splitlines()}
    lost = next((line for line in map(str.strip, original.splitlines()) if line not in lines), "")
    return f"it changes what the task is: {lost!r}" if lost else ""


def sections(text: str) -> tuple[str, ...]:
    """The lines of a prompt under headings that say what the task is, the headings included.

    A title (`#`) heads only what comes before the next heading.
    """
    kept: list[str] = []
    level = 0  # of the heading that protects
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            depth = len(heading[1])
            if level <= 1 or depth <= level:
                level = depth if _PROTECTED.search(heading[2]) else 0
        if level and line.strip():
            kept.append(line.strip())
    return tuple(kept)
