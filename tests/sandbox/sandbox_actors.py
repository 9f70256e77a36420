"""Processes that misbehave on purpose, and a way to hear from them."""

import os
import select
import sys
from pathlib import Path

import psutil

from foundry.sandbox.process import ProcessSandbox
from foundry.schema.command import CommandLimits, CommandResult

PYTHON = sys.executable


class Beacon:
    """A named pipe through which a process says its pid once it is where the test wants it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "beacon"
        os.mkfifo(self.path)
        self._descriptor = os.open(self.path, os.O_RDWR)

    @property
    def call(self) -> str:
        """A shell command that reports the shell's own pid."""
        return f"echo $$ > {self.path}"

    def pids(self, count: int) -> list[int]:
        """The pids of `count` processes, once that many have reported."""
        heard = b""
        while heard.count(b"\n") < count:
            assert select.select([self._descriptor], [], [], 30)[0], f"only heard {heard!r}"
            heard += os.read(self._descriptor, 4096)
        return [int(line) for line in heard.split()]

    def close(self) -> None:
        os.close(self._descriptor)


def daemon(beacon: Beacon) -> str:
    """A command that leaves a true daemon behind: forked twice, in a session of its own."""
    return (
        f'{PYTHON} -c "\n'
        "import os, time\n"
        "if os.fork(): os.wait(); os._exit(0)\n"
        "os.setsid()\n"
        "if os.fork(): os._exit(0)\n"
        f"with open('{beacon.path}', 'w') as out: out.write(f'{{os.getpid()}}\\n')\n"
        'time.sleep(1000)\n" > /dev/null'
    )


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def run(command: str, cwd: Path, **limits: float) -> CommandResult:
    return ProcessSandbox().run(command, cwd=cwd, limits=CommandLimits.model_validate(limits))
