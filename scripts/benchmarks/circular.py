"""Circular prompting on a remediation: 30 planted defects, until it is really done.

A rehearsed model mends one legacy call after the other: it searches, reads the first file that it
finds, edits it, runs the tests, searches again. It goes on until the harness ends its thread at
the threshold, and says done when a search finds nothing. It knows only what stands in its
conversation, so the same model plays in fresh threads and in one thread that is compacted at the
same threshold, or never. All are billed by the same rules, prefix cache included.

Fresh threads pay for what each of them has to read again: with a guide that every thread reads
before it begins, and the one thread only once, they may be dearer. That is measured, too.
"""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from foundry.circular.history import states_of
from foundry.circular.metrics import final_metrics, work
from foundry.circular.schema import IterationState
from foundry.circular.session import CircularOptions, new_run, shaped
from foundry.engine.pinned_workflow import PinnedWorkflow
from foundry.engine.runner import Ended
from foundry.engine.session import RunObserver, build
from foundry.engine.workspace import find
from foundry.model.prices import cost
from foundry.model.rehearsal.rules import blocks_of
from foundry.model.rehearsal.script import Turn, call, first_user_text, say, turn
from foundry.model.rehearsal.server import RehearsalServer
from foundry.schema.journal import Attempt, StepRecord
from foundry.schema.messages import Usage
from foundry.schema.run import Limits, RunOptions, Status
from foundry.schema.workflow import LoopStep, Workflow
from foundry.store import journal
from foundry.workflow.load import builtin
from scripts.benchmarks.figure import Figure

MODEL = "claude-sonnet-5-5"
DEFECTS = 30
FILE_LINES = 180
"""Lines of a file: about 7 KB."""

THRESHOLD = 0.07
"""Of the working window, so that a thread holds about three defects and the work takes ten."""

GUIDE_LINES = 150
"""Lines of the guide: about as many tokens as a defect takes."""

CHECK = "! grep -rn 'legacy_call' src"
TASK = "Replace every legacy_call by modern_call in src. Nothing else may change."


def measure() -> list[Figure]:
    fresh = _run("fresh", THRESHOLD)
    return [*_ends(fresh), *_tokens(fresh), *_with_guide()]


# -- figures ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A run that ended: its iterations, what is left in the project, and what was billed."""

    ended: Ended
    states: tuple[IterationState, ...]
    left: int
    usage: Usage
    peak: float

    @property
    def cost(self) -> float:
        return cost(MODEL, self.usage) or 0.0


def _ends(run: Run) -> Iterator[Figure]:
    """All fixed, verified, and how many iterations more than the defects needed."""
    threads = work(run.states)
    verified = run.ended.status is Status.VERIFIED
    metrics = final_metrics(run.states, complete=verified)
    yield Figure(
        f"circular: defects fixed of {DEFECTS}",
        DEFECTS - run.left,
        goal=DEFECTS,
        least=True,
        detail=f"{run.ended.status}: {run.ended.reason}",
    )
    yield Figure("circular: ended by itself and verified", float(verified), goal=1, least=True)
    last = max((state.number for state in threads if _mended(state)), default=0)
    yield Figure(
        "circular: iterations beyond the last one needed",
        len(threads) - last,
        goal=1,
        detail=f"{len(threads)} threads worked and {len(run.states) - len(threads)} doubted; "
        f"mended {[_mended(state) for state in threads]}; fullest window "
        f"{max(state.peak_context for state in run.states):.1%}; "
        f"{metrics.overall.total_tokens_consumed:,} tokens",
    )


def _mended(state: IterationState) -> int:
    return sum(path.startswith("src/") for path in state.files_modified)


def _tokens(fresh: Run) -> Iterator[Figure]:
    """What fresh threads cost against one thread; below zero where the one is cheaper."""
    yield _saved("compacted at the same threshold", fresh, _run("one", THRESHOLD))
    yield _saved("compacted at four times the threshold", fresh, _run("one", 4 * THRESHOLD))
    yield _saved("never compacted", fresh, _run("one", 1.0))


def _with_guide() -> Iterator[Figure]:
    fresh, one = (_run(kind, THRESHOLD, guided=True) for kind in ("fresh", "one"))
    yield _saved("compacted, each thread reads a guide first", fresh, one)


def _saved(name: str, fresh: Run, one: Run) -> Figure:
    assert fresh.left == one.left == 0, (fresh.ended, one.ended)
    mine, its = fresh.usage.prompt_tokens, one.usage.prompt_tokens
    detail = (
        f"{mine:,} tokens, ${fresh.cost:.2f} in {len(fresh.states)} threads against {its:,} "
        f"tokens, ${one.cost:.2f}: {_more(fresh.cost / one.cost)}; fullest windows "
        f"{fresh.peak:.1%} and {one.peak:.1%}"
    )
    saved = 100 * (1 - mine / its)
    return Figure(f"circular: input tokens saved, one thread {name}", saved, "%", detail=detail)


def _more(ratio: float) -> str:
    share = abs(ratio - 1)
    return f"circular is {share:.0%} {'dearer' if ratio > 1 else 'cheaper'}"


