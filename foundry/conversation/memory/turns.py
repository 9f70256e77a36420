"""Messages as snapshots: what a turn or a step had before it and did."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from foundry.conversation.compaction.extraction import extract
from foundry.conversation.compaction.key_facts import KeyFacts
from foundry.conversation.compaction.tool_calls import blocks_of, exchanges, text_of
from foundry.model.tokens import CHARACTERS_PER_TOKEN
from foundry.schema.base import Json
from foundry.schema.memory import CallMade, ContextSnapshot, Touched
from foundry.schema.messages import Message


def turn_snapshot(
    messages: Sequence[Message], *, task: str, state: Mapping[str, Json] | None = None
) -> ContextSnapshot:
    """The snapshot of a turn: its reply and the results of its calls."""
    facts = extract(messages)
    return ContextSnapshot(
        task=task,
        said=said(messages),
        calls=tuple(
            CallMade(tool=each.name, arguments=each.arguments, result=each.text,
                     failed=each.is_error)
            for each in exchanges(messages)
        ),
        files=touched(facts),
        state=dict(state or {}),
        decisions=facts.decisions,
    )  # fmt: skip


def step_snapshot(
    messages: Sequence[Message],
    *,
    task: str,
    result: str,
    state: Mapping[str, Json] | None = None,
    decisions: Iterable[str] = (),
) -> ContextSnapshot:
    """The snapshot of a whole step: its turns have the calls, it has what came of them."""
    facts = extract(messages)
    settled = dict.fromkeys((*decisions, *facts.decisions))
    return ContextSnapshot(
        task=task,
        said=result,
        files=touched(facts),
        state=dict(state or {}),
        decisions=tuple(settled),
    )


def facts_of(messages: Sequence[Message]) -> KeyFacts:
    """What was decided, done, run and gone wrong; what is only mentioned is left out."""
    return replace(extract(messages), mentioned=())


def said(messages: Iterable[Message]) -> str:
    """The assistant's own words."""
    return "\n\n".join(
        text_of(block)
        for message in messages
        if message["role"] == "assistant"
        for block in blocks_of(message)
        if block.get("type") == "text" and text_of(block).strip()
    )


def touched(facts: KeyFacts) -> tuple[Touched, ...]:
    """The files of key facts, with what was done to each."""
    return tuple(
        Touched(path=path, deeds=", ".join(deed if n == 1 else f"{deed} x{n}" for deed, n in deeds))
        for path, deeds in facts.files
    )


def size(snapshot: ContextSnapshot, per_token: float = CHARACTERS_PER_TOKEN) -> int:
    """The tokens of a snapshot's texts, estimated."""
    return int(len(snapshot.model_dump_json()) / per_token)
