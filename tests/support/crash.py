"""The command line in processes of their own, which die where a test wants them to.

The processes are forked from a warm server (multiprocessing's forkserver), so that each has the
SDK imported from the start; they are real processes that run the real command line, and a Kill is
a real SIGKILL. Kills are put into the child by wrapping functions there: production code knows
nothing of them.
"""

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, Literal

_WARM = (
    *("pytest", "anthropic", "git", "httpx2", "genai_prices", "psutil", "rich.live"),
    *("foundry.cli.main", "foundry.cli.build", "foundry.cli.resume", "foundry.cli.work"),
    *("foundry.engine.session", "foundry.context.templates", "tests.support.crash"),
)
_server = get_context("forkserver")
_server.set_forkserver_preload(list(_WARM))

PATIENCE = 120
"""Seconds after which a child counts as hanging."""


@dataclass(frozen=True)
class Kill:
    """SIGKILL at the `nth` call of `target` ("module:name" or "module:Class.name").

    With `inside`, only calls within the acceptance of that step or entry ("stop", "start",
    "resume") count; `words` have to occur in the call's arguments. "torn": half of what is to be
    written is, then it dies. With another `number` it is that signal, and the call goes on.
    """

    target: str
    when: Literal["before", "after", "torn"]
    inside: str = ""
    words: str = ""
    nth: int = 1
    number: int = signal.SIGKILL


class Child:
    """One `foundry` command in a process of its own. What it prints is in `output`."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        log: Path,
        kill: Kill | None = None,
        env: Mapping[str, str] | None = None,
        program: Callable[[Sequence[str]], int] | None = None,
    ) -> None:
        self._log = log
        given = {**os.environ, **(env or {})}
        self._process: ForkServerProcess = _server.Process(
            target=_child, args=(list(arguments), given, str(log), kill, program)
        )
        self._process.start()

    def signal(self, number: int) -> None:
        assert self._process.pid
        os.kill(self._process.pid, number)

    def ctrl_c(self) -> None:
        """What a terminal does: SIGINT to the process and to the git that it runs."""
        assert self._process.pid
        os.killpg(self._process.pid, signal.SIGINT)

    def wait(self) -> int:
        """The exit code: negative for a signal."""
        self._process.join(PATIENCE)
        code = self._process.exitcode
        if code is None:
            self._process.kill()
            self._process.join()
            raise AssertionError(f"hangs: {self.output}")
        self._process.close()
        return code

    @property
    def output(self) -> str:
        return self._log.read_text()


def _child(
    arguments: list[str],
    env: dict[str, str],
    log: str,
    kill: Kill | None,
    program: Callable[[Sequence[str]], int] | None,
) -> None:
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for standard in (1, 2):
        os.dup2(descriptor, standard)
    os.close(descriptor)
    os.setpgrp()  # Ctrl-C strikes a whole group
    if program is None:
        program = import_module("foundry.cli.main").run
    if kill:
        import_module("foundry.cli.work")
        arm(kill)
    code = program(arguments)
    sys.stdout.flush()
    os._exit(code)


def arm(kill: Kill) -> None:
    """Wrap the target, and what tells whose acceptance goes on."""
    current: list[str] = []
    for name in ("accept", "begin"):
        _wrap(f"foundry.engine.accept:{name}", _within(current))
    left = [kill.nth]

    def wrapper(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            counts = not kill.inside or kill.inside in current
            counts = counts and kill.words in repr((arguments, named))
            left[0] -= counts
            if not counts or left[0] != 0:
                return function(*arguments, **named)
            if kill.when == "torn":
                file, raw = arguments
                file.write(raw[: len(raw) // 2])
            result = function(*arguments, **named) if kill.when == "after" else None
            os.kill(os.getpid(), kill.number)
            return function(*arguments, **named) if kill.when == "before" else result

        return call

    _wrap(kill.target, wrapper)


def _within(current: list[str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrapper(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(project: Any, repository: Any, entry: Any, *more: Any) -> Any:
            current.append(getattr(entry, "step", entry.kind))
            try:
                return function(project, repository, entry, *more)
            finally:
                current.pop()

        return call

    return wrapper


def _wrap(target: str, wrapper: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Put a wrapper around a method, or around a function in every module that has imported it."""
    module, _, path = target.partition(":")
    *owners, name = path.split(".")
    owner: Any = import_module(module)
    for each in owners:
        owner = getattr(owner, each)
    original = getattr(owner, name)
    wrapped = wrapper(original)
    setattr(owner, name, wrapped)
    for other in [each for key, each in sys.modules.items() if key.startswith("foundry.")]:
        if not owners and vars(other).get(name) is original:
            setattr(other, name, wrapped)


ONE_STEP = 50
"""What a process ends with that did one step of a run which is not over."""


def one_step(arguments: Sequence[str]) -> int:
    """The command line, in a process that does one step and is gone: nothing tidies up."""
    from foundry.cli.main import run
    from foundry.engine.runner import Ended, Runner

    def advance_once(self: Runner) -> Ended:
        ended = self.advance()
        if ended is None:
            os._exit(ONE_STEP)
        return self.stop(ended)

    Runner.work = advance_once  # type: ignore[method-assign]
    return run(list(arguments))


@dataclass(frozen=True)
class Blocker:
    """A shell command that blocks at its first run and tells so; later runs pass."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> "Blocker":
        folder.mkdir()
        os.mkfifo(folder / "ready")
        return cls(folder)

    def command(self, first: str = "true") -> str:
        """`first` and then the blocking; at later runs neither."""
        blocks = f"echo $$ > {self.folder}/ready; sleep 1000"
        return f"if mkdir {self.folder}/met 2>/dev/null; then {first}; {blocks}; fi"

    def wait(self) -> int:
        """Wait until the command blocks; its shell's pid."""
        return int((self.folder / "ready").read_text())


def alive(pid: int) -> bool:
    """Whether a process runs; a dead one that nobody has reaped yet does not."""
    import psutil

    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def strays(folder: Path) -> list[str]:
    """The command lines of processes that work in `folder` or name it."""
    import psutil

    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            words = process.cmdline()
            place = process.cwd()
            if process.pid != os.getpid() and str(folder) in " ".join((place, *words)):
                found.append(f"{process.pid} {process.status()}: {' '.join(words)}")
    return found
