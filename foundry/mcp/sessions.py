"""Sessions on disk: one file each, a line for the beginning and one per completed step.

The first line pins the workflow document itself, so that a session goes on as it began even when
the document changes. Lines are only ever appended, under a lock on the file, and are on the disk
before the reply is sent; a torn last line is a write that nobody was told of. What is kept in
memory is a shortcut: it is brought up to date with the file at every call, so that several
processes, and a client of each, can share a session.
"""

import fcntl
import os
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import Field, ValidationError

from foundry.errors import JournalError, WorkflowError
from foundry.files import append_line, atomic_write
from foundry.mcp import token
from foundry.mcp.messages import Refusal
from foundry.schema.base import Value
from foundry.schema.workflow import Workflow
from foundry.workflow.cursor import (
    Blocked,
    Cursor,
    Finished,
    Instruction,
    begin,
    complete,
    due,
    settle,
)
from foundry.workflow.load import parse

IN_MEMORY = 64
"""Sessions that are kept in memory; the others are read again when they are asked for."""

KEPT_DAYS = 90
"""Sessions that nobody touched for so long are deleted."""


class _Opening(Value):
    """The first line."""

    version: int = 1
    secret: str = Field(pattern=token.SECRET)
    workflow: dict[str, Any]
    context: dict[str, Any]


class Done(Value):
    """A completed step and the variables that it changed."""

    step: str
    context: dict[str, Any]


@dataclass
class Session:
    """A walk through a workflow. Use it only while it is held."""

    id: str
    path: Path
    secret: str
    workflow: Workflow
    opening: Cursor
    done: list[Done] = field(default_factory=list)
    cursor: Cursor = field(default_factory=Cursor)
    before: Cursor = field(default_factory=Cursor)
    """The cursor one step earlier: what it warned of has been told."""
    size: int = 0
    """Bytes of the file that are known."""
    stamp: tuple[int, int, int] = (0, 0, 0)
    """Inode, bytes and time of the file as it is known."""

    def token(self, number: int | None = None) -> str:
        """The token of a step, by default of the one that is due."""
        return token.issue(self.id, len(self.done) if number is None else number, self.secret)

    def at(self, number: int) -> tuple[Cursor, Cursor]:
        """The cursor after so many steps, and the one before that."""
        if number == len(self.done):
            return self.cursor, self.before
        before, cursor = Cursor(), self.opening
        for each in islice(self.done, number):
            before, cursor = cursor, advanced(self.workflow, cursor, each.context)
        return cursor, before

    def complete(self, context: Mapping[str, Any], cursor: Cursor) -> None:
        """Record that the step that is due is done, and that `cursor` is where this leads.

        Raises ProjectError when the disk takes no more.
        """
        done = Done(step=due_step(self.workflow, self.cursor), context=dict(context))
        append_line(self.path, done.model_dump_json())
        self._take(done, cursor)
        self.stamp = _stamp(self.path.stat())
        self.size = self.stamp[1]

    def is_unlike(self, stat: os.stat_result) -> bool:
        """Whether the file is another one than that which was read, not only a longer one."""
        inode, size, modified = _stamp(stat)
        return inode != self.stamp[0] or (size <= self.size and modified != self.stamp[2])

    def _take(self, done: Done, cursor: Cursor) -> None:
        self.done.append(done)
        self.before, self.cursor = self.cursor, cursor

    def follow(self, file: BinaryIO) -> None:
        """Take up the lines that another process has appended, and cut off a torn one.

        Raises JournalError for a line that is damaged, or is of another step than comes.
        """
        stat = os.fstat(file.fileno())
        if _stamp(stat) == self.stamp:
            return
        file.seek(self.size)
        text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):
            file.truncate(self.size + len(whole))
        for line in whole.splitlines():
            done = _parsed(Done, line, self.path)
            expected = due_step(self.workflow, self.cursor)
            if done.step != expected:
                raise _unusable(self.path, f"it has {done.step!r} where {expected!r} comes")
            self._take(done, advanced(self.workflow, self.cursor, done.context))
        self.size += len(whole)
        self.stamp = _stamp(os.fstat(file.fileno()))


