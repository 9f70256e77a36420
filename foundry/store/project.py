"""The places of a project's files, in one place."""

from dataclasses import dataclass
from pathlib import Path

from foundry.schema.journal import step_slug

FOLDER = ".context-foundry"

LOCAL = "local"
"""The folder in it that is never committed."""

SCOUT_REPORT = "scout-report.md"
CHECKS = "checks.json"
ARCHITECTURE = "architecture.md"
TASKS = "tasks.json"
BUILD_LOG = "build-log.md"
ITERATION_COUNT = "test-iteration-count.txt"
TEST_LEDGER = "test-ledger.json"
FINAL_REPORT = "test-final-report.md"
DOCS_REVIEWED = "docs-review.md"
SESSION_SUMMARY = "session-summary.json"
EVIDENCE = "evidence.json"
SIGNATURE = "evidence.sig"
VERIFY = "verify.sh"
CONTEXT = "CONTEXT.md"
NOTES = "notes.jsonl"
SESSION_NOTES = "session-notes.md"

ARTIFACTS = {
    "scout-report.md": "what Scout found out",
    "checks.json": "the commands that check it; yours to edit",
    "architecture.md": "the design and the plan",
    "tasks.json": "the tasks; yours to edit while paused",
    "build-log.md": "what was made, task by task",
    "test-iteration-count.txt": "how often the checks were run",
    "test-results-iteration-": "what the checks showed",
    "fixes-iteration-": "why checks failed, how to heal them",
    "test-final-report.md": "how the checks ended",
    "test-ledger.json": "every test by id, run after run",
    "review-iteration-": "what a reader found who wrote none of it",
    "docs-review.md": "what a reader found in the documentation",
    "session-summary.json": "status, tokens, cost, time",
    "evidence.json": "what proves each requirement",
    "evidence.sig": "your ssh key's signature over it",
    "verify.sh": "checks it anew, without Foundry",
    "journal.jsonl": "the run, a line per step",
    "notes.jsonl": "notes that last, a line each",
    "session-notes.md": "notes that last",
    "CONTEXT.md": "what every conversation is told",
    "circular/": "a circular run: its state, prompt, report",
    "feedback/": "what went wrong, and what worked",
    "patterns/": "what later builds learn from this one",
    "history/": "an earlier run",
}
"""Names, or how names begin, in the order in which a build writes them."""

EDITABLE = (TASKS, CHECKS)
"""JSON artifacts that a person may edit while a run is paused."""

WORKFLOWS = "workflows"
"""The folder in it for workflows of the project's own."""

KEPT_BETWEEN_RUNS = (CONTEXT, NOTES, SESSION_NOTES, WORKFLOWS, "history", LOCAL, ".gitignore")
"""What a new run leaves where it is; the rest goes to history/<run>/."""


@dataclass(frozen=True, slots=True)
class Project:
    """A folder that a run works in."""

    root: Path

    @property
    def folder(self) -> Path:
        """The artifacts."""
        return self.root / FOLDER

    @property
    def journal(self) -> Path:
        """The truth of the run."""
        return self.folder / "journal.jsonl"

    @property
    def local(self) -> Path:
        """What is never committed."""
        return self.folder / LOCAL

    @property
    def salvage(self) -> Path:
        """Patches of work that no journal line explains."""
        return self.local / "salvage"

    @property
    def conversations(self) -> Path:
        """Transcripts, one file a conversation."""
        return self.local / "conversations"

    @property
    def known(self) -> Path:
        """What conversations that ended for want of room left behind, one file each."""
        return self.local / "known"

    @property
    def logs(self) -> Path:
        """Session logs, one file per invocation."""
        return self.local / "logs"

    def artifact(self, name: str) -> Path:
        """An artifact by its name."""
        return self.folder / name


def results_name(iteration: int) -> str:
    """The results of a test iteration, from 1."""
    return f"test-results-iteration-{iteration}.md"


def fixes_name(iteration: int) -> str:
    """The fix plan that follows a test iteration, from 1."""
    return f"fixes-iteration-{iteration}.md"


def review_name(iteration: int) -> str:
    """What a reviewer said after a test iteration, from 1."""
    return f"review-iteration-{iteration}.md"


def output_name(step: str) -> str:
    """What a step was asked to produce: `outputs/loop/2/step.md` of `loop[2]/step`."""
    return f"outputs/{step_slug(step, '/')}.md"
