"""Take the content out of single tool results: what no longer fits, or stands elsewhere anyway.

A masked result says how much it held, and keeps the errors and the paths that nothing else
names. Calls keep their results, so the thread stays one that the API takes. Where it has been
masked once, a result stays as it is.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from foundry.conversation.compaction.key_facts import errors, is_key_facts, paths
from foundry.conversation.compaction.tool_calls import (
    Exchange,
    blocks_of,
    exchanges,
    text_of,
    words_of,
)
from foundry.model.tokens import characters
from foundry.schema.messages import Block, Message

KEEP_RECENT = 6
"""The newest results stay, as far as half the target holds them: the model works with them."""

SHORT = 200
"""Characters below which a result stays: taking it out would save nothing."""

WORTH = 0.6
"""A masked result is at most so much of the whole one, or it stays."""

MASKED = "Taken out to save room"
SUPERSEDED = "Out of date, for this file was read or written again later"
REPEATED = "The same as the result of a later call"
_MASKED_RESULT = re.compile(rf"^\[(?:{MASKED}|{SUPERSEDED}|{REPEATED}): ([\d,]+) characters")

Position = tuple[int, int]
"""A message's number and a block's number in it."""


@dataclass(frozen=True, slots=True)
class Masking:
    """Messages with results taken out, how many, and the characters saved."""

    messages: tuple[Message, ...]
    results: int = 0
    saved: int = 0


@dataclass
class _Masker:
    """Takes out result after result, and knows what paths still stand somewhere."""

    messages: Sequence[Message]
    named: set[str]
    turns: Sequence[int]
    changed: dict[Position, Block] = field(default_factory=dict)
    saved: int = 0

    def take(self, exchange: Exchange, why: str) -> bool:
        """Take one out, if that is worth it."""
        block = blocks_of(self.messages[exchange.message])[exchange.block]
        text = _instead(exchange, block, why, self.named, self.turns)
        masked = {**block, "content": text}
        before, after = characters([block]), characters([masked])
        if after > before * WORTH:
            return False
        self.named.update(paths(text))
        self.changed[exchange.message, exchange.block] = masked
        self.saved += before - after
        return True

    def result(self) -> Masking:
        return Masking(
            tuple(with_blocks(self.messages, self.changed)), len(self.changed), self.saved
        )


def mask(messages: Sequence[Message], *, save: int, protected: Iterable[Position]) -> Masking:
    """Take out the oldest results until `save` characters are gone, or none is left to take."""
    every = [(exchange, MASKED) for exchange in exchanges(messages)]
    return _take(messages, every, save, frozenset(protected))


def drop_outdated(
    messages: Sequence[Message], *, save: int, protected: Iterable[Position]
) -> Masking:
    """Take out what a later result says again or better, oldest first, until `save` is gone."""
    return _take(messages, outdated(messages), save, frozenset(protected))


def _take(
    messages: Sequence[Message],
    candidates: Sequence[tuple[Exchange, str]],
    save: int,
    protected: frozenset[Position],
) -> Masking:
    """Once more after each round that took some: what they name makes others worth taking."""
    masker = _Masker(messages, _named(messages), _turns(messages))
    left = [
        (exchange, why)
        for exchange, why in candidates
        if (exchange.message, exchange.block) not in protected and _may_go(exchange, messages)
    ]
    while masker.saved < save:
        missed = []
        for exchange, why in left:
            if masker.saved >= save or not masker.take(exchange, why):
                missed.append((exchange, why))
        if len(missed) == len(left):
            break
        left = missed
    return masker.result()


def outdated(messages: Sequence[Message]) -> list[tuple[Exchange, str]]:
    """Results of which a later one has the same text, and reads of a file that a later call read
    or wrote as a whole; each with the reason, oldest first."""
    texts: set[str] = set()
    files: set[str] = set()
    reads: set[str] = set()
    found: list[tuple[Exchange, str]] = []
    for exchange in reversed(list(exchanges(messages))):
        long = len(exchange.text) >= SHORT
        if exchange.kind == "read" and (exchange.key in reads or exchange.path in files):
            found.append((exchange, SUPERSEDED))
        elif long and exchange.text in texts:
            found.append((exchange, REPEATED))
        if long:
            texts.add(exchange.text)
        if exchange.is_error or is_masked(exchange.text):
            continue
        if exchange.kind == "read":
            reads.add(exchange.key)
        if exchange.path and (exchange.kind == "write" or exchange.whole_file):
            files.add(exchange.path)
    return found[::-1]


def protected(
    messages: Sequence[Message], room: int, keep_messages: int = 0
) -> frozenset[Position]:
    """The results that stay: those of the newest message, which the model has not seen yet; the
    newest few that fit into `room` characters; all within the newest `keep_messages`."""
    found = list(exchanges(messages))
    last = found[-1].message if found else 0
    positions: set[Position] = set()
    for count, exchange in enumerate(reversed(found)):
        room -= len(exchange.text)
        recent = count < KEEP_RECENT and room >= 0
        if recent or exchange.message == last or exchange.message >= len(messages) - keep_messages:
            positions.add((exchange.message, exchange.block))
    return frozenset(positions)


def is_masked(text: str) -> bool:
    """Whether a result was taken out before."""
    return _MASKED_RESULT.match(text) is not None


def taken_out(messages: Sequence[Message]) -> int:
    """The characters that masked results say they held."""
    return sum(
        int(found[1].replace(",", "")) - len(exchange.text)
        for exchange in exchanges(messages)
        if (found := _MASKED_RESULT.match(exchange.text))
    )


def with_blocks(messages: Sequence[Message], changed: Mapping[Position, Block]) -> list[Message]:
    """The messages with some blocks replaced; the others are the same objects as before."""
    numbers = {number for number, _ in changed}
    return [
        {
            "role": message["role"],
            "content": [
                changed.get((number, at), block) for at, block in enumerate(blocks_of(message))
            ],
        }
        if number in numbers
        else message
        for number, message in enumerate(messages)
    ]


def _turns(messages: Sequence[Message]) -> Sequence[int]:
    """The turn of the conversation that each message stands in, by which it can be recalled;
    nothing where turns are gone and so can't be counted."""
    blocks = blocks_of(messages[0]) if messages else []
    if any(block.get("type") == "text" and is_key_facts(text_of(block)) for block in blocks):
        return ()
    return list(accumulate(int(message["role"] == "assistant") for message in messages))


