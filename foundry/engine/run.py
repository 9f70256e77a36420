"""A run in this process: what works on it, and how far it is by its journal."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any

from foundry.engine import records
from foundry.engine.accept import Committed, accept
from foundry.engine.notes import Notebook, session_notes
from foundry.engine.run_memory import RunMemory
from foundry.engine.step_context import Ask, StepContext
from foundry.engine.step_kind import kind_of, views_of
from foundry.engine.summary import Facts
from foundry.model.base import Model
from foundry.permission.approvals import Approve
from foundry.sandbox.base import Sandbox
from foundry.schema.base import now
from foundry.schema.events import Note, Observer
from foundry.schema.flag import Flag
from foundry.schema.journal import Attempt, Entry, SessionNote, Start, StepRecord, Stop
from foundry.schema.permission import Policy
from foundry.schema.run import RunOptions
from foundry.schema.workflow import Workflow
from foundry.store.artifacts import notes_text, read_notes, read_plan
from foundry.store.git.repository import Repository
from foundry.store.ledger import Ledger
from foundry.store.patterns.library import Library
from foundry.store.project import FOLDER, LOCAL, NOTES, SESSION_NOTES, Project
from foundry.workflow.cursor import Cursor, Instruction, Next, after, due


@dataclass
class Run:
    """What works on a run, and the run as its journal tells it.

    A new process with the same journal stands at the same place: `cursor`, `head` and `branch`
    (where the last accepted commit left the repository) and `notes` follow from what is on disk.
    """

    project: Project
    repository: Repository
    workflow: Workflow
    options: RunOptions
    journal: tuple[Entry, ...]
    model: Callable[[str], Model]
    sandbox: Sandbox
    library: Library
    ledger: Ledger
    memory: RunMemory
    policy: Policy
    deadline: float
    observe: Observer
    ask: Ask
    approve: Approve
    on_text: Callable[[str], None] | None = None
    templates: Path | None = None
    cursor: Cursor = field(init=False)
    head: str = field(init=False)
    branch: str = field(init=False)
    notes: tuple[SessionNote, ...] = field(init=False)
    tampering: dict[str, Flag] = field(init=False, default_factory=dict)
    """What commands did to the harness's own records, until a line of the journal tells of it."""

    def __post_init__(self) -> None:
        self.cursor = reduce(lambda c, e: after(self.workflow, c, e), self.journal, Cursor())
        standing = self.repository.standing()
        self.head, self.branch = standing.commit, standing.branch
        self.notes = read_notes(self.project)

    def due(self) -> Next:
        """What comes next."""
        return due(self.workflow, self.cursor)

    def accept(self, entry: Committed, artifacts: Mapping[str, str]) -> str:
        """Write, journal and commit; returns the commit's hash."""
        if isinstance(entry, StepRecord | Attempt | Stop) and self.tampering:
            entry = entry.model_copy(update={"flags": (*entry.flags, *self.tampering.values())})
            self.tampering.clear()
        views = views_of(self.workflow, (*self.journal, entry))
        entry, sha = accept(self.project, self.repository, entry, {**artifacts, **views})
        self.journal = (*self.journal, entry)
        known = len(self.cursor.warnings)
        self.cursor = after(self.workflow, self.cursor, entry)
        self.head = sha
        for warning in self.cursor.warnings[known:]:
            self.observe(Note(warning))
        return sha

    def with_notes(self, notebook: Notebook) -> Mapping[str, str]:
        """The session notes as artifacts, with those of a step that is about to be accepted."""
        self.notes = notebook.all
        steps = [entry for entry in self.journal if isinstance(entry, StepRecord)]
        return {
            NOTES: notes_text(self.notes),
            SESSION_NOTES: session_notes(self.project.root.name, self.notes, steps),
        }

    def line(self) -> dict[str, Any]:
        """The fields that every journal line begins with."""
        return {"seq": len(self.journal) + 1, "at": now(), "run": self.options.run}

    def hold_head(self) -> None:
        """Take back commits, branch switches and merges that a model's own commands made."""
        standing = self.repository.standing()
        self.repository.abandon(standing.git_dir)
        if (standing.commit, standing.branch) != (self.head, self.branch):
            self.tampered("the branch", "moved HEAD or the branch of the run")
            self.repository.move_head(self.branch, self.head)
            self.repository.reclaim(FOLDER, keep=LOCAL)  # the artifacts went along

    def tampered(self, about: str, what: str) -> None:
        """Remember and tell what commands did to the harness's own records; it is put back."""
        flag = Flag(kind="tampering", about=about, words=f"commands {what}; that was put back")
        if flag.id not in self.tampering:
            self.tampering[flag.id] = flag
            self.observe(Note(flag.words))

    def step_context(self, instruction: Instruction) -> StepContext:
        """The view of the run that the step has which is due."""
        if not instruction.step.action:
            tuned = kind_of(instruction.step).tuned(instruction, self.journal)
            instruction = replace(instruction, step=tuned)

        def intend(what: str) -> None:
            self.accept(records.intent(self.line(), instruction, what), {})

        return StepContext(
            project=self.project,
            repository=self.repository,
            workflow=self.workflow,
            instruction=instruction,
            journal=self.journal,
            sandbox=self.sandbox,
            library=self.library,
            memory=self.memory,
            notebook=self._notebook(instruction),
            ledger=self.ledger,
            model=self.model,
            max_usd=self.options.limits.max_usd,
            deadline=self.deadline,
            policy=self.policy,
            approve=self.approve,
            observe=self.observe,
            ask=self.ask,
            intend=intend,
            hold_head=self.hold_head,
            tampered=self.tampered,
            templates=self.templates,
            warnings=self.cursor.warnings,
            on_text=self.on_text,
        )

    def facts(self) -> Facts:
        """What the summaries are made from."""
        return Facts(
            workflow=self.workflow,
            journal=self.journal,
            cursor=self.cursor,
            plan=read_plan(self.project),
            commits=self.repository.commits(self.options.run),
            branch=self.branch,
            spent_in_all=self.ledger.total,
        )

    def _notebook(self, instruction: Instruction) -> Notebook:
        run = self.options.run
        notebook = Notebook(self.notes, run, instruction.id, now())
        if not any(note.run == run for note in self.notes):
            notebook.add("goal", next(e.spec for e in self.journal if isinstance(e, Start)))
        return notebook
