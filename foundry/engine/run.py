"""Where a run stands: journal, cursor and HEAD, which move together and only through `accept`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any

from foundry.engine import summary
from foundry.engine.accept import Committed, accept
from foundry.engine.contracts import contract, views_of
from foundry.engine.deploy import Ask
from foundry.engine.notes import Notebook
from foundry.engine.notes_view import session_notes
from foundry.engine.run_memory import Memories
from foundry.engine.step_context import StepContext
from foundry.model.base import Model
from foundry.permission.approvals import Approve, nobody
from foundry.sandbox.base import Sandbox
from foundry.schema.base import now
from foundry.schema.events import Note, Observer
from foundry.schema.journal import Entry, Start, StepRecord
from foundry.schema.permission import Policy
from foundry.schema.run import RunOptions
from foundry.schema.workflow import Workflow
from foundry.store.artifacts import notes_text, read_notes, read_plan
from foundry.store.git.repository import Repository
from foundry.store.ledger import Ledger
from foundry.store.patterns.library import Library
from foundry.store.project import FOLDER, LOCAL, NOTES, SESSION_NOTES, Project
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
    memory: Memories
    deadline: float
    templates: Path | None = None
    on_text: Callable[[str], None] | None = None
    policy: Policy = field(default_factory=Policy)
    approve: Approve = nobody


class Progress:
    """A run as its journal tells it: a new process with the same journal stands at the same place.

    `head` and `branch` are where the last accepted commit left the repository.
    """

    def __init__(self, setting: Setting, journal: tuple[Entry, ...]) -> None:
        self.setting = setting
        self.journal = journal
        self.cursor = reduce(lambda c, e: after(setting.workflow, c, e), journal, Cursor())
        at = setting.repository.standing()
        self.head, self.branch = at.commit, at.branch
        self.notes = read_notes(setting.project)

    def due(self) -> Next:
        """What comes next."""
        return due(self.setting.workflow, self.cursor)

    def accept(self, entry: Committed, artifacts: Mapping[str, str]) -> str:
        """Write, journal and commit; returns the commit's hash."""
        setting = self.setting
        views = views_of(setting.workflow, (*self.journal, entry))
        entry, sha = accept(setting.project, setting.repository, entry, {**artifacts, **views})
        self.journal = (*self.journal, entry)
        known = len(self.cursor.warnings)
        self.cursor = after(setting.workflow, self.cursor, entry)
        self.head = sha
        for warning in self.cursor.warnings[known:]:
            setting.observe(Note(warning))
        return sha

    def with_notes(self, notebook: Notebook) -> Mapping[str, str]:
        """The session notes as artifacts, with those of a step that is about to be accepted."""
        self.notes = notebook.all
        records = [entry for entry in self.journal if isinstance(entry, StepRecord)]
        name = self.setting.project.root.name
        return {
            NOTES: notes_text(self.notes),
            SESSION_NOTES: session_notes(name, self.notes, records),
        }

    def line(self) -> dict[str, Any]:
        """The fields that every journal line begins with."""
        return {"seq": len(self.journal) + 1, "at": now(), "run": self.setting.options.run}

    def hold_head(self) -> None:
        """Take back commits, branch switches and merges that a model's own commands made."""
        repository = self.setting.repository
        at = repository.standing()
        repository.abandon(at.git_dir)
        if (at.commit, at.branch) != (self.head, self.branch):
            repository.move_head(self.branch, self.head)
            repository.reclaim(FOLDER, keep=LOCAL)  # the artifacts went along

    def step_context(self, instruction: Instruction) -> StepContext:
        """What the step that is due has before it."""
        setting = self.setting
        tuned = contract(instruction.step.contract).tuned(instruction, self.journal)
        instruction = replace(instruction, step=tuned)
        return StepContext(
            project=setting.project,
            repository=setting.repository,
            sandbox=setting.sandbox,
            library=setting.library,
            workflow=setting.workflow,
            instruction=instruction,
            journal=self.journal,
            observe=setting.observe,
            hold_head=self.hold_head,
            notebook=self._notebook(instruction),
            memory=setting.memory,
            templates=setting.templates,
            warnings=self.cursor.warnings,
            deadline=setting.deadline,
        )

    def _notebook(self, instruction: Instruction) -> Notebook:
        run = self.setting.options.run
        notebook = Notebook(self.notes, run, instruction.id, now())
        if not any(note.run == run for note in self.notes):
            notebook.add("goal", next(e.spec for e in self.journal if isinstance(e, Start)))
        return notebook

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
