"""One step's view of its run: the project, the run so far, and what the step may use."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from foundry.engine.notes import Notebook
from foundry.engine.run_memory import RunMemory
from foundry.model.base import Model
from foundry.permission.approvals import Approve
from foundry.sandbox.base import Sandbox
from foundry.schema.base import now
from foundry.schema.command import CheckResult, CommandLimits
from foundry.schema.events import CheckRan, Observer
from foundry.schema.journal import Attempt, Entry, Start, StepRecord
from foundry.schema.permission import Policy
from foundry.schema.workflow import Workflow
from foundry.store import runs
from foundry.store.git.repository import Repository
from foundry.store.git.trees import remove_tree
from foundry.store.ledger import Ledger
from foundry.store.patterns.library import Library
from foundry.store.project import FOLDER, Project
from foundry.workflow.cursor import Instruction

DOCUMENTATION = (".md", ".rst", ".adoc")  # not .txt: requirements.txt is part of the project

Ask = Callable[[str], bool | None]
"""Asks the person a question; None when nobody is there to answer."""


@dataclass(frozen=True)
class StepContext:
    """Everything that the prompt, the gate and the result of one step may use.

    Made from the run for every step (Run.step_context); conversations side by side have one each.
    """

    project: Project
    repository: Repository
    workflow: Workflow
    instruction: Instruction
    journal: tuple[Entry, ...]
    """The run so far: its first line, then every accepted step, attempt, pause and resume."""
    sandbox: Sandbox
    library: Library
    memory: RunMemory
    notebook: Notebook
    """Takes the session notes of this step."""
    ledger: Ledger
    """Counts the run's money."""
    model: Callable[[str], Model]
    """The model of a role."""
    max_usd: float
    deadline: float
    """When this invocation ends, by the monotonic clock."""
    policy: Policy
    """What a person allows the model to do; `approve` asks them where it says so."""
    approve: Approve
    observe: Observer
    """Hears every event."""
    ask: Ask
    intend: Callable[[str], None]
    """Journals what can't be undone before it is done."""
    hold_head: Callable[[], None]
    """Takes back what commands did to HEAD."""
    tampered: Callable[[str, str], None]
    """Tells what commands did to the harness's own records: about what, and what they did."""
    templates: Path | None = None
    """Where the workflow's own templates are; None for one that ships with Foundry."""
    warnings: tuple[str, ...] = ()
    on_text: Callable[[str], None] | None = None
    conversation: str = ""
    """The id of the step's conversation, once it has one."""
    now: Callable[[], datetime] = now

    @property
    def start(self) -> Start:
        """How the run began."""
        return next(entry for entry in self.journal if isinstance(entry, Start))

    @property
    def base(self) -> str:
        """The commit that the run builds on; of a new project the run's first, which is empty."""
        return self.start.base or self.repository.commits(self.start.run)[0].sha

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

    def last(self, step: str) -> StepRecord | None:
        """The newest record of a step, whatever its iteration."""
        return next((r for r in reversed(self.records) if r.step.split("/")[-1] == step), None)

    def usd_left(self) -> float:
        """US dollars that may still be spent."""
        return self.max_usd - self.ledger.total.usd

    def command_limits(self, seconds: float) -> CommandLimits:
        """The limits of a command of the harness: `seconds`, or what the run has left."""
        left = min(seconds, max(1.0, self.deadline - time.monotonic()))
        return CommandLimits(wall_seconds=left, idle_seconds=left)

    def observed(self, result: CheckResult) -> CheckResult:
        """Tell observers of a check that ran, and give it back."""
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
