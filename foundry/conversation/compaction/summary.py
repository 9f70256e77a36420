"""Replace the older messages of a conversation by their key facts.

What stays: the first message as it was (the goal), the person's later words, and the newest
messages. The key facts stand between: all that must be findable always, and of the rest as much as
there is room for, newest first.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from foundry.context.templates import render as render_prompt
from foundry.conversation.compaction.extraction import extract, named, own_words
from foundry.conversation.compaction.key_facts import (
    Heading,
    KeyFacts,
    heading,
    is_key_facts,
    paths,
    render,
    with_written,
)
from foundry.conversation.compaction.masking import taken_out
from foundry.conversation.compaction.tool_calls import blocks_of, text_of, words_of
from foundry.errors import ModelError
from foundry.model.base import Model
from foundry.model.tokens import characters
from foundry.schema.messages import Block, Message, ModelRequest, Reply, Usage, text_block

LEAST = 4
"""Entries of a kind that are kept however little room there is."""

ERRORS = 12_000
LISTED = 20_000
"""Characters of errors, and of paths that nothing else names, that are always kept."""

Entry = TypeVar("Entry", str, tuple[str, str])

Writer = Callable[[KeyFacts, Sequence[Message]], str]
"""Writes key facts and their messages up in prose; an empty text where it can't."""

TEMPLATE = "context/summary.md.j2"

HEADINGS = ("### Objective", "### Decisions and why", "### Done so far", "### State of the files",
            "### Errors and how they were mended", "### Open", "### Next step")  # fmt: skip

LONGEST = 1_500
"""Tokens of the account."""

SHOWN = 150_000
"""Characters of the messages that are shown; of longer ones the newest."""

SHOWN_BLOCK = 2_000


@dataclass(frozen=True, slots=True)
class Summary:
    """Messages that begin with key facts, and how many these replace."""

    messages: tuple[Message, ...]
    replaced: int
    facts: KeyFacts


def summarize(
    messages: Sequence[Message],
    *,
    held: int,
    target: int,
    keep: Sequence[int],
    writer: Writer | None = None,
) -> Summary | None:
    """Bring messages to `target` characters, or as near as what must stay allows.

    `keep` are the numbers of newest messages to try, most first. `held` are the characters of
    the conversation in full. None when there is nothing that key facts could replace.
    """
    begins = [begin for count in keep if (begin := _beginning(messages, count))]
    cut = None
    for begin in begins:
        if begin != begins[-1] and _size(messages[begin:]) > target:
            continue
        cut = _Cut(messages, begin, held, target)
        if cut.least() <= target:
            break
    return cut.summary(writer) if cut else None


def known(messages: Sequence[Message], most: int) -> str:
    """All that messages tell, as key facts in a text of about `most` characters: what a
    conversation that ends leaves for one that begins."""
    cut = _Cut(messages, len(messages), 0, most)
    cut.room = most
    return render(cut.filled(), cut.heading)


def settled(messages: Sequence[Message], target: int) -> bool:
    """Whether this is the result of a compaction to `target` or less, with nothing added since."""
    text = _facts_text(messages)
    if text is None:
        return False
    head = heading(text)
    return head.kept == len(messages) - 1 and head.target <= target


def replaced(messages: Sequence[Message]) -> int:
    """How much longer these messages would be with what their facts replaced, in characters."""
    text = _facts_text(messages)
    return heading(text).held - len(text) if text else 0


