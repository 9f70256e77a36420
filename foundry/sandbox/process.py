"""Commands as plain processes: bounded in time and output, ended whole, without our secrets.

This level confines nothing: a command can read and write what the user can. It keeps the
harness safe from commands that hang, flood or leave daemons behind.
"""

import codecs
import contextlib
import os
import secrets
import selectors
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from foundry.sandbox import process_tree
from foundry.sandbox.environment import command_environment
from foundry.sandbox.orphans import Pidfile
from foundry.schema.command import CommandLimits, CommandResult

_CHUNK = 65_536
_LAST_WORDS = 1 << 20  # more than any pipe holds: what was written before the end, not after
_LONGEST_WAIT = 3600.0  # of one select call; longer ones overflow in the kernel's interface
_POLL_SECONDS = 0.005  # where the kernel can't tell us that a process ended

Stopped = Literal["wall", "idle", ""]


class NotStarted(Exception):
    """The command never ran; the message says why."""


class HeadTail:
    """Keeps at most `limit` bytes of a stream (40 % head, 60 % tail), however long it is."""

    def __init__(self, limit: int) -> None:
        self._head_limit = max(limit, 0) * 2 // 5
        self._tail_limit = max(limit, 0) - self._head_limit
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self._total += len(data)
        left = self._head_limit - len(self._head)
        if left > 0:
            self._head += data[:left]
            data = data[left:]
        self._tail += data
        if len(self._tail) > 2 * self._tail_limit:
            del self._tail[: len(self._tail) - self._tail_limit]

    def finish(self) -> tuple[str, int]:
        """The text, with a marker line where bytes were left out, and how many those were.

        What isn't UTF-8 becomes U+FFFD, so the text is always valid JSON. No character is cut
        in half at the marker.
        """
        tail = bytes(self._tail[max(len(self._tail) - self._tail_limit, 0) :])
        if len(self._head) + len(tail) == self._total:
            return (self._head + tail).decode("utf-8", "replace"), 0
        head, tail = _whole_end(bytes(self._head)), _whole_start(tail)
        dropped = self._total - len(head) - len(tail)
        start = head.decode("utf-8", "replace")
        separator = "" if start.endswith("\n") or not start else "\n"
        marker = f"{separator}[… {dropped} bytes left out …]\n"
        return start + marker + tail.decode("utf-8", "replace"), dropped


