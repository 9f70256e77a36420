"""What compaction saves and what it keeps, how good estimates are, and how many tokens are wasted.

Measured on the transcripts in the folder that FOUNDRY_TRANSCRIPTS names: JSON files of Messages-API
messages, or objects with `messages`, and where they are known `system`, `tools` and `usage` (for
each reply in its order `prompt_tokens` and `output_tokens`). Without it on rehearsed ones, whose
figures say little about real work.

Findable: stands word for word in the messages that are left. Looked for are every path in any
block, every line of a result that tells of an error, every failed call's answer, and every text
block of the person, the goal among them.

Waste: the characters of tool results (200 or more) of which a later result has the same text, or
which read what was read or written again later, or which were followed by three replies or more of
which none, in words or arguments, has any word of five letters or more that the result brought into
the conversation.
"""

import json
import os
import re
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foundry.conversation.compaction.key_facts import errors, paths
from foundry.conversation.compaction.masking import SHORT, is_masked, outdated
from foundry.conversation.compaction.pipeline import Goal, compact, size
from foundry.conversation.compaction.tool_calls import Exchange, blocks_of, exchanges, words_of
from foundry.conversation.context_meter import Calibrator, ContextMeter
from foundry.model.rehearsal.billing import count_output
from foundry.model.rehearsal.billing import measure as measure_prompt
from foundry.schema.messages import Message, Reply, Usage, text_block
from foundry.store.transcripts import Transcript, read_transcript
from scripts.benchmarks.builds import WorkingBuild, run_build
from scripts.benchmarks.figure import Figure

FOLDER = "FOUNDRY_TRANSCRIPTS"
TARGET = 0.3
MEGABYTE = 1_000_000
ROUNDS = 5
HEARD = 3
"""Replies after which a result that nobody referred to counts as wasted."""

_WORD = re.compile(r"[A-Za-z_]\w{4,}")


