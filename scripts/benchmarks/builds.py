"""Rehearsed builds of any number of tasks, shaped like real ones: read, write, test, submit."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from foundry.engine.runner import Ended
from foundry.engine.session import RunObserver, build
from foundry.model.rehearsal.script import Turn, call, say, turn
from foundry.model.rehearsal.server import Recorded, RehearsalServer
from foundry.schema.events import Event
from foundry.schema.run import Limits, RunOptions
from foundry.schema.summary import SessionSummary
from tests.support.rehearsals import SPEC, SmallBuild, run, submit

FILE_LINES = 120
"""Lines of a written module: about 5 KB."""


@dataclass(frozen=True)
class WorkingBuild(SmallBuild):
    """Tasks that look at a file, write a module and its test, run tests twice and submit."""

    def builder(self, number: int) -> list[Turn]:
        body = "\n".join(f"echo 'hello {number} line {n}: a line of a module'" for n in
                         range(FILE_LINES))  # fmt: skip
        look = f"hello-{number - 1}.txt" if number > 1 else ".context-foundry/tasks.json"
        return [
            turn(say("I look at what is there."), call("read_file", path=look), call("list_files")),
            turn(call("write_file", path=f"hello-{number}.txt", content=f"hello {number}\n{body}")),
            turn(call("write_file", path="test.sh", content=_CHECK + body)),
            run("sh test.sh | tail -n 60"),
            turn(
                call("edit_file", path=f"hello-{number}.txt", old=f"hello {number}\n",
                     new=f"hello {number}, again\n"),
            ),
            run("sh test.sh | tail -n 60"),
            submit(summary=f"hello-{number}.txt greets in {FILE_LINES} lines; test.sh checks it."),
        ]  # fmt: skip


_CHECK = "head -n 1 hello-1.txt | grep -q '^hello' || exit 1\n"


@dataclass(frozen=True)
class Built:
    """A finished build: how it ended, its summary, and what was asked of the model."""

    ended: Ended
    summary: SessionSummary
    requests: tuple[Recorded, ...]


def run_build(
    script: SmallBuild,
    *,
    keep: int | None = 0,
    observe: Callable[[Event], None] | None = None,
    prepare: Callable[[Path], None] | None = None,
) -> Built:
    """Run a whole build in a temporary folder; `prepare` makes an existing project of it."""
    with (
        tempfile.TemporaryDirectory(prefix="foundry-bench-", ignore_cleanup_errors=True) as folder,
        RehearsalServer(script(), keep=keep) as server,
    ):
        root = Path(folder) / "project"
        if prepare:
            prepare(root)
        os.environ.setdefault("GIT_AUTHOR_NAME", "Bench")
        options = RunOptions(
            spec=SPEC,
            folder=root,
            model="claude-sonnet-5-5",
            base_url=server.url,
            limits=Limits(max_usd=10_000),
            identity=("Bench", "bench@foundry.invalid"),
        )
        ended = build(options, RunObserver(observe or (lambda _event: None)))
        (summary,) = Path(folder).glob("**/.context-foundry/session-summary.json")
        read = SessionSummary.model_validate_json(summary.read_text())
        return Built(ended, read, server.requests)