class ProcessSandbox:
    """Runs commands with the user's rights in a session of their own. Safe to share by threads.

    `pidfile` names the running commands on disk, for `reap_orphans`. `environment` is what the
    allow-list picks from (default: this process's own).
    """

    level = "process"
    confines = False
    promise = "commands are bounded in time and output; files and network are not confined"

    def __init__(
        self,
        pidfile: Path | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        shell: str = "/bin/sh",
    ) -> None:
        self._pidfile = Pidfile(pidfile) if pidfile else None
        self._environment = command_environment(os.environ if environment is None else environment)
        self._shell = shell

    def run(self, command: str, *, cwd: Path, limits: CommandLimits) -> CommandResult:
        """Run `command` with `sh -c`, output and errors merged, nothing on its stdin.

        Never raises for what the command does; ProjectError when the pidfile can't be written.
        Whatever ends this call (KeyboardInterrupt too) ends every process of the command first.
        """
        process_tree.adopt_orphans()
        began = time.monotonic()
        kept = HeadTail(limits.output_bytes)
        mark = secrets.token_hex(8)
        strangers = frozenset(process_tree.own_children())
        process: subprocess.Popen[bytes] | None = None
        try:
            process = self._start(command, cwd, mark)
            if self._pidfile:
                self._pidfile.started(mark, process.pid)
            stopped = _watch(process, kept, limits, began)
        except NotStarted as error:
            return CommandResult(command=_valid(command), exit_code=None, output=_valid(str(error)))
        finally:
            self._finish(
                process,
                kept,
                process_tree.ProcessTree(process.pid if process else 0, mark, strangers),
            )
        output, dropped = kept.finish()
        return CommandResult(
            command=_valid(command),
            exit_code=None if stopped else _shell_code(process.returncode),
            output=output,
            dropped_bytes=dropped,
            seconds=round(time.monotonic() - began, 3),
            stopped=stopped,
        )

    def _start(self, command: str, cwd: Path, mark: str) -> subprocess.Popen[bytes]:
        if self._pidfile:
            self._pidfile.announce(mark)
        try:
            return subprocess.Popen(
                [self._shell, "-c", command],
                cwd=cwd,
                env={**self._environment, process_tree.MARK: mark},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            where = f": {error.filename}" if error.filename else ""
            raise NotStarted(f"not started: {error.strerror or error}{where}") from error
        except ValueError as error:  # a NUL byte, or text that no encoding holds
            raise NotStarted(f"not started: {error}") from error

    def _finish(
        self,
        process: subprocess.Popen[bytes] | None,
        kept: HeadTail,
        tree: process_tree.ProcessTree,
    ) -> None:
        """End what still runs, then take what it had said."""
        process_tree.end(tree)
        if process is not None and process.stdout is not None:
            process.poll()
            _drain(process.stdout.fileno(), kept)
            process.stdout.close()
        if self._pidfile:
            self._pidfile.remove(tree.mark)


def _watch(
    process: subprocess.Popen[bytes], kept: HeadTail, limits: CommandLimits, began: float
) -> Stopped:
    """Take output until the shell ends (not: until the pipe closes) or a limit is passed."""
    assert process.stdout is not None
    pipe = process.stdout.fileno()
    heard = began
    with selectors.DefaultSelector() as selector, _end_signal(process.pid) as ended:
        selector.register(pipe, selectors.EVENT_READ)
        longest = _POLL_SECONDS
        if ended is not None:
            selector.register(ended, selectors.EVENT_READ)
            longest = _LONGEST_WAIT
        while True:
            wall, idle = began + limits.wall_seconds, heard + limits.idle_seconds
            left = min(wall, idle) - time.monotonic()
            if left <= 0:
                return "wall" if wall <= idle else "idle"
            ready = [key.fd for key, _ in selector.select(min(left, longest))]
            if pipe in ready:
                heard = time.monotonic()
                if not _take(pipe, kept):
                    selector.unregister(pipe)
            if process.poll() is not None:
                return ""


@contextlib.contextmanager
def _end_signal(pid: int) -> Iterator[int | None]:
    """A descriptor that is readable once `pid` has ended; None where there is no such thing."""
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _take(pipe: int, kept: HeadTail) -> int:
    """Read one chunk; how many bytes came, 0 at the end."""
    data = os.read(pipe, _CHUNK)
    kept.feed(data)
    return len(data)


def _drain(pipe: int, kept: HeadTail) -> None:
    """Take what the pipe still holds. Who holds its other end does not matter any more."""
    os.set_blocking(pipe, False)
    left = _LAST_WORDS
    with contextlib.suppress(BlockingIOError):
        while left > 0 and (count := _take(pipe, kept)):
            left -= count


def _shell_code(returncode: int) -> int:
    """A death by signal N is 128+N, as a shell reports it."""
    return 128 - returncode if returncode < 0 else returncode


def _valid(text: str) -> str:
    """Text without lone surrogates, which no JSON file can hold."""
    return text.encode("utf-8", "replace").decode()


def _whole_end(raw: bytes) -> bytes:
    """Without the start of a character whose rest is missing."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(raw)
    pending = decoder.getstate()[0]
    return raw[: len(raw) - len(pending)]


def _whole_start(raw: bytes) -> bytes:
    """Without the end of a character whose start is missing (at most three bytes)."""
    start = 0
    while start < min(3, len(raw)) and raw[start] & 0xC0 == 0x80:
        start += 1
    return raw[start:]
