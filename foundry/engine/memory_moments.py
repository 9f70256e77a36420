"""From turns and journal lines to what the memory keeps of them. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from foundry.conversation.brief import TurnDone
from foundry.conversation.compaction.key_facts import KeyFacts, one_line
from foundry.conversation.memory.summarise import summary, tokens
from foundry.conversation.memory.turns import (
    facts_of,
    said,
    size,
    step_snapshot,
    turn_snapshot,
)
from foundry.schema.base import Json
from foundry.schema.journal import Attempt, StepRecord
from foundry.schema.memory import Draft, Moment, Touched
from foundry.schema.messages import Message

STEP_SUMMARY, POINT, POINTS = 400, 140, 3
"""Characters of a step's summary and of one of its insights, and how many of those."""

MAX_TASK = 4_000
"""Characters of what a step was told to do."""


class Talk(NamedTuple):
    """A conversation, and the step that it is about."""

    id: str
    run: str
    phase: str
    step: str
    task: str = ""
    attempt: int = 1


def turn_moment(talk: Talk, done: TurnDone) -> tuple[Moment, Draft]:
    """A turn with the summary that code makes of it."""
    state: dict[str, Json] = {"attempt": talk.attempt, "context_tokens": done.tokens}
    if done.thoughts:
        state["thoughts"] = done.thoughts
    snapshot = turn_snapshot(done.messages, task=talk.task[:MAX_TASK], state=state)
    moment = Moment(
        kind="turn", run=talk.run, phase=talk.phase, step=talk.step, conversation=talk.id,
        turn=done.number, began=done.began, ended=done.ended, tokens=size(snapshot),
        snapshot=snapshot,
    )  # fmt: skip
    called = [call.tool for call in snapshot.calls]
    return moment, summary(said(done.messages), facts_of(done.messages), called=called)


def step_moment(
    entry: StepRecord | Attempt,
    task: str,
    messages: Sequence[Message],
    decisions: Iterable[str] = (),
) -> tuple[Moment, Draft]:
    """A step that was accepted or failed, with its summary; `messages` are its conversation's."""
    settled, told = tuple(decisions), _told(entry)
    snapshot = step_snapshot(
        messages, task=task[:MAX_TASK], result=told, state=_state(entry), decisions=settled
    )
    known = {each.path for each in snapshot.files}
    changed = (path for path in _changed(entry) if path not in known)
    files = (*snapshot.files, *(Touched(path=path, deeds="changed") for path in changed))
    snapshot = snapshot.model_copy(update={"files": files})
    moment = Moment(
        kind="step", run=entry.run, phase=entry.phase, step=entry.step,
        conversation=entry.spend.conversation, turn=entry.spend.turns,
        began=entry.at - timedelta(seconds=entry.spend.seconds), ended=entry.at,
        tokens=size(snapshot), snapshot=snapshot,
    )  # fmt: skip
    return moment, _draft(entry, told, settled, facts_of(messages))


def _told(entry: StepRecord | Attempt) -> str:
    """What came of a step; of one that failed in the words of the note that tells of it."""
    if isinstance(entry, StepRecord):
        return entry.summary or entry.message.split("\n", 1)[0]
    return f"attempt {entry.attempt} failed ({entry.reason}): {entry.detail}"


def _state(entry: StepRecord | Attempt) -> Mapping[str, Any]:
    """How the step ended, by what code knows of it."""
    if isinstance(entry, Attempt):
        return {"attempt": entry.attempt, "failed": entry.reason, "salvage": entry.salvage}
    return {
        "attempt": entry.attempt,
        "checks": {check.name: check.status for check in entry.checks},
        "rejections": list(entry.rejections),
        "set": entry.patch,
    }


def _draft(
    entry: StepRecord | Attempt, told: str, decisions: Sequence[str], facts: KeyFacts
) -> Draft:
    """The step's own words; then what failed, what was settled and what was changed."""
    points = dict.fromkeys(one_line(each, POINT) for each in _points(entry, decisions, facts))
    draft = Draft(text=one_line(told, STEP_SUMMARY), insights=tuple(points)[:POINTS])
    return draft.model_copy(update={"tokens": tokens(draft)})


def _points(
    entry: StepRecord | Attempt, decisions: Sequence[str], facts: KeyFacts
) -> Iterator[str]:
    if isinstance(entry, StepRecord):
        yield from (f"failing: {each.name} (`{each.command}`)"
                    for each in entry.checks if not each.holds)  # fmt: skip
        yield from (f"refused at first: {each}" for each in entry.rejections[-1:])
    else:
        yield from list(reversed(facts.errors))[:1]
    yield from (each for each in decisions if each not in _told(entry))
    if changed := _changed(entry):
        yield f"changed: {', '.join(changed)}"


def _changed(entry: StepRecord | Attempt) -> tuple[str, ...]:
    return entry.files if isinstance(entry, StepRecord) else ()
