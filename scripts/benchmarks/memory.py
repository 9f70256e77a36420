"""The memory: what accumulated summaries save, how fast it stores and finds, and that nothing is
lost when eight processes write at once.

Savings are measured on the transcripts in the folder that FOUNDRY_TRANSCRIPTS names (messages of
the Messages API), without it on rehearsed ones. Turns of all of them follow each other until there
are enough. Saved at turn N: what a prompt holds of the N turns before it, against all of their
snapshots, each with its task. Entries for speed are excerpts of Python's own library: a docstring
is what was said, some lines are what was read.
"""

import os
import random
import re
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from pathlib import Path

from foundry.conversation.compaction.tool_calls import blocks_of, words_of
from foundry.conversation.memory.accumulate import BUDGET, accumulated
from foundry.conversation.memory.summarise import summary
from foundry.conversation.memory.turns import facts_of, said, size, turn_snapshot
from foundry.engine.run_memory import MAX_TASK
from foundry.model.tokens import CHARACTERS_PER_TOKEN, characters
from foundry.schema.memory import CallMade, ContextSnapshot, Draft, Moment, Touched
from foundry.schema.messages import Message
from foundry.store.memory.store import ContextMemoryStore
from foundry.store.transcripts import read_transcript
from scripts.benchmarks import memory_recall
from scripts.benchmarks.builds import WorkingBuild, run_build
from scripts.benchmarks.figure import Figure

FOLDER = "FOUNDRY_TRANSCRIPTS"
ENTRIES, PROCESSES, MORE, SEARCHES = 100_000, 8, 400, 300
AT, LONG = (10, 20, 100, 1000), 20
START = datetime(2026, 1, 1, tzinfo=UTC)