def _named(messages: Sequence[Message]) -> set[str]:
    """The paths that stand somewhere whatever is taken out."""
    return {
        path
        for message in messages
        for block in blocks_of(message)
        for path in paths(_lasting(block))
    }


def _lasting(block: Block) -> str:
    """The text of a block that is not taken out here."""
    if block.get("type") == "tool_result" and not is_masked(text_of(block)):
        return ""
    return words_of(block)


def _may_go(exchange: Exchange, messages: Sequence[Message]) -> bool:
    block = blocks_of(messages[exchange.message])[exchange.block]
    long = characters(block.get("content") or "") >= SHORT
    return long and not exchange.is_error and not is_masked(exchange.text)


def _instead(
    exchange: Exchange, block: Block, why: str, named: set[str], turns: Sequence[int]
) -> str:
    """What stands in a masked result."""
    number = turns[exchange.message] if turns else 0
    turn = f" of turn {number}" if number else ""
    size = characters(block.get("content") or "")
    advice = " Run the tool again if you need them." if why == MASKED else ""
    said = list(dict.fromkeys(errors(exchange.text, source=exchange.shows_source)))
    quoted = "\n".join(said)
    new = [path for path in dict.fromkeys(paths(exchange.text)) if path not in named]
    new = [path for path in new if path not in quoted]
    lines = [f"[{why}: {size:,} characters{turn}.{advice}]"]
    if new:
        lines.append(f"It named: {' '.join(new)}")
    if said:
        lines.append(f"It said:\n{quoted}")
    return "\n".join(lines)