@dataclass(frozen=True)
class Sample:
    """A transcript, and for each reply what its request and itself had in tokens."""

    name: str
    given: Transcript
    usage: tuple[tuple[int, int], ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.given.messages


def measure() -> list[Figure]:
    folder = os.environ.get(FOLDER, "")
    samples = list(_read(Path(folder))) if folder else list(_rehearsed())
    assert samples, f"{FOLDER}={folder}: there are no transcripts"
    kind = f"{len(samples)} transcripts" if folder else f"{FOLDER} is not set: rehearsed"
    return [*_savings(samples, kind), _speed(samples), *_estimates(samples), _waste(samples)]


def _savings(samples: Sequence[Sample], kind: str) -> Iterator[Figure]:
    saved, found, wanted = [], 0, 0
    for sample in samples:
        before = size(sample.messages)
        done = compact(sample.messages, Goal(int(before * TARGET)))
        saved.append(100 * (1 - done.after / before))
        text = _text(done.messages)
        looked_for = _essentials(sample.messages)
        wanted += len(looked_for)
        found += sum(each in text for each in looked_for)
    spread = f"{kind}; {min(saved):.0f} to {max(saved):.0f}%"
    yield Figure("tokens saved by compaction to 0.3, median", statistics.median(saved), "%", 60,
                 True, spread)  # fmt: skip
    yield Figure("paths, errors and the person's words kept", 100 * found / wanted, "%", 100, True,
                 f"{found:,} of {wanted:,}")  # fmt: skip


def _speed(samples: Sequence[Sample]) -> Figure:
    thread = _joined(samples, MEGABYTE)
    took = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        compact(thread, Goal(int(size(thread) * TARGET)))
        took.append(time.perf_counter() - begun)
    detail = f"{len(json.dumps(thread)):,} bytes, {len(thread):,} messages"
    return Figure(
        "compacting a transcript of 1 MB", statistics.median(took), " s", 1, detail=detail
    )


def _estimates(samples: Sequence[Sample]) -> Iterator[Figure]:
    """How far the tokens of a request were off before it was sent, from the second one on."""
    calibrator, whole, added = Calibrator(), list[float](), list[float]()
    for sample in samples:
        if not sample.usage:
            continue
        meter = ContextMeter(sample.name, "", 200_000, 60_000, calibrator)
        first, *rest = sample.messages
        system = sample.given.system
        fixed = [text_block(system)] if isinstance(system, str) and system else list(system)
        meter.open([*fixed, *sample.given.tools], blocks_of(first))
        usage = iter(sample.usage)
        for message in rest:
            if message["role"] == "user":
                meter.add({"role": "user", "content": blocks_of(message)})
                continue
            prompt, output = next(usage, (0, 0))
            if not prompt:
                break
            if meter.state.reported is not None:
                whole.append(100 * abs(meter.tokens - prompt) / prompt)
                new = prompt - meter.state.reported
                if new > 50:
                    added.append(100 * abs(meter.tokens - prompt) / new)
            counted = Usage(input_tokens=prompt, output_tokens=output)
            meter.count(Reply(tuple(blocks_of(message)), "tool_use", counted))
    if whole:
        worst = f"{len(whole)} requests; 90% within {statistics.quantiles(whole, n=10)[-1]:.1f}%"
        worst += f"; of what was added alone {statistics.median(added):.0f}% off"
        yield Figure("estimate against recorded usage, median", statistics.median(whole), "%", 3,
                     detail=worst)  # fmt: skip


def _waste(samples: Sequence[Sample]) -> Figure:
    before, after = [], []
    for sample in samples:
        wasted = _wasted(sample.messages)
        done = compact(sample.messages, Goal(int(size(sample.messages) * TARGET)))
        before.append(100 * _held(sample.messages, wasted) / size(sample.messages))
        after.append(100 * _held(done.messages, wasted) / max(1, done.after))
    detail = (
        f"median; before {statistics.median(before):.0f}%; mean {statistics.mean(after):.1f}%, "
    )
    detail += f"before {statistics.mean(before):.0f}%; most {max(after):.0f}%"
    return Figure(
        "wasted tokens after compaction", statistics.median(after), "%", 10, detail=detail
    )


def _wasted(messages: Sequence[Message]) -> set[str]:
    """The ids of the calls whose results are wasted."""
    found = {_id(messages, each) for each, _ in outdated(messages)}
    replies = [n for n, message in enumerate(messages) if message["role"] == "assistant"]
    for exchange in exchanges(messages):
        later = [number for number in replies if number > exchange.message]
        if len(later) < HEARD or exchange.is_error:
            continue
        known = set(_WORD.findall(_text(messages[: exchange.message])))
        new = set(_WORD.findall(exchange.text)) - known
        said = set(_WORD.findall(_text([messages[number] for number in later])))
        if not new & said:
            found.add(_id(messages, exchange))
    return found


def _held(messages: Sequence[Message], wasted: set[str]) -> int:
    """The characters that wasted results still have."""
    return sum(
        len(exchange.text)
        for exchange in exchanges(messages)
        if _id(messages, exchange) in wasted
        and len(exchange.text) >= SHORT
        and not is_masked(exchange.text)
    )


def _id(messages: Sequence[Message], exchange: Exchange) -> str:
    return str(blocks_of(messages[exchange.message])[exchange.block]["tool_use_id"])


def _essentials(messages: Sequence[Message]) -> set[str]:
    found = set(paths(_text(messages)))
    for exchange in exchanges(messages):
        found |= set(errors(exchange.text, source=exchange.shows_source))
        if exchange.is_error:
            found.add(exchange.text.strip())
    for message in messages:
        if message["role"] == "user":
            found |= {b["text"] for b in blocks_of(message) if b["type"] == "text"}
    return found - {""}


def _text(messages: Sequence[Message]) -> str:
    return "\n".join(words_of(block) for message in messages for block in blocks_of(message))


def _joined(samples: Sequence[Sample], least: int) -> list[Message]:
    """All of them one after the other, over and over until the thread is long enough."""
    thread: list[Message] = []
    length = number = 0
    while length < least:
        sample = samples[number % len(samples)]
        number += 1
        text = json.dumps(sample.messages)
        length += len(text)
        renamed = re.sub(r'("(?:tool_use_)?id": ")', rf"\g<1>{number}-", text)
        if thread and thread[-1]["role"] == "user":
            thread.append({"role": "assistant", "content": [text_block("Next.")]})
        thread += json.loads(renamed)
    return thread


def _read(folder: Path) -> Iterator[Sample]:
    for path in sorted(folder.glob("*.json*")):
        document: Any = json.loads(path.read_text()) if path.suffix == ".json" else {}
        usage = document.get("usage", ()) if isinstance(document, dict) else ()
        counts = tuple((each["prompt_tokens"], each["output_tokens"]) for each in usage)
        yield Sample(path.stem, read_transcript(path), counts)


def _rehearsed() -> Iterator[Sample]:
    """The conversations of a rehearsed build, each as its last request holds it."""
    built = run_build(WorkingBuild(tasks=5, size="large"), keep=None)
    assert built.summary.status == "verified", built.ended
    bodies = [each.body for each in built.requests if each.path.endswith("/messages")]
    usage: list[tuple[int, int]] = []
    for number, body in enumerate(bodies):
        following: Sequence[Any] = bodies[number + 1]["messages"] if bodies[number + 1 :] else ()
        prompt = measure_prompt(body).tokens
        if len(following) > len(body["messages"]):
            usage.append((prompt, count_output(following[-2]["content"])))
            continue
        given = Transcript(tuple(body["messages"]), tuple(body["system"]), tuple(body["tools"]))
        yield Sample(f"rehearsed {number}", given, tuple(usage))
        usage = []
