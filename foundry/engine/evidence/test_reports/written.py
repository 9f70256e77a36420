"""Reads what the hooks wrote down. Tests can write into that folder too: nothing is believed that
is not of the form, and everything is bounded."""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from foundry.schema.base import Json
from foundry.schema.tests_by_id import (
    FAILING,
    MAX_TESTS,
    OUTCOMES,
    WORST_FIRST,
    Outcome,
    TestReport,
    by_id,
)

MAX_FILES = 2_000
MAX_BYTES = 50_000_000
"""Of all files together."""
LONGEST_ID = 500

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")


@dataclass(slots=True)
class _Session:
    runner: str
    root: Path
    at: str
    lines: int = 0
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    collected: int | None = None
    deselected: int = 0
    ended: bool = False


def read_written(folder: Path, root: Path) -> TestReport | None:
    """What the sessions in `folder` ran, as one report; None when nothing was written.

    `root` is the folder that the command ran in; ids are relative to it.
    """
    started: list[str] = []
    unhooked: set[str] = set()
    sessions: list[_Session] = []
    for lines in _files(folder):
        session: _Session | None = None
        for line in lines:
            match line:
                case {"e": "started", "runner": str(runner)}:
                    started.append(runner[:40])
                case {"e": "unhooked", "runner": str(runner)}:
                    unhooked.add(runner[:40])
                case {"e": "session", "runner": str(runner), "at": str(at)} if session is None:
                    session = _Session(runner[:40], root, at)
                    sessions.append(session)
                case _ if session is not None:
                    _take(session, line)
    started = [runner for runner in started if runner not in unhooked]
    if not sessions and not started:
        return None
    return _report(sessions, started)


def stable_id(name: str, root: Path, at: str = "") -> str:
    """An id without what changes from run to run: folders of this machine, addresses in memory.

    `at` is the folder that `name` is relative to, and the result is relative to `root`.
    """
    folders = (str(root), os.path.realpath(root))
    text = name.removeprefix("file://")
    if not text.startswith(tuple(f"{folder}/" for folder in folders)):
        prefix = _below(at, root)
        text = f"{prefix}/{text}" if prefix else text
    for folder in dict.fromkeys((*folders, at)):
        text = text.replace(f"{folder}/", "") if len(folder) > 1 else text
    return _ADDRESS.sub("0x", text).encode("utf-8", "replace").decode()[:LONGEST_ID]


def _files(folder: Path) -> Iterator[Iterator[Json]]:
    """The lines of each file, the oldest session first."""
    left = MAX_BYTES
    for path in sorted(folder.glob("*.jsonl"))[:MAX_FILES]:
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            raw = file.read(left)
        left -= len(raw)
        yield _parsed(raw)


def _parsed(raw: bytes) -> Iterator[Json]:
    for line in raw.split(b"\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):  # cut, or nested to hurt
            continue
        if isinstance(value, dict):
            yield value


def _below(at: str, root: Path) -> str:
    """A session's folder relative to the root, "" for the root and for what is outside of it."""
    try:
        inside = Path(os.path.realpath(at)).relative_to(os.path.realpath(root))
    except (OSError, ValueError):
        return ""
    return "" if inside == Path() else inside.as_posix()


def _take(session: _Session, line: Json) -> None:
    match line:
        case {"e": "test", "id": str(name), "o": str(said)} if said in OUTCOMES:
            outcome: Outcome = said
            key = stable_id(name, session.root, session.at)
            session.lines += 1
            known = session.outcomes.get(key, outcome)
            if key in session.outcomes or len(session.outcomes) < MAX_TESTS:
                session.outcomes[key] = min(known, outcome, key=WORST_FIRST.index)
        case {"e": "end", "collected": collected, "deselected": int(deselected)}:
            session.ended = True
            session.collected = collected if isinstance(collected, int) else None
            session.deselected = max(deselected, 0)


def _report(sessions: list[_Session], started: list[str]) -> TestReport:
    outcomes: dict[str, Outcome] = {}
    for session in sessions:  # a later run of the same test is its second chance, unless skipped
        for key, outcome in session.outcomes.items():
            if outcome in ("skipped", "xfailed") and key in outcomes:
                continue
            outcomes[key] = outcome
    runners = dict.fromkeys([*(session.runner for session in sessions), *started])
    reasons = [_unfinished(session) for session in sessions] + [_absent(sessions, started)]
    return by_id(
        ", ".join(runners),
        outcomes,
        deselected=sum(session.deselected for session in sessions),
        incomplete="; ".join(dict.fromkeys(filter(None, reasons))),
    )


def _unfinished(session: _Session) -> str:
    """Why a session's lines are not the whole story."""
    ran = session.lines
    if not session.ended:
        return f"{session.runner} ended before its session did, after {ran} tests"
    missing = session.runner == "pytest" and ran < (session.collected or 0)
    if missing and not FAILING.intersection(session.outcomes.values()):
        return f"pytest collected {session.collected} tests and ran {ran}"
    return ""


def _absent(sessions: list[_Session], started: list[str]) -> str:
    """A process was called as a runner that had no session: the runner is something else."""
    missing = set(started) - {session.runner for session in sessions}
    return "".join(f"{runner} was called and ran no session" for runner in sorted(missing)[:1])
