"""A small real project: a git repository whose journal was written by the engine's own accept."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from foundry.engine.accept import accept, begin
from foundry.schema.events import Event
from foundry.schema.journal import Attempt, Spend, Start, StepRecord, Stop
from foundry.schema.messages import Usage
from foundry.schema.run import Status
from foundry.store.git.repository import Repository
from foundry.store.project import Project
from foundry.store.session_log import SessionLog
from foundry.workflow.load import builtin, fingerprint

RUN = "20260102-030405-abcd"
BEGUN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TASKS = [{"id": "store", "title": "Add the store"}, {"id": "cli", "title": "Add the commands"}]
SPEND = Spend(
    usage=Usage(input_tokens=1_000, output_tokens=200),
    cost_usd=0.05,
    turns=3,
    seconds=12.5,
    peak_tokens=20_000,
    window=200_000,
    model="m",
    conversation="c",
)


@dataclass
class LittleProject:
    """A run that can be advanced line by line, as the runner does it."""

    root: Path
    seq: int = field(default=1)

    def __post_init__(self) -> None:
        self.project = Project(self.root)
        self.project.folder.mkdir(parents=True)
        (self.project.folder / ".gitignore").write_text("local/\n")
        self.repository = Repository(self.root)
        self.repository.init()
        workflow = builtin("build")
        start = Start(
            **self._line(),
            spec="\n  A shelf for books\nwith labels",
            workflow="build",
            workflow_hash=fingerprint(workflow),
            context={"existing": False, "deploy": False},
            branch="",
        )
        begin(self.project, self.repository, start)

    def step(self, step: str, artifacts: dict[str, str] | None = None, **fields: Any) -> str:
        """Accept a step; returns its commit."""
        self.seq += 1
        phase = step.split("[", maxsplit=1)[0]
        record = StepRecord(**self._line(), step=step, phase=phase, message=f"feat: {step}",
                            **{"spend": SPEND, **fields})  # fmt: skip
        return accept(self.project, self.repository, record, artifacts or {})[1]

    def planned(self) -> None:
        """Scout and Architect are done; two tasks are due."""
        self.step("scout", {"scout-report.md": "# Scout\n"})
        self.step("architect", {"architecture.md": "# Plan\n"}, patch={"tasks": TASKS})

    def fail(self, step: str, detail: str) -> None:
        """Journal a failed attempt."""
        self.seq += 1
        phase = step.split("[", maxsplit=1)[0]
        attempt = Attempt(**self._line(), step=step, phase=phase, attempt=1, reason="turns",
                          detail=detail, message="chore: failed", spend=SPEND)  # fmt: skip
        accept(self.project, self.repository, attempt, {})

    def stop(self, status: Status, reason: str) -> None:
        """End or pause the run."""
        self.seq += 1
        entry = Stop(**self._line(), status=status, reason=reason, message="chore: stop")
        accept(self.project, self.repository, entry, {})

    def log(self, name: str, *events: Event) -> Path:
        """Write a session log as an invocation does."""
        with SessionLog(self.project.logs / f"{name}.jsonl") as log:
            for event in events:
                log(event)
        return log.path

    def artifact(self, name: str, text: str) -> None:
        """Leave an artifact."""
        path = self.project.artifact(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def _line(self) -> dict[str, Any]:
        return {"seq": self.seq, "at": BEGUN + timedelta(seconds=10 * self.seq), "run": RUN}


EVIDENCE = json.dumps(
    {
        "version": 2,
        "run": RUN,
        "status": "verified",
        "counts": {"requirements": 1, "proven": 1},
        "requirements": [
            {
                "id": "R1",
                "text": "Books have labels",
                "quote": "with labels",
                "state": "proven",
                "criteria": [
                    {
                        "criterion": "a label is shown",
                        "task": "store",
                        "state": "proven",
                        "before": {"exit_code": 1, "verdict": "exit code 1"},
                        "check": {
                            "name": "verify store",
                            "command": "pytest",
                            "status": "passed",
                            "exit_code": 0,
                        },
                        "commit": "1a2b3c4d5e6f",
                    }
                ],
            }
        ],
        "final_checks": [],
        "documentation": [],
    }
)
