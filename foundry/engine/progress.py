"""Where a run stands: journal, cursor and HEAD, which move together and only through `accept`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from foundry.engine import summary
from foundry.engine.accept import Committed, accept
from foundry.engine.deploy import Ask
from foundry.engine.desk import Desk
from foundry.model.base import Model
from foundry.sandbox.base import Sandbox
from foundry.schema.base import now
from foundry.schema.events import Observer
from foundry.schema.journal import Entry
from foundry.schema.run import RunOptions
from foundry.schema.workflow import Workflow
from foundry.store.artifacts import read_plan
from foundry.store.git import Repository
from foundry.store.ledger import Ledger
from foundry.store.patterns import Library
from foundry.store.project import FOLDER, Project
from foundry.workflow.cursor import Cursor, Instruction, Next, after, due


@dataclass(frozen=True)
class Setting:
    """What stays the same while a process works on a run."""

    project: Project
    repository: Repository
    workflow: Workflow
    options: RunOptions
    model: Callable[[str], Model]
    sandbox: Sandbox
    library: Library
    observe: Observer
    ask: Ask
    ledger: Ledger
    deadline: float
    on_text: Callable[[str], None] | None = None


class Progress:
    """A run as its journal tells it: a new process with the same journal stands at the same place.

    `head` and `branch` are where the last accepted commit left the repository.
    """

    def __init__(self, setting: Setting, journal: tuple[Entry, ...]) -> None:
        self.setting = setting
        self.journal = journal
        self.cursor = reduce(lambda c, e: after(setting.workflow, c, e), journal, Cursor())
        self.head = setting.repository.head()
        self.branch = setting.repository.branch()

    def due(self) -> Next:
        """What comes next."""
        return due(self.setting.workflow, self.cursor)

    def accept(self, entry: Committed, artifacts: Mapping[str, str]) -> str:
        """Write, journal and commit; returns the commit's hash."""
        setting = self.setting
        entry, sha = accept(setting.project, setting.repository, entry, artifacts)
        self.journal = (*self.journal, entry)
        self.cursor = after(setting.workflow, self.cursor, entry)
        self.head = sha
        return sha

    def line(self) -> dict[str, Any]:
        """The fields that every journal line begins with."""
        return {"seq": len(self.journal) + 1, "at": now(), "run": self.setting.options.run}

    def hold_head(self) -> None:
        """Take back commits, branch switches and merges that a model's own commands made."""
        repository = self.setting.repository
        repository.abandon()
        if repository.head() != self.head or repository.branch() != self.branch:
            repository.move_head(self.branch, self.head)
            repository.checkout(FOLDER)  # the artifacts went along

    def desk(self, instruction: Instruction) -> Desk:
        """What the step that is due has before it."""
        setting = self.setting
        return Desk(
            project=setting.project,
            repository=setting.repository,
            sandbox=setting.sandbox,
            library=setting.library,
            instruction=instruction,
            journal=self.journal,
            observe=setting.observe,
            hold_head=self.hold_head,
            warnings=self.cursor.warnings,
            deadline=setting.deadline,
        )

    def facts(self) -> summary.Facts:
        """What the summaries are made from."""
        setting = self.setting
        return summary.Facts(
            workflow=setting.workflow,
            journal=self.journal,
            cursor=self.cursor,
            plan=read_plan(setting.project),
            commits=setting.repository.commits(setting.options.run),
            branch=self.branch,
            spent_in_all=setting.ledger.total,
        )
