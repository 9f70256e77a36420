"""The tool with which a conversation gets back what earlier turns and steps had: the originals."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from pydantic import Field

from foundry.errors import ProjectError, ToolError
from foundry.schema.memory import RECALL, Filter, Head, MemoryEntry, Sought
from foundry.tools.base import Arguments, Tool
from foundry.tools.toolset import Workbench

NAME = RECALL
BUDGET = 4_000
"""Tokens of one answer."""

CHARACTERS_PER_TOKEN = 3.5
FOUND = 5
"""Entries that keywords bring."""

_TAG = re.compile(r"<(?=\s*/\s*context\s*>|\s*context\s+id\s*=)", re.IGNORECASE)
_UNQUOTED = str.maketrans({'"': "'", "<": "(", ">": ")", "\n": " ", "\r": " "})

Heard = Callable[[Sequence[str]], object]
"""Hears which ids were recalled."""


class Memory(Protocol):
    """What the tool asks of a memory (store/memory/store.py)."""

    def get(self, entry_id: str) -> MemoryEntry | None:
        """The entry with this id, whole."""

    def turns(self, numbers: Sequence[int], conversation: str) -> list[MemoryEntry]:
        """The turns of a conversation with these numbers."""

    def search(self, sought: Sought | str, which: Filter = ..., limit: int = ...) -> list[Head]:
        """The entries that fit best."""


class RecallArguments(Arguments):
    """What is wanted back. The names are those of the public format."""

    turnNumbers: tuple[int, ...] = Field(
        (), max_length=20, description="Turns of this conversation, from 1."
    )
    contextIds: tuple[str, ...] = Field(
        (), max_length=20, description="Ids as they stand in brackets, such as ctx_3_…"
    )
    keywords: tuple[str, ...] = Field(
        (), max_length=20, description="Words to search the memory of this project for."
    )


def recall_tool(
    memory: Memory,
    conversation: str,
    *,
    budget: int = BUDGET,
    per_token: float = CHARACTERS_PER_TOKEN,
    heard: Heard = lambda _: None,
) -> Tool[RecallArguments]:
    """`recall_context` over a memory, answering within `budget` tokens.

    Turn numbers count in `conversation`. `heard` is given the ids of what is given back.
    """

    def call(arguments: RecallArguments) -> str:
        entries, missing = _wanted(memory, conversation, arguments)
        if not entries:
            raise ToolError(_nothing(arguments, missing))
        answer, shown = recalled(entries, int(budget * per_token), arguments.keywords)
        heard(shown)
        return "\n".join((answer, *missing))

    return Tool(
        NAME,
        "Get back what earlier turns and steps had and did: the originals themselves, with their "
        "ids. By the number of a turn of this conversation, by id, or by keywords.",
        RecallArguments,
        call,
        reads_only=True,
    )


def recall_context(workbench: Workbench) -> Tool[Any]:
    """The tool `recall_context` over the run's memory; raises ProjectError where there is none."""
    if workbench.recall is None:
        raise ProjectError("there is no memory that recall_context could read")
    return workbench.recall()


