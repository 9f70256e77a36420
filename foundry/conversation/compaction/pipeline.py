"""Compaction: stage after stage, cheapest first, each only as far as the target asks for.

    mask        old tool results lose their content       halves a conversation, loses little
    outdated    results that a later one says again
    summary     older messages become key facts       the rest, whatever it takes

Pure: messages in, messages out; what was handed in is never changed. Compacting what is compacted
changes nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from foundry.conversation.compaction.key_facts import KeyFacts
from foundry.conversation.compaction.masking import (
    Masking,
    drop_outdated,
    mask,
    protected,
    taken_out,
)
from foundry.conversation.compaction.summary import Writer, replaced, settled, summarize
from foundry.conversation.compaction.tool_calls import blocks_of
from foundry.model.tokens import characters
from foundry.schema.messages import Message

KEEP_MESSAGES = 10
FEW = (KEEP_MESSAGES, 6, 4, 2)
"""Newest messages that a summary leaves, as many as there is room for; at least the newest call
with its result."""

PROGRESS = 0.1
"""A summary that would save less than this share is not worth its loss."""


@dataclass(frozen=True, slots=True)
class Goal:
    """To how many characters, and what stays whatever that means.

    `batch` is the least that masking saves once it begins, so that a prompt cache is broken
    seldom; a summary goes down to `deep` for the same reason. `keep_recent` messages stay
    untouched; None: as many of the newest as there is room for, and at least the newest call with
    its result.
    """

    characters: int
    batch: int = 0
    deep: int | None = None
    keep_recent: int | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """What one stage did: how many results or messages it took out, and the size around it."""

    name: str
    count: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Compaction:
    """The messages now, and the stages that changed anything. Sizes in characters."""

    messages: tuple[Message, ...]
    stages: tuple[Stage, ...]
    before: int
    after: int
    facts: KeyFacts | None = None


def size(messages: Sequence[Message]) -> int:
    """The characters of messages as a model reads them."""
    return sum(characters(blocks_of(message)) for message in messages)


def held(messages: Sequence[Message]) -> int:
    """What messages would have, had nothing been taken out of them."""
    return size(messages) + taken_out(messages) + replaced(messages)


def compact(messages: Sequence[Message], goal: Goal, *, writer: Writer | None = None) -> Compaction:
    """Bring messages to the goal, or as near to it as what must stay allows."""
    before = size(messages)
    now = tuple(messages)
    if before <= goal.characters or settled(messages, goal.characters):
        return Compaction(now, (), before, before)
    full = held(messages)
    now, stages = _mask_results(now, goal)
    length = size(now)
    if length <= goal.characters:
        return Compaction(now, stages, before, length)
    deep = goal.characters if goal.deep is None else goal.deep
    keep = _keep(goal.keep_recent, len(now))
    summary = summarize(now, held=full, target=deep, keep=keep, writer=writer)
    after = size(summary.messages) if summary else length
    if summary is None or after > length * (1 - PROGRESS):
        return Compaction(now, stages, before, length)
    stages = (*stages, Stage("summary", summary.replaced, length, after))
    return Compaction(summary.messages, stages, before, after, summary.facts)


def _mask_results(
    messages: tuple[Message, ...], goal: Goal
) -> tuple[tuple[Message, ...], tuple[Stage, ...]]:
    """Results taken out, and the stages that did it; masking goes round the newest few, but what
    is out of date may go from among them, too."""
    keep = goal.keep_recent or 0
    spared = {"mask": goal.characters // 2, "outdated": 0}
    stages: dict[str, Callable[..., Masking]] = {"mask": mask, "outdated": drop_outdated}
    taken: dict[str, Masking] = {}
    now, left = messages, size(messages)
    names = list(stages)
    while names and left > goal.characters:
        name = names.pop(0)
        save = max(left - goal.characters, goal.batch)
        done = stages[name](now, save=save, protected=protected(now, spared[name], keep))
        if done.results:
            now, left = done.messages, left - done.saved
            before = taken.get(name, Masking(()))
            results, saved = before.results + done.results, before.saved + done.saved
            taken[name] = Masking((), results, saved)
            names = [each for each in stages if each != name]  # what is named now changes the rest
    return now, _stages(size(messages), taken)


def _stages(before: int, taken: dict[str, Masking]) -> tuple[Stage, ...]:
    stages = []
    for name, done in taken.items():
        stages.append(Stage(name, done.results, before, before - done.saved))
        before -= done.saved
    return tuple(stages)


def _keep(asked: int | None, messages: int) -> tuple[int, ...]:
    """The numbers of newest messages to try for a summary, most first."""
    if asked is not None:
        return (asked,)
    many = (messages * share // 12 for share in (9, 6, 4, 3, 2, 1))
    return (*(count for count in many if count > KEEP_MESSAGES), *FEW)