class Sessions:
    """The sessions of this home."""

    def __init__(self, folder: Path, *, in_memory: int = IN_MEMORY) -> None:
        self._folder, self._in_memory = folder, in_memory
        self._known: OrderedDict[str, Session] = OrderedDict()
        self._guard = threading.Lock()

    def begin(self, workflow: Workflow, context: Mapping[str, Any]) -> Session:
        """A new session, on the disk when this returns; raises ProjectError when that is full."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name, secret = secrets.token_hex(token.SESSION_BYTES), secrets.token_hex(16)
        document = workflow.model_dump(mode="json", by_alias=True, exclude_unset=True)
        opening = _Opening(secret=secret, workflow=document, context=dict(context))
        path = self._folder / f"{name}.jsonl"
        path.touch(mode=0o600, exist_ok=False)  # what is written keeps it
        atomic_write(path, opening.model_dump_json() + "\n")
        cursor = begin(workflow, context)
        session = Session(name, path, secret, workflow, cursor, cursor=cursor)
        session.stamp = _stamp(path.stat())
        session.size = session.stamp[1]
        self._remember(session)
        return session

    @contextmanager
    def held(self, ticket: token.Ticket) -> Iterator[Session]:
        """The session of a token, up to date and for us alone.

        Raises Refusal when there is none, JournalError when its file is damaged. Only the thread
        that holds the lock touches the session, other processes included.
        """
        path = self._folder / f"{ticket.session}.jsonl"
        try:
            file = path.open("r+b")
        except FileNotFoundError as error:
            raise _unknown() from error
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            session = self._recall(ticket.session)
            if session is None or session.is_unlike(os.fstat(file.fileno())):
                session = _opened(ticket.session, path, file)
            token.check(ticket, session.secret)
            session.follow(file)
            self._remember(session)
            yield session

    def prune(self, now: float | None = None) -> None:
        """Delete what nobody has touched for a long time."""
        oldest = (time.time() if now is None else now) - KEPT_DAYS * 86_400
        for path in self._folder.glob("*.jsonl"):
            with suppress(FileNotFoundError):  # another process prunes too
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def _recall(self, name: str) -> Session | None:
        """What memory has, which forgets it: only when it is up to date it is put back."""
        with self._guard:
            return self._known.pop(name, None)

    def _remember(self, session: Session) -> None:
        with self._guard:
            self._known[session.id] = session
            while len(self._known) > self._in_memory:
                self._known.popitem(last=False)


def advanced(workflow: Workflow, cursor: Cursor, context: Mapping[str, Any]) -> Cursor:
    """The cursor once the step that is due is done; a blocked loop is tried with new variables."""
    if cursor.missing:
        tried = cursor._replace(missing=None, context={**cursor.context, **context})
        return settle(workflow, tried)
    return complete(workflow, cursor, context)


def due_step(workflow: Workflow, cursor: Cursor) -> str:
    """The id of the step or loop that a cursor points at; empty at the end."""
    match due(workflow, cursor):
        case Instruction() as instruction:
            return instruction.id
        case Blocked() as blocked:
            return blocked.step
        case Finished():
            return ""


def _opened(name: str, path: Path, file: BinaryIO) -> Session:
    file.seek(0)
    line = file.readline()
    opening = _parsed(_Opening, line, path)
    try:
        workflow = parse(opening.workflow, "its workflow")
    except WorkflowError as error:
        raise _unusable(path, error.message) from error
    cursor = begin(workflow, opening.context)
    session = Session(name, path, opening.secret, workflow, cursor, cursor=cursor)
    session.size = len(line)
    return session


def _parsed(kind: Any, line: bytes, path: Path) -> Any:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        raise _unusable(path, "a line of it is damaged") from error


def _stamp(stat: os.stat_result) -> tuple[int, int, int]:
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _unknown() -> Refusal:
    return Refusal(
        "token-unknown",
        "there is no session for this token: it is damaged, or its session was deleted",
        hint="Copy `token` of the last reply as it is, or start again with `workflowId`",
    )


def _unusable(path: Path, why: str) -> JournalError:
    return JournalError(
        f"the session in {path} can't go on: {why}",
        hint="Start again with `workflowId` and the variables that you know as `context`",
    )
