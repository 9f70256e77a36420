"""Events as a run tells them, for the views."""

from foundry.schema.events import (
    AttemptFailed,
    CheckRan,
    Compacted,
    Event,
    Note,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    ToolRan,
    TurnEnded,
    Waiting,
)

STARTED = RunStarted(
    run="r1", place="/p", branch="main", model="m", max_usd=10, max_hours=8, log="/p/log",
    resume="foundry resume /p", sandbox="process",
)  # fmt: skip


def ended(status: str = "verified", **fields: object) -> RunEnded:
    values: dict[str, object] = {
        "run": "r1", "status": status, "reason": "all gates passed", "place": "/p",
        "branch": "main", "commits": 3, "cost_usd": 0.5, "tokens": 12_345, "seconds": 65.0,
        "exit_code": 0, **fields,
    }  # fmt: skip
    return RunEnded(**values)  # type: ignore[arg-type]


def step_ended(step: str, phase: str, title: str, *, talked: bool = True, summary: str = "done"):
    return StepEnded(
        step=step, phase=phase, title=title, summary=summary, commit="1a2b3c4d5e6f", seconds=72.4,
        tokens=45_300, cost_usd=0.14, context_share=0.12, conversation=talked,
    )  # fmt: skip


TASK = "builder[2]/task"
BUILD: tuple[Event, ...] = (
    STARTED,
    StepStarted("scout", "scout", "Look around", 1, True),
    TurnEnded("scout", 1, 200, 900, 8_000, 500, 0.02, 0.04, 3.0, "tool_use"),
    ToolRan("scout", "read_file", "src/a.py", 0.1),
    step_ended("scout", "scout", "Look around"),
    StepStarted("builder[1]/task", "builder", "Add the store", 1, True, 1, 2),
    step_ended("builder[1]/task", "builder", "Add the store"),
    StepStarted(TASK, "builder", "Add the commands", 1, True, 2, 2),
    Waiting("429 rate limited", 12.0, 1),
    Compacted(TASK, "c", 62_000, 20_000, 67.7, 40, 40, {"mask": 3}),
    AttemptFailed(TASK, 1, "not_submitted", "no submission", "salvage/a.patch"),
    StepStarted(TASK, "builder", "Add the commands", 2, True, 2, 2),
    CheckRan(TASK, "verify cli", "pytest", "passed", "exit code 0", 1.23),
    step_ended(TASK, "builder", "Add the commands"),
    StepStarted("test[1]/checks", "test", "Run the checks", 1, False, 1, 0),
    CheckRan("test[1]/checks", "unit tests", "pytest", "failed", "exit code 1", 3.2),
    CheckRan("test[1]/checks", "lint", "ruff", "preexisting", "exit code 1", 0.2),
    step_ended("test[1]/checks", "test", "Run the checks", talked=False, summary="1 failing"),
    Note("not deployed: nowhere to push to"),
    ended(),
)