# -- runs ------------------------------------------------------------------------------------------


def _run(kind: str, threshold: float, *, guided: bool = False) -> Run:
    """The remediation in fresh threads, or in one that is compacted at the threshold."""
    with (
        tempfile.TemporaryDirectory(prefix="foundry-bench-", ignore_cleanup_errors=True) as folder,
        RehearsalServer(partial(remediate, guided=guided), keep=0) as server,
    ):
        root = _planted(Path(folder) / "project")
        options = RunOptions(
            folder=root,
            checks=(CHECK,),
            model=MODEL,
            base_url=server.url,
            limits=Limits(max_usd=10_000),
            identity=("Bench", "bench@foundry.invalid"),
        )
        run = new_run(CircularOptions(prompt=TASK, threshold=threshold), options)
        one = PinnedWorkflow(_in_one_thread(threshold))
        workflow = one if kind == "one" else run.workflow
        observer = RunObserver(lambda _event: None)
        ended = build(run.options, observer, workflow=workflow, own=run.own)
        project = find(root)
        entries = journal.read(project.journal)
        spends = [entry.spend for entry in entries if isinstance(entry, StepRecord | Attempt)]
        usage = sum((spend.usage for spend in spends), start=Usage())
        left = subprocess.run(
            ["grep", "-rl", "legacy_call", "src"],
            cwd=project.root, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return Run(
            ended,
            states_of(entries),
            len(left.stdout.splitlines()),
            usage,
            max(spend.context_share for spend in spends),
        )


def _in_one_thread(threshold: float) -> Workflow:
    """circular.yaml, but that the working thread makes room at its threshold and goes on."""
    workflow = shaped(builtin("circular"), threshold=threshold, max_iterations=3)
    steps = []
    for step in workflow.steps:
        if isinstance(step, LoopStep):
            body = tuple(
                each.model_copy(
                    update={"budget": each.budget.model_copy(
                        update={"on_full": "compact", "turns": 1000})}
                )
                if each.id == "work"
                else each
                for each in step.steps
            )  # fmt: skip
            step = step.model_copy(update={"body": body})  # noqa: PLW2901
        steps.append(step)
    return workflow.model_copy(update={"steps": tuple(steps)})


def _planted(root: Path) -> Path:
    """A committed project of as many files as there are defects, one in each."""
    for number in range(DEFECTS):
        lines = [f"def step_{number}_{n}(value): return value + {n}" for n in range(FILE_LINES)]
        lines[FILE_LINES // 2] = f"result = legacy_call({number})"
        path = root / "src" / f"module_{number:02}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
    (root / "test.sh").write_text(_TESTS)
    guide = (f"{n}. A modern call is made with care and checked twice." for n in range(GUIDE_LINES))
    (root / "GUIDE.md").write_text("\n".join(guide))
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "before")):
        subprocess.run(["git", *_WHO, *words], cwd=root, check=True, env={**os.environ})
    return root


_WHO = ("-c", "user.name=Bench", "-c", "user.email=bench@foundry.invalid")
_TESTS = 'for file in src/*.py; do echo "checked $file: it parses and its steps add up"; done\n'


# -- the rehearsed model ---------------------------------------------------------------------------


def remediate(request: Any, *, guided: bool) -> Turn:
    """The next turn, from the last result in the conversation alone."""
    name, arguments, result = _last(request)
    if guided and not name:
        return turn(call("read_file", path="GUIDE.md"))
    if name == "search_text":
        return _found(result, doubts="Prove it wrong" in first_user_text(request))
    if name == "read_file" and (defect := re.search(r"legacy_call\(\d+\)", result)):
        new = defect[0].replace("legacy", "modern")
        return turn(call("edit_file", path=arguments["path"], old=defect[0], new=new))
    if name == "edit_file":
        return turn(call("run_command", command="sh test.sh"))
    look = call("search_text", pattern="legacy_call", path="src")
    return turn(say("I look for what is left."), look)


def _found(result: str, *, doubts: bool) -> Turn:
    """After a search: the next file, or the verdict."""
    path = re.search(r"src/module_\d+\.py", result)
    if path is None:
        return _submit("done", "a search for legacy_call in src finds nothing")
    if doubts:
        return _submit("more", "a search finds more", remaining=[path[0]])
    return turn(say(f"{path[0]} is next."), call("read_file", path=path[0]))


def _submit(verdict: str, evidence: str, remaining: Sequence[str] = ()) -> Turn:
    fields = {"verdict": verdict, "evidence": evidence, "remaining": list(remaining)}
    return turn(call("submit", **fields))


def _last(request: Any) -> tuple[str, dict[str, Any], str]:
    """The tool that was called last, its arguments and its result; empty at the beginning."""
    calls: dict[str, Any] = {}
    last: tuple[str, dict[str, Any], str] = ("", {}, "")
    for message in request["messages"]:
        for block in blocks_of(message["content"]):
            if block.get("type") == "tool_use":
                calls[block["id"]] = block
            elif block.get("type") == "tool_result" and block["tool_use_id"] in calls:
                made = calls[block["tool_use_id"]]
                last = (made["name"], made["input"], json.dumps(block["content"]))
    return last
