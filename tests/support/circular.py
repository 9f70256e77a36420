"""Circular runs in this process: a small project, threads that play in it, and what they left."""

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from foundry.circular.assignment import models_in_turn
from foundry.circular.history import states_of
from foundry.circular.schema import IterationState
from foundry.circular.session import CircularOptions, resume_run, start_run
from foundry.engine.session import RunObserver
from foundry.model.rehearsal.script import SceneScript, Turn, call, turn
from foundry.schema.events import Event
from foundry.schema.run import RunOptions
from tests.support.builds import FAST, MODEL, Built, git, patient
from tests.support.rehearsals import submit, write
from tests.support.workflows import plays

TASK = "Replace old() by new() everywhere."
CHECK = "! grep -rn 'old()' --include='*.py' ."
"""Holds when nothing is left."""


def repository(folder: Path, **files: str) -> Path:
    """A committed project: `test_a_py="..."` is test_a.py."""
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / ".".join(name.rsplit("_", 1))).write_text(text)
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "as it was")):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


def done(**more: Any) -> Turn:
    return submit(**{"verdict": "done", "evidence": "grep finds nothing", **more})


def more(*left: str, **fields: Any) -> Turn:
    return submit(verdict="more", evidence="looked at it", remaining=left or ["b.py"], **fields)


def work(number: int) -> str:
    return f"iterations[{number}]/work"


def doubt(number: int, which: str = "doubt") -> str:
    return f"iterations[{number}]/{which}"


class Circular(Built):
    """A circular run that ended or paused in this process."""

    @classmethod
    def run(
        cls,
        server: Any,
        folder: Path,
        *,
        prompt: str = TASK,
        ask: Callable[[str], bool | None] = lambda _question: None,
        observe: Callable[[Event], None] = lambda _event: None,
        checks: Sequence[str] = (CHECK,),
        **options: Any,
    ) -> "Circular":
        """`options` are fields of CircularOptions or of RunOptions."""
        events: list[Event] = []

        def hear(event: Event) -> None:
            events.append(event)
            observe(event)

        names = set(CircularOptions.__dataclass_fields__) & set(options)
        own = {name: options.pop(name) for name in names}
        if several := own.get("several", ()):
            options["models"] = {**models_in_turn(several), **options.get("models", {})}
        given = {"model": MODEL, "base_url": server.url, "checks": tuple(checks), **options}
        with patient(FAST, 5):
            ended = start_run(
                CircularOptions(prompt=prompt, **own),
                RunOptions(folder=folder, **given),
                RunObserver(hear, ask=ask),
            )
        return cls(ended, server, folder, events)

    def go_on(
        self,
        *,
        accept: bool | None = None,
        ask: Callable[[str], bool | None] = lambda _question: None,
        **changes: Any,
    ) -> Any:
        """Resume, as `foundry circular resume` does."""

        def change(kept: RunOptions) -> RunOptions:
            return kept.model_copy(update={"base_url": self.server.url, **changes})

        with patient(FAST, 5):
            observer = RunObserver(self.events.append, ask=ask)
            self.ended = resume_run(self.folder, change, observer, {}, accept=accept)
        return self.ended

    @property
    def states(self) -> tuple[IterationState, ...]:
        return states_of(self.journal)

    @property
    def state(self) -> Any:
        return json.loads(self.artifact("circular/state.json"))

    def artifact(self, name: str) -> str:
        return self.project.artifact(name).read_text()

    def told(self, step: str) -> str:
        """The opening of a step's first conversation."""
        from foundry.model.rehearsal.script import first_user_text
        from tests.support.builds import step_of

        bodies = [each.body for each in self.server.requests if each.path == "/v1/messages"]
        return next(first_user_text(body) for body in bodies if step_of(body) == step)

    def git(self, *words: str) -> str:
        return git(self.project.root, *words)


__all__ = ["SceneScript", "call", "plays", "turn", "write"]
