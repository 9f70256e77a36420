"""The versions of the prompt: proposed, tried, kept or rejected by what was measured. Pure.

The prompt that the person gave is the first version and never changes. A thread may propose another
wording; it is tried in the next iteration, and kept only if progress per token rose against the
last iterations of the version that it edits. An edit may not change what the task is: what stands
between double braces and the sections that say objective, criteria and constraints stay word for
word; where a prompt has no such section, all its lines stay, and lines may only be added.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from foundry.circular.assignment import fingerprint, tampered
from foundry.circular.history import assignment_of, mark_of, states_of
from foundry.circular.metrics import PER_TOKENS, gains, is_measured
from foundry.circular.schema import IterationState, Proposal, Report
from foundry.schema.base import Value
from foundry.schema.journal import Entry

PromptDecision = Literal["original", "trial", "kept", "rejected"]


class Measurement(Value):
    """What one iteration with a prompt achieved."""

    iteration: int = Field(ge=1)
    gain: int = Field(ge=0)
    tokens: int = Field(ge=0)


class PromptVersion(Value):
    """A wording of the prompt, what it achieved, and what became of it."""

    number: int = Field(ge=1)
    text: str = Field(min_length=1)
    sha256: str
    parent: int | None = None
    """The version that it edits; None for the original."""
    why: str = ""
    """What the proposal wants to mend."""
    measurements: tuple[Measurement, ...] = ()
    decision: PromptDecision
    verdict: str = ""
    """Why it was kept or rejected."""


class PromptHistory(Value):
    """Every version of the prompt, oldest first; the first is the original and never changes."""

    versions: tuple[PromptVersion, ...] = Field(min_length=1)


COMPARED = 3
"""Iterations of the edited version that an edit is measured against."""

GROWTH = 2.0
"""How many times as long as the original a prompt may get."""

SPARE = 1_000
"""Characters that an edit may add to any prompt, however short."""

_HEADING = re.compile(r"^(#+)\s*(.*)$")
_PROTECTED = re.compile(
    r"\b(objectives?|goals?|criteria|constraints?|rules?|task)\b", re.IGNORECASE
)
_BRACES = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)


def unedited(text: str) -> PromptHistory:
    """The history of a prompt that nobody edited yet."""
    original = PromptVersion(number=1, text=text, sha256=fingerprint(text), decision="original")
    return PromptHistory(versions=(original,))


def active(history: PromptHistory) -> PromptVersion:
    """The version that the next iteration has: the one on trial, or the last that was kept."""
    return next(each for each in reversed(history.versions) if each.decision != "rejected")


def propose(history: PromptHistory, text: str, because: str) -> tuple[PromptHistory, str]:
    """A history with an edit on trial, or the same where it may not be tried; and what was done."""
    if reason := _objection(history, text):
        return history, f"a new wording is not tried: {reason}"
    version = PromptVersion(
        number=len(history.versions) + 1,
        text=text,
        sha256=fingerprint(text),
        parent=active(history).number,
        why=because,
        decision="trial",
    )
    news = f"version {version.number} is tried" + (f" ({because})" if because else "")
    return PromptHistory(versions=(*history.versions, version)), news


def with_measurement(
    history: PromptHistory, iteration: int, gain: int, tokens: int
) -> PromptHistory:
    """The history with what an iteration achieved; a version on trial is kept or rejected by it."""
    version = active(history)
    measurement = Measurement(iteration=iteration, gain=gain, tokens=tokens)
    update: dict[str, object] = {"measurements": (*version.measurements, measurement)}
    if version.decision == "trial":
        parent = history.versions[(version.parent or 1) - 1]
        before, now = _rate(parent.measurements[-COMPARED:]), _rate((measurement,))
        kept = now > before
        beside = "against" if kept else "are no more than"
        update["decision"] = "kept" if kept else "rejected"
        update["verdict"] = f"{now:.3g} issues a million tokens {beside} {before:.3g}"
    versions = list(history.versions)
    versions[version.number - 1] = version.model_copy(update=update)
    return PromptHistory(versions=tuple(versions))


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
    if len(text) > max(GROWTH * len(original.text), len(original.text) + SPARE):
        return f"{len(text):,} characters are too many for a prompt that began with "\
               f"{len(original.text):,}"  # fmt: skip
    if sorted(_BRACES.findall(text)) != sorted(_BRACES.findall(original.text)):
        return "it changes what stands between double braces"
    return _changes_task(original.text, text)


def _changes_task(original: str, text: str) -> str:
    """How an edit changes what the task is; empty when it does not."""
    before, after = sections(original), sections(text)
    if before or after:
        if before == after:
            return ""
        lines = (*before, *after)
        changed = next((each for each in lines if (each in before) != (each in after)), "")
        return f"it changes what the task is: {changed or 'the order of its lines'!r}"
    kept = {line.strip() for line in text.splitlines()}
    lost = next((line for line in map(str.strip, original.splitlines()) if line not in kept), "")
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


@dataclass(frozen=True, slots=True)
class Prompts:
    """Every version so far, and what the last iteration changed about them."""

    history: PromptHistory
    news: str = ""

    @property
    def active(self) -> PromptVersion:
        """The version that the next thread is given."""
        return active(self.history)


def prompts_of(entries: Sequence[Entry]) -> Prompts | None:
    """The versions of the prompt of a run; None where it was not given by `foundry circular`.

    Raises ArtifactError for a proposal whose text is not the one that was journalled. Where a
    person gives another prompt, the history begins anew with it.
    """
    assignment = assignment_of(entries)
    if assignment is None:
        return None
    found = Prompts(unedited(assignment.prompt))
    if not assignment.settings.refine:
        return found
    states = states_of(entries)
    gained = _steady_gains(states)
    index, report = -1, None
    for number, entry in enumerate(entries, 1):
        given = assignment_of([entry])
        if given is not None and given.prompt != found.history.versions[0].text:
            found = Prompts(unedited(given.prompt))
        mark = mark_of(entry)
        if mark is None:
            continue
        if mark.report:
            index, report = index + 1, mark.report
        if mark.measure and report:
            found = _after(found, report, states[index], gained[index], f"line {number}")
    return found


def proposal_of(text: str, because: str) -> Proposal | None:
    """A proposed wording for the journal, with its hash; None where there is none."""
    text = text.strip()
    if not text:
        return None
    return Proposal(text=text, sha256=fingerprint(text), because=because.strip())


def _steady_gains(states: Sequence[IterationState]) -> tuple[int, ...]:
    """The gain of every iteration by what was known then: what was decided by it stays decided."""
    first = next((n for n in range(len(states)) if is_measured(states[n : n + 1])), len(states))
    return (*gains(states[:first]), *gains(states)[first:])


def _after(found: Prompts, report: Report, state: IterationState, gain: int, where: str) -> Prompts:
    """The versions once an iteration was measured: its own is judged, then its proposal taken.

    After a rejected one an iteration has no trial: with one after the other, threshold and model
    would stay as they are for good, however stuck it is.
    """
    trial, new = found.active, report.proposal
    history = with_measurement(found.history, state.number, gain, state.tokens)
    judged = history.versions[trial.number - 1]
    news = []
    if trial.decision == "trial":
        news.append(f"version {judged.number} {judged.decision}: {judged.verdict}")
    if new and fingerprint(new.text) != new.sha256:
        raise tampered(f"{where}, circular.report.proposal")
    if new and judged.decision == "rejected":
        news.append(f"a new wording is not tried: version {judged.number} was rejected just now")
    elif new:
        history, tried = propose(history, new.text, new.because)
        news.append(tried)
    return Prompts(history, "; ".join(news))