class _Cut:
    """Messages parted into the first one, those that go, and those that stay from `begin` on."""

    def __init__(self, messages: Sequence[Message], begin: int, held: int, target: int) -> None:
        first = blocks_of(messages[0]) if messages[0]["role"] == "user" else []
        at = next((n for n, b in enumerate(first) if _is_facts(b)), len(first))
        self.opening = first[:at]
        gone = messages[0:begin]
        self.words = [b for b in own_words(gone) if b not in self.opening]
        self.gone, self.tail = gone, list(messages[begin:])
        self.facts = extract(gone)
        before = _facts_text(messages)
        self.count = (heading(before).messages if before else 0) + begin - bool(first)
        stays = characters(self.opening) + characters(self.words) + _size(self.tail)
        self.room = target - stays
        gone_for = max(0, held - stays - taken_out(self.tail))
        self.heading = Heading(self.count, len(self.tail), gone_for, target)
        self.kept_paths = {p for m in self.tail for p in named(m)}
        self.kept_paths |= {
            p for b in (*self.opening, *self.words) if b.get("type") == "text"
            for p in paths(text_of(b))
        }  # fmt: skip
        self.essential = self._essential(self.facts)

    def least(self) -> int:
        """The characters that are left at least."""
        return self.heading.target - self.room + len(render(self.essential, self.heading))

    def summary(self, writer: Writer | None) -> Summary:
        """The messages with the facts in place of those that go."""
        filled = self.filled()
        written = writer(filled, self.gone) if writer else ""
        if written:
            filled = with_written(filled, written)
            filled = replace(filled, mentioned=self._unnamed(filled, self.facts))
        block = text_block(render(filled, self.heading))
        first: Message = {"role": "user", "content": [*self.opening, block, *self.words]}
        return Summary((first, *self.tail), self.count, filled)

    def _essential(self, whole: KeyFacts) -> KeyFacts:
        """What has to stay: files, errors, paths, and a few of everything else."""
        chosen = KeyFacts(
            written=whole.written,
            decisions=whole.decisions[-LEAST:],
            files=whole.files,
            commands=whole.commands[-LEAST:],
            errors=_fitting(whole.errors, ERRORS),
            open=whole.open[-LEAST:],
        )
        return replace(chosen, mentioned=self._unnamed(chosen, whole))

    def _unnamed(self, chosen: KeyFacts, whole: KeyFacts) -> tuple[str, ...]:
        """The paths that would be gone."""
        text = render(replace(chosen, mentioned=()), self.heading)
        known = self.kept_paths | set(paths(text)) | {path for path, _ in chosen.files}
        return _fitting([path for path in whole.mentioned if path not in known], LISTED)

    def filled(self) -> KeyFacts:
        """The essential facts and as much of the rest as there is room for."""
        whole, chosen = self.facts, self.essential
        room = self.room - len(render(chosen, self.heading))
        for field in ("errors", "commands", "open", "decisions"):
            has = getattr(chosen, field)
            used = sum(map(_length, has))
            more = _fitting(getattr(whole, field), room + used)
            if len(more) > len(has):
                room -= sum(map(_length, more)) - used
                changed: dict[str, Any] = {field: more}
                chosen = replace(chosen, **changed)
        return replace(chosen, mentioned=self._unnamed(chosen, whole))


def _beginning(messages: Sequence[Message], keep: int) -> int | None:
    """Where at least `keep` newest messages begin with the assistant's turn; None when nothing
    beside the first message would be replaced."""
    begin = max(0, len(messages) - max(keep, 1))
    while begin > 1 and messages[begin]["role"] != "assistant":
        begin -= 1
    return begin if begin > 1 else None


def _size(messages: Sequence[Message]) -> int:
    return sum(characters(blocks_of(message)) for message in messages)


def _fitting(entries: Sequence[Entry], room: int) -> tuple[Entry, ...]:
    """The newest entries that fit, in their order."""
    chosen = []
    for each in reversed(entries):
        room -= _length(each)
        if room < 0:
            break
        chosen.append(each)
    return tuple(reversed(chosen))


def _length(entry: Entry) -> int:
    return len(entry) + 3 if isinstance(entry, str) else sum(map(len, entry)) + 8


def _is_facts(block: Block) -> bool:
    return block.get("type") == "text" and is_key_facts(text_of(block))


def _facts_text(messages: Iterable[Message]) -> str | None:
    for message in messages:
        return next((text_of(b) for b in blocks_of(message) if _is_facts(b)), None)
    return None


def model_writer(model: Model, paid: Callable[[Reply], object], allowed: int = LONGEST) -> Writer:
    """A writer that asks `model`; `paid` hears of the reply. `allowed` are the tokens that may be
    written; none are asked for below what an account needs."""

    def write(facts: KeyFacts, messages: Sequence[Message]) -> str:
        if allowed < LONGEST:
            return ""
        text = render(facts, Heading(len(messages), 0, 0, 0))
        opening = render_prompt(TEMPLATE, {"facts": text, "messages": shown(messages)})
        thread: Message = {"role": "user", "content": list(opening)}
        try:
            reply = model.complete(ModelRequest((), (), (thread,), LONGEST))
        except ModelError as error:
            if any(error.billed.values()):  # what was cut on the way is paid all the same
                paid(Reply((), "error", Usage(**error.billed)))
            return ""
        paid(reply)
        return reply.text.strip() if _complete(reply) else ""

    return write


def shown(messages: Sequence[Message]) -> str:
    """The messages as text, each block cut, the newest that fit."""
    room, parts = SHOWN, list[str]()
    for message in reversed(messages):
        blocks = blocks_of(message)
        text = "\n".join(filter(None, (words_of(block)[:SHOWN_BLOCK] for block in blocks)))
        room -= len(text)
        if room < 0:
            break
        results = any(block.get("type") == "tool_result" for block in blocks)
        parts.append(f"[{'tool' if results else message['role']}]\n{text}")
    return "\n\n".join(reversed(parts))


def _complete(reply: Reply) -> bool:
    return reply.stop_reason == "end_turn" and all(each in reply.text for each in HEADINGS)
