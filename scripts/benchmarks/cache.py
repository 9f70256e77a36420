"""Prompt-cache reads as a share of all input tokens, over the tasks of one build.

Billed by the rehearsal's prefix rules, which have no time to live: what a pause of minutes between
two requests costs is not in it. Artifacts and files have the sizes of real ones, and the tasks
three shapes: few turns, many turns, and many calls in one reply. None grows so far that room is
made in it, which writes the rest of a conversation's cache anew.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from foundry.model.rehearsal.billing import Ledger
from foundry.model.rehearsal.billing import measure as measure_prompt
from foundry.model.rehearsal.script import Turn, call, say, turn
from foundry.model.rehearsal.server import Recorded
from foundry.schema.messages import Block, Usage
from scripts.benchmarks.builds import run_build
from scripts.benchmarks.figure import Figure
from tests.support.builds import git
from tests.support.rehearsals import SmallBuild, run, submit

TASKS = 20
GOAL = 80.0

MODULE, TEST, OUTPUT = 6_000, 4_000, 2_500
"""Characters of a module, of its test, and of what a test run prints."""

SUMMARY = (
    "The module validates its input, keeps its records in one table and answers in JSON; a wrong "
    "record is an error that names its field. Others call it through its public functions alone."
)


@dataclass(frozen=True)
class RealisticBuild(SmallBuild):
    """A plan of twenty tasks, each described, designed and reported as real ones are."""

    tasks: int = TASKS
    size: str = "medium"
    work: Callable[[int], Iterable[Turn]] = lambda _: ()

    def scout(self) -> list[Turn]:
        scouted, submitted = super().scout()
        payload = dict(submitted.content[0]["input"])
        payload["summary"] = _prose(1_000)
        payload["findings"] = [_prose(220) for _ in range(12)]
        payload["conventions"] = [_prose(120) for _ in range(6)]
        return [scouted, submit(**payload)]

    def architect(self) -> list[Turn]:
        (planned,) = super().architect()
        payload = dict(planned.content[0]["input"])
        payload["overview"] = _prose(4_000)
        payload["decisions"] = [_prose(250) for _ in range(10)]
        payload["plan"]["components"] = [
            {"name": f"part {n}", "design": _prose(1_200), "files": [_module(n)]}
            for n in range(1, self.tasks + 1)
        ]
        return [submit(**payload)]

    def task(self, number: int) -> dict[str, object]:
        return {
            **super().task(number),
            "description": _prose(900),
            "files": [_module(number), f"test_{number}.txt"],
            "verify": f"test -s {_module(number)}",
        }

    def builder(self, number: int) -> list[Turn]:
        greeting = turn(call("write_file", path=f"hello-{number}.txt", content="hello\n"),
                        call("write_file", path="test.sh", content="exit 0\n"))  # fmt: skip
        return [*self.work(number), greeting, submit(summary=SUMMARY, notes=[_prose(150)])]


def measure() -> list[Figure]:
    figures = []
    for name, work, existing in SHAPES:
        built = run_build(
            RealisticBuild(work=work), keep=None, prepare=_existing if existing else None
        )
        assert built.summary.status == "verified", built.ended
        whole, first = _billed(built.requests)
        assert whole == built.summary.tokens.model_copy(update={"output_tokens": 0})
        turns = sum(each.turns for each in built.summary.conversations)
        detail = (
            f"{whole.cache_read_tokens:,} of {whole.prompt_tokens:,} tokens in {turns} turns; of a "
            f"later task's first request {_share(first):.0f}%"
        )
        figures.append(
            Figure(f"cache reads of input, {name}", _share(whole), "%", GOAL, True, detail)
        )
    return figures


def _billed(requests: Sequence[Recorded]) -> tuple[Usage, Usage]:
    """The bill of all requests, and of those alone that begin the second task and later ones."""
    ledger, first = Ledger(), Usage()
    for request in requests:
        usage = ledger.charge(measure_prompt(request.body), 0)
        opening = request.body["messages"][0]["content"][-1]["text"]
        later = re.search(r"^# Step: builder\[(?!1\])", opening, re.MULTILINE)
        if later and len(request.body["messages"]) == 1:
            first += usage
    return ledger.total, first


def _share(usage: Usage) -> float:
    return 100 * usage.cache_read_tokens / usage.prompt_tokens


def _few(number: int) -> Iterator[Turn]:
    """Look once, write all, test once."""
    yield _look(number, 2)
    yield turn(_write(number), _write_test(number))
    yield _tested()


def _ordinary(number: int) -> Iterator[Turn]:
    """Look around, write, test, mend, test."""
    yield turn(say(_prose(300)), call("list_files"), call("search_text", pattern="record 1"))
    yield _look(number, 2)
    yield turn(say(_prose(200)), _write(number))
    yield turn(_write_test(number))
    yield _tested()
    mended = f"# {number}, mended\n{_code(number, 800)}"
    edit = call("edit_file", path=_module(number), old=f"# {number}\n", new=mended)
    yield turn(say(_prose(200)), edit)
    yield _tested()


def _at_once(number: int) -> Iterator[Turn]:
    """Everything there is in one reply, as the system prompt asks."""
    yield _look(number, 11)
    yield from _few(number)
    yield _look(number, 11)
    yield _tested()


SHAPES = (
    ("20 tasks of 5 turns", _few, False),
    ("20 tasks of 9 turns", _ordinary, False),
    ("20 tasks with 11 calls in a reply", _at_once, False),
    ("20 tasks in an existing project", _ordinary, True),
)


def _look(number: int, files: int) -> Turn:
    """Read the newest files of those before, or the plan where there are none."""
    there = [_module(n) for n in range(max(1, number - files), number)] or ["test.sh"]
    reads = [call("read_file", path=path) for path in there]
    return turn(say(_prose(150)), *reads, *(call("list_files") for _ in range(files - len(reads))))


def _tested() -> Turn:
    return run(f"yes 'a line of what a test run prints: ok' | head -c {OUTPUT}")


def _write(number: int) -> Block:
    text = f"# {number}\n{_code(number, MODULE)}"
    return call("write_file", path=_module(number), content=text)


def _write_test(number: int) -> Block:
    return call("write_file", path=f"test_{number}.txt", content=_code(number, TEST))


def _module(number: int) -> str:
    return f"part_{number}.txt"


def _code(number: int, length: int) -> str:
    lines = (f"record {n} of part {number} is checked here\n" for n in range(length))
    return _cut(lines, length)


def _prose(length: int) -> str:
    lines = (f"Sentence {n} says what somebody has to know. " for n in range(length))
    return _cut(lines, length).strip()


def _cut(pieces: Iterator[str], length: int) -> str:
    text = ""
    while len(text) < length:
        text += next(pieces)
    return text


def _existing(folder: Path) -> None:
    """A project with modules that import each other, and rules of its own."""
    folder.mkdir()
    for n in range(1, 61):
        uses = f"from module_{max(1, n - 1)} import Part{n}"
        code = f"def record_{n}(value):\n    return value\n\n\nclass Part{n}:\n    pass"
        text = f'"""{_prose(900)}"""\n\n{uses}\n\n\n{code}\n'
        (folder / f"module_{n}.py").write_text(text)
    (folder / "AGENTS.md").write_text(f"# Rules\n\n{_prose(3_000)}\n")
    (folder / "README.md").write_text(f"# Parts\n\n{_prose(1_500)}\n")
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "Begin")
