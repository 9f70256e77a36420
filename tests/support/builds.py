"""A whole build in this process, and what tests look at afterwards."""

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from foundry.engine import session
from foundry.engine.runner import Ended
from foundry.engine.workspace import find
from foundry.model.pool import ModelPool
from foundry.model.rehearsal.script import assistant_turns, first_user_text
from foundry.model.rehearsal.server import RehearsalServer
from foundry.model.retry import RetryPolicy
from foundry.permission.approvals import Approve, nobody
from foundry.permission.policy import parse_rule
from foundry.schema.events import Event
from foundry.schema.journal import Entry, StepRecord
from foundry.schema.permission import Effect
from foundry.schema.run import Limits, RunOptions
from foundry.store import journal
from foundry.store.git.query import Commit
from foundry.store.git.repository import Repository
from foundry.store.project import Project
from tests.support.rehearsals import SPEC, SmallBuild

MODEL = "claude-sonnet-5-5"
EVERYTHING = (parse_rule(Effect.ALLOW, "*"),)
"""Rules for what permission would refuse, where a test is about what happens then."""

FAST = RetryPolicy(attempts=3, base=0.001, cap=0.01)
"""Retries without the wait."""

GIT_CONFIG = """\
[user]
  name = Ada
  email = ada@example.org
[init]
  defaultBranch = main
[safe]
  directory = *
"""


def environment_of(tmp_path: Path) -> dict[str, str]:
    """The environment that a test gives to all that it runs: nothing of the person's own."""
    person = tmp_path / "person"  # a command of the model sees HOME and nothing else of git
    person.mkdir(exist_ok=True)
    (person / ".gitconfig").write_text(GIT_CONFIG)
    removed = ("ANTHROPIC_", "FOUNDRY_", "GIT_", "XDG_")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(removed) and not name.upper().endswith("_PROXY")
    }
    return {
        **kept,
        "FOUNDRY_HOME": str(tmp_path / "home"),
        "FOUNDRY_LOOPBACK_ONLY": "1",
        "HOME": str(person),
        "GIT_CONFIG_NOSYSTEM": "1",
    }


@contextmanager
def serve(script: Any, **options: Any) -> Iterator[RehearsalServer]:
    """A server for a script or a SmallBuild."""
    script = script() if isinstance(script, SmallBuild) else script
    with RehearsalServer(script, **options) as server:
        yield server


@contextmanager
def patient(retry: RetryPolicy, read_timeout: float) -> Iterator[None]:
    """Sessions in this process retry by this policy; model and socket stay the real ones."""
    kept = session.ModelPool
    session.ModelPool = partial(ModelPool, retry=retry, read_timeout=read_timeout)  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        session.ModelPool = kept  # type: ignore[misc]


OF_BUILD = ("workflow", "own")


def asked(server: RehearsalServer, folder: Path, **options: Any) -> RunOptions:
    """What a person would have asked for; `options` replace fields of RunOptions."""
    given: dict[str, Any] = {
        "spec": SPEC,
        "folder": folder,
        "model": MODEL,
        "models": {},
        "base_url": server.url,
        "limits": Limits(),
        **options,
    }
    return RunOptions(**given)


@dataclass
class Built:
    """A build that ended or paused in this process, and the means to look at it and to go on."""

    ended: Ended
    server: RehearsalServer
    folder: Path
    events: list[Event] = field(default_factory=list)
    retry: RetryPolicy = FAST
    read_timeout: float = 5

    @classmethod
    def start(
        cls,
        server: RehearsalServer,
        folder: Path,
        *,
        observe: Callable[[Event], None] = lambda _event: None,
        ask: Callable[[str], bool | None] = lambda _question: None,
        approve: Approve = nobody,
        retry: RetryPolicy = FAST,
        read_timeout: float = 5,
        **options: Any,
    ) -> "Built":
        """Build; `options` are fields of RunOptions, or what session.build takes beside
        them; `observe` hears every event as it happens.

        FoundryErrors pass through, KeyboardInterrupt ends the run as it does on a terminal.
        """
        events: list[Event] = []
        observer = session.RunObserver(_both(events, observe), ask=ask, approve=approve)
        more = {name: options.pop(name) for name in OF_BUILD if name in options}
        with patient(retry, read_timeout):
            ended = session.build(asked(server, folder, **options), observer, **more)
        return cls(ended, server, folder, events, retry, read_timeout)

    def resume(
        self,
        *,
        observe: Callable[[Event], None] = lambda _event: None,
        ask: Callable[[str], bool | None] = lambda _question: None,
        approve: Approve = nobody,
        given: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> Ended:
        """Go on, as `foundry resume` does; `changes` are fields of RunOptions.

        `given` are the variables of `--set`.
        """
        observer = session.RunObserver(_both(self.events, observe), ask=ask, approve=approve)

        def change(kept: RunOptions) -> RunOptions:
            return kept.model_copy(
                update={"pause_after": (), "base_url": self.server.url, **changes}
            )

        with patient(self.retry, self.read_timeout):
            self.ended = session.resume(self.folder, change, observer, given)
        return self.ended

    @property
    def project(self) -> Project:
        """Where the newest run works: the folder itself, or its work tree."""
        return find(self.folder)

    @property
    def repository(self) -> Repository:
        return Repository(self.project.root)

    @property
    def journal(self) -> tuple[Entry, ...]:
        return journal.read(self.project.journal)

    @property
    def steps(self) -> list[str]:
        return steps(self.journal)

    @property
    def commits(self) -> tuple[Commit, ...]:
        return self.repository.commits(self.journal[0].run)

    @property
    def starts(self) -> list[str]:
        return starts(self.server)


def steps(entries: tuple[Entry, ...]) -> list[str]:
    """The accepted steps in order."""
    return [entry.step for entry in entries if isinstance(entry, StepRecord)]


def starts(server: RehearsalServer) -> list[str]:
    """The step of every conversation that was begun, in the order of their first requests."""
    bodies = (each.body for each in server.requests if each.path == "/v1/messages")
    return [step_of(body) for body in bodies if assistant_turns(body) == 0]


def step_of(body: Any) -> str:
    """The step that a request belongs to, by the heading of its first message."""
    lines = (line for line in first_user_text(body).splitlines() if line.startswith("# Step: "))
    return next(lines).removeprefix("# Step: ")


def git(folder: Path, *arguments: str) -> str:
    """What the person's own git says in a folder."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, check=True, stdin=subprocess.DEVNULL
    )
    return done.stdout.decode(errors="surrogateescape")


def tree(
    root: Path, *, without: tuple[str, ...] = (".git", ".context-foundry")
) -> dict[str, bytes]:
    """Every file below `root` with its bytes; symbolic links with their targets."""
    found = {}
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if inside.parts[0] in without or (path.is_dir() and not path.is_symlink()):
            continue
        content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        found[str(inside)] = content
    return found


def _both(events: list[Event], observe: Callable[[Event], None]) -> Callable[[Event], None]:
    def hear(event: Event) -> None:
        events.append(event)
        observe(event)

    return hear
