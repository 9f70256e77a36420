"""What a step has before it: the project, the run so far, and the means to look and to check."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Any

from foundry.engine.notes import Notebook
from foundry.engine.run_memory import Memories
from foundry.errors import ArtifactError, WorkflowError
from foundry.sandbox.base import Sandbox
from foundry.schema.base import now
from foundry.schema.command import CheckResult, CommandLimits
from foundry.schema.events import CheckRan, Observer
from foundry.schema.journal import Attempt, Entry, Start, StepRecord
from foundry.schema.plan import Task
from foundry.schema.workflow import Workflow
from foundry.store import runs
from foundry.store.artifacts import read_plan
from foundry.store.git.repository import Repository
from foundry.store.git.trees import remove_tree
from foundry.store.patterns.library import Library
from foundry.store.project import FOLDER, TASKS, Project
from foundry.workflow.cursor import Instruction

DOCUMENTATION = (".md", ".rst", ".adoc")  # not .txt: requirements.txt is part of the project


@dataclass(frozen=True)
class StepContext:
    """Everything that briefing, gates and contracts of one step may use."""

    project: Project
    repository: Repository
    sandbox: Sandbox
    library: Library
    workflow: Workflow
    instruction: Instruction
    journal: tuple[Entry, ...]
    observe: Observer
    hold_head: Callable[[], None]
    notebook: Notebook
    memory: Memories
    templates: Path | None = None
    warnings: tuple[str, ...] = ()
    deadline: float = inf
    now: Callable[[], datetime] = now

    @property
    def start(self) -> Start:
        """How the run began."""
        return next(entry for entry in self.journal if isinstance(entry, Start))

    @property
    def records(self) -> tuple[StepRecord, ...]:
        """The accepted steps so far."""
        return tuple(entry for entry in self.journal if isinstance(entry, StepRecord))

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The failed attempts so far."""
        return tuple(entry for entry in self.journal if isinstance(entry, Attempt))

    @property
    def context(self) -> Mapping[str, Any]:
        """The run's variables and the loop's."""
        return self.instruction.context

    @property
    def iteration(self) -> int:
        """The iteration of the loop that this step stands in, from 1."""
        return self.instruction.number or 1

    def task(self) -> Task:
        """The task of this Builder step as tasks.json has it now."""
        due = self.context.get("task")
        task_id = due.get("id") if isinstance(due, dict) else None
        if task_id is None:
            raise WorkflowError(f"{self.instruction.id}: there is no `task` in its loop to build")
        plan = read_plan(self.project)
        task = plan.task(task_id) if plan else None
        if task is None:
            raise ArtifactError(
                f"{FOLDER}/{TASKS}",
                "tasks",
                f"the task {task_id!r}, which is due, is missing",
                hint=f"Put it back, or `git checkout HEAD -- {FOLDER}/{TASKS}`; "
                "then `foundry resume`",
            )
        return task

    def last(self, step: str) -> StepRecord | None:
        """The newest record of a step, whatever its iteration."""
        return next((r for r in reversed(self.records) if r.step.split("/")[-1] == step), None)

    def limits(self, seconds: float) -> CommandLimits:
        """The limits of a command of the harness: `seconds`, or what the run has left."""
        left = min(seconds, max(1.0, self.deadline - time.monotonic()))
        return CommandLimits(wall_seconds=left, idle_seconds=left)

    def told(self, result: CheckResult) -> CheckResult:
        """Tell whoever watches of a check, and give it back."""
        self.observe(
            CheckRan(
                step=self.instruction.id,
                name=result.name,
                command=result.command,
                status=result.status,
                verdict=result.verdict,
                seconds=result.seconds,
            )
        )
        return result


def scratch(ctx: StepContext) -> Path:
    """A fresh folder outside the project; what a killed run left in it goes away here."""
    folder = runs.folder(ctx.start.run) / "copy"
    remove_tree(folder)
    return folder


def own_files(paths: tuple[str, ...]) -> tuple[str, ...]:
    """The paths that belong to the project itself and not to Foundry."""
    return tuple(path for path in paths if not path.startswith(f"{FOLDER}/"))


def is_documentation(path: str) -> bool:
    """Whether a file is told apart from the project by its name, as one that people read."""
    named = path.startswith(("docs/", "LICENSE"))
    return named or path.lower().endswith(DOCUMENTATION)