def recalled(
    entries: Sequence[MemoryEntry], most: int, keywords: Iterable[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """Originals as text of at most `most` characters, and the ids of those that are in it.

    What does not fit is cut out of the longest texts, around the keywords, and the place says how
    much is missing; so several entries share the room, the first ones first.
    """
    words = [word.lower() for word in keywords if word.strip()]
    shown: list[str] = []
    texts: list[str] = []
    room = most
    for index, entry in enumerate(entries):
        share = room // (len(entries) - index)
        text = _entry(entry, share, words)
        if len(text) > room:
            break
        room -= len(text) + 1
        texts.append(text)
        shown.append(entry.id)
    rest = [entry.id for entry in entries[len(shown) :]]
    note = f"Left out for want of room: {', '.join(rest)}"
    if rest and len(note) <= room:
        texts.append(note)
    return "\n".join(texts), tuple(shown)


def _wanted(
    memory: Memory, conversation: str, arguments: RecallArguments
) -> tuple[list[MemoryEntry], list[str]]:
    """The entries, each once, and a line for whatever was asked for in vain."""
    found: dict[str, MemoryEntry] = {}
    missing: list[str] = []
    for entry_id in arguments.contextIds:
        entry = memory.get(entry_id.strip("[] "))
        if entry is None:
            missing.append(f"There is no {entry_id} in the memory.")
        else:
            found[entry.id] = entry
    turns = memory.turns(arguments.turnNumbers, conversation) if arguments.turnNumbers else []
    found.update((entry.id, entry) for entry in turns)
    absent = sorted(set(arguments.turnNumbers) - {entry.turn for entry in turns})
    missing += [f"This conversation has no stored turn {number}." for number in absent]
    if words := " ".join(arguments.keywords).strip():
        heads = memory.search(Sought(text=words), limit=FOUND)
        entries = (memory.get(head.id) for head in heads)
        found.update((entry.id, entry) for entry in entries if entry)
        if not heads:
            missing.append(f"Nothing in the memory speaks of {words!r}.")
    return list(found.values()), missing


def _nothing(arguments: RecallArguments, missing: Sequence[str]) -> str:
    if missing:
        return " ".join(missing)
    return "say what to recall: turnNumbers, contextIds or keywords"


def _entry(entry: MemoryEntry, most: int, words: Sequence[str]) -> str:
    """An original between tags that cite its id; texts are cut until it fits. Such tags can't occur
    inside, in whatever case and spacing: no text can pass for the end of one or for another."""
    parts = [(_defused(label), _defused(text)) for label, text in _parts(entry)]
    frame = "\n".join((_start(entry), *(_part(label, "") for label, _ in parts), "</context>"))
    shares = _shares([len(text) for _, text in parts], most - len(frame))
    lines = (_part(label, _cut(text, room, words)) for (label, text), room in
             zip(parts, shares, strict=True))  # fmt: skip
    return "\n".join((_start(entry), *lines, "</context>"))


def _start(entry: MemoryEntry) -> str:
    where = " ".join(
        f'{name}="{str(value).translate(_UNQUOTED)}"'
        for name, value in (
            ("id", entry.id), ("kind", entry.kind), ("turn", entry.turn), ("step", entry.step),
            ("run", entry.run), ("ended", f"{entry.ended:%Y-%m-%d %H:%M}"),
        )
        if value
    )  # fmt: skip
    return f"<context {where}>"


def _parts(entry: MemoryEntry) -> Iterable[tuple[str, str]]:
    """What an original is made of, labelled; the task last, which the reader most often knows."""
    snapshot = entry.snapshot
    if snapshot.said:
        yield "said", snapshot.said
    for call in snapshot.calls:
        yield f"call {call.tool}", _json(call.arguments)
        yield ("error" if call.failed else "result"), call.result
    if snapshot.decisions:
        yield "decisions", "\n".join(snapshot.decisions)
    if snapshot.files:
        yield "files", "\n".join(f"{each.path}: {each.deeds}" for each in snapshot.files)
    if snapshot.state:
        yield "state", _json(snapshot.state)
    if snapshot.task:
        yield "task", snapshot.task


def _defused(text: str) -> str:
    return _TAG.sub(r"<\\", text)


def _part(label: str, text: str) -> str:
    return f"[{label}]\n{text}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _shares(lengths: Sequence[int], room: int) -> list[int]:
    """How long each text may be: short ones whole, the rest of the room shared by the long."""
    shares = [0] * len(lengths)
    left, order = max(0, room), sorted(range(len(lengths)), key=lambda n: lengths[n])
    for index, number in enumerate(order):
        shares[number] = min(lengths[number], left // (len(order) - index))
        left -= shares[number]
    return shares


def _cut(text: str, most: int, words: Sequence[str]) -> str:
    """Text of at most `most` characters: whole, or around the first keyword, or its beginning and
    end; the place says how much is missing."""
    if len(text) <= most:
        return text
    gap = f"\n[… {len(text):,} characters in all, cut …]\n"
    room = most - 2 * len(gap)
    if room <= 0:
        return ""
    hit = _first(text, words)
    if hit is None:
        head = room * 2 // 3
        return f"{text[:head]}{gap}{text[len(text) - (room - head) :]}"
    start = max(0, min(hit - room // 3, len(text) - room))
    before = gap if start else ""
    after = gap if start + room < len(text) else ""
    return f"{before}{text[start : start + room]}{after}"


def _first(text: str, words: Sequence[str]) -> int | None:
    """Where the first of the keywords stands."""
    if not words:
        return None
    found = re.search("|".join(map(re.escape, words)), text, re.IGNORECASE)
    return found.start() if found else None