_DOCSTRING = re.compile(r'"""(.{40,600}?)"""', re.S)


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply with the results of its calls, and what stood open before it.

    `messages` are the reply and the results; `tokens` what sending the whole context again as it
    was then would cost, estimated.
    """

    number: int
    messages: tuple[Message, ...]
    tokens: int


def turns(messages: Sequence[Message], per_token: float = CHARACTERS_PER_TOKEN) -> Iterator[Turn]:
    """The turns of a conversation, in their order."""
    length, number, held = 0, 0, list[Message]()
    for message in messages:
        if message["role"] == "assistant":
            if held:
                yield Turn(number, tuple(held), int(length / per_token))
            number, held = number + 1, []
        if number:
            held.append(message)
        length += characters(blocks_of(message))
    if held:
        yield Turn(number, tuple(held), int(length / per_token))


def measure() -> list[Figure]:
    return [*_savings(), *_speed(), *memory_recall.measure()]


def _savings() -> Iterator[Figure]:
    folder = os.environ.get(FOLDER, "")
    threads = list(_read(Path(folder)) if folder else _rehearsed())
    kind = f"{len(threads)} transcripts" if folder else f"{FOLDER} is not set: rehearsed"
    full, sent, sizes = _counts((t, turn) for t in cycle(threads) for turn in turns(t))
    for at in AT:
        detail = f"{kind}, one after the other; {sent[at - 1]:,} tokens, not {sum(full[:at]):,}"
        yield Figure(f"tokens saved by accumulated summaries, {at:,} turns",
                     100 * (1 - sent[at - 1] / sum(full[:at])), "%", 96 if at >= LONG else None,
                     least=True, detail=detail)  # fmt: skip
    alone = list(_alone(threads))
    if alone:
        detail = f"{len(alone)} transcripts; {min(alone):.1f} to {max(alone):.1f}%"
        yield Figure(f"... {LONG} turns of one transcript, median", statistics.median(alone), "%",
                     96, least=True, detail=detail)  # fmt: skip
    yield Figure("most tokens of accumulated summaries", max(sent), "", BUDGET,
                 detail=f"a summary has {statistics.median(sizes)} (median)")  # fmt: skip


def _alone(threads: Iterable[Sequence[Message]]) -> Iterator[float]:
    """What is saved at turn 20 of each transcript that is so long."""
    for thread in threads:
        first = list(islice(turns(thread), LONG))
        if len(first) == LONG:
            full, sent, _ = _counts((thread, turn) for turn in first)
            yield 100 * (1 - sent[-1] / sum(full))


def _counts(
    given: Iterable[tuple[Sequence[Message], Turn]],
) -> tuple[list[int], list[int], list[int]]:
    """For each turn the tokens of its snapshot, and those of the accumulated summaries after it;
    and the tokens of each summary."""
    full, sent, sizes = list[int](), list[int](), list[int]()
    with tempfile.TemporaryDirectory(prefix="foundry-memory-") as folder:
        store = ContextMemoryStore(Path(folder) / "memory.db")
        for number, (thread, turn) in enumerate(islice(given, max(AT)), 1):
            task = "\n".join(words_of(block) for block in blocks_of(thread[0]))[:MAX_TASK]
            snapshot = turn_snapshot(turn.messages, task=task)
            at = START + timedelta(minutes=number)
            told = summary(said(turn.messages), facts_of(turn.messages))
            moment = Moment(run="r", phase="builder", step="builder[1]", conversation="c",
                            turn=number, began=at, ended=at, tokens=size(snapshot),
                            snapshot=snapshot)  # fmt: skip
            store.store(moment, told)
            sizes.append(told.tokens)
            full.append(size(snapshot))
            sent.append(int(len(accumulated(store.past("c"))) / CHARACTERS_PER_TOKEN))
        store.close()
    return full, sent, sizes


def _read(folder: Path) -> Iterator[Sequence[Message]]:
    for path in sorted(folder.glob("*.json*")):
        yield read_transcript(path).messages


def _rehearsed() -> Iterator[Sequence[Message]]:
    """The conversations of a rehearsed build, each as its last request holds it."""
    built = run_build(WorkingBuild(tasks=5, size="large"), keep=None)
    threads = [each.body["messages"] for each in built.requests if each.path.endswith("/messages")]
    for thread, following in zip(threads, [*threads[1:], []], strict=True):
        if len(following) <= len(thread):
            yield thread


def _speed() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="foundry-memory-") as folder:
        path = Path(folder) / "memory.db"
        share = ENTRIES // PROCESSES
        begun = time.perf_counter()
        writers = [
            subprocess.Popen([sys.executable, "-m", "scripts.benchmarks.memory", str(path),
                              str(number * share), str(share)])
            for number in range(PROCESSES)
        ]  # fmt: skip
        failed = sum(writer.wait() != 0 for writer in writers)
        took = time.perf_counter() - begun
        store = ContextMemoryStore(path)
        stats = store.stats()
        lost = PROCESSES * share - stats.entries
        yield Figure(f"lost of {ENTRIES:,} turns that {PROCESSES} processes store at once",
                     lost + failed, "", 0, detail=f"{took:.0f} s, {stats.file_bytes / 1e6:.0f} MB, "
                     f"{stats.original_bytes / 1e6:.0f} MB of originals")  # fmt: skip
        seconds = _stored(store, ENTRIES, MORE)
        yield Figure("storing a turn beside them, p50", 1000 * statistics.median(seconds), " ms", 5,
                     detail=f"mean {1000 * statistics.mean(seconds):.1f} ms, "
                     f"most {1000 * max(seconds):.0f} ms")  # fmt: skip
        searches, work = zip(*_searched(store), strict=True)
        spread = statistics.quantiles(searches, n=20)
        yield Figure("search, p50", 1000 * statistics.median(searches), " ms", 20,
                     detail=f"p95 {1000 * spread[-1]:.0f} ms; processor time p50 "
                     f"{1000 * statistics.median(work):.1f} ms; two to four words")  # fmt: skip
        store.close()


def _stored(store: ContextMemoryStore, first: int, count: int) -> list[float]:
    seconds = []
    for moment, told in moments(first, count):
        begun = time.perf_counter()
        store.store(moment, told)
        seconds.append(time.perf_counter() - begun)
    return seconds


def _searched(store: ContextMemoryStore) -> list[tuple[float, float]]:
    """Of each search the seconds that passed, and those of the processor."""
    chance, seconds = random.Random(7), []
    for moment, _ in moments(5, SEARCHES):
        words = re.findall(r"[A-Za-z]{4,}", moment.snapshot.said) or ["file"]
        query = " ".join(chance.sample(words, min(len(words), chance.randint(2, 4))))
        begun, worked = time.perf_counter(), time.process_time()
        store.search(query)
        seconds.append((time.perf_counter() - begun, time.process_time() - worked))
    return seconds


def moments(first: int, count: int) -> Iterator[tuple[Moment, Draft]]:
    """Turns from excerpts of Python's own library, always the same."""
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("[a-z]*.py"))
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in files]
    lines = [text.split("\n") for text in texts]
    told = [words for text in texts for words in _DOCSTRING.findall(text)]
    for number in range(first, first + count):
        chance = random.Random(number)
        place = chance.randrange(len(files))
        start = chance.randrange(max(1, len(lines[place]) - 60))
        excerpt = "\n".join(lines[place][start : start + chance.randint(10, 90)])
        path = f"lib/{files[place].name}"
        snapshot = ContextSnapshot(
            task=f"Task {number // 40} of the build: {told[number // 40 % len(told)]}",
            said=chance.choice(told),
            calls=(CallMade(tool="read_file", arguments={"path": path}, result=excerpt),),
            files=(Touched(path=path, deeds="read"),),
        )
        at = START + timedelta(minutes=number)
        moment = Moment(run=f"run-{number // 2000}", phase="builder", step=f"s{number // 40}",
                        conversation=f"c{number // 40}", turn=number % 40 + 1, began=at, ended=at,
                        tokens=size(snapshot), snapshot=snapshot)  # fmt: skip
        yield moment, Draft(text=snapshot.said[:200], tokens=60)


if __name__ == "__main__":
    with ContextMemoryStore(Path(sys.argv[1])) as shared:
        _stored(shared, int(sys.argv[2]), int(sys.argv[3]))
