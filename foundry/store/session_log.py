"""The session log: every event as a JSON line, for `foundry log` and for the morning after.

docs/session-log.schema.json describes the lines. Secrets are redacted before one is written, here
and nowhere else, so that no event has to be trusted. What a session came to is a fold over its
events: the same while it goes on and from its log.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from datetime import datetime
from functools import reduce
from itertools import chain, count
from pathlib import Path
from typing import Any

from foundry.log import open_log
from foundry.redact import redacted, secret_values
from foundry.schema.events import (
    Compacted,
    ContextUpdated,
    Event,
    Judged,
    Stats,
    StepEnded,
    ToolRan,
    TurnEnded,
    Waiting,
)

WRITES = ("write_file", "edit_file")
"""The tools whose subject is the file that they change."""


class SessionLog:
    """An observer that writes what it hears; a context manager that ends with the `stats` line,
    however the session ended. Only a killed process leaves a log without one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stats = Stats()
        self._lines = LogLines()
        self._log, self._file = open_log(path)

    def __enter__(self) -> "SessionLog":
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._write(self._stats)
        finally:
            self._file.close()

    def __call__(self, event: Event) -> None:
        """Write one event."""
        self._stats = counted(self._stats, event)
        self._write(event)

    def _write(self, event: Event) -> None:
        self._log.info(event.kind, **self._lines.fields(event))


class LogLines:
    """Events as the fields of log lines. What was decided about a call stands in the call's own."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._secrets = secret_values(environment)
        self._decided: dict[tuple[str, str], str] = {}

    def fields(self, event: Event) -> dict[str, object]:
        """The fields, without secrets."""
        if isinstance(event, Judged):
            self._decided[event.step, event.tool] = event.decision
        if isinstance(event, ToolRan) and not event.approval:
            decided = self._decided.pop((event.step, event.tool), "")
            event = replace(event, approval=decided)
        shown: dict[str, object] = redacted(as_fields(event), self._secrets)
        return shown


def as_fields(event: Event) -> dict[str, object]:
    """An event's fields, as JSON has them: durations in whole milliseconds, lists for tuples."""
    shown: dict[str, object] = {}
    for each in fields(event):
        value = getattr(event, each.name)
        if each.name == "seconds":
            shown["ms"] = round(value * 1000)
        elif isinstance(value, float):
            shown[each.name] = round(value, 6)
        else:
            shown[each.name] = list(value) if isinstance(value, tuple) else value
    if isinstance(event, ToolRan):
        shown["ok"] = not event.error
    return shown


def path_for(folder: Path, at: datetime) -> Path:
    """The log of an invocation that began at `at`: a file of its own, also within one second."""
    name = f"{at:%Y%m%d-%H%M%S}"
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(path for each in names if not (path := folder / f"{each}.jsonl").exists())


def logs(folder: Path) -> list[Path]:
    """The logs of all invocations, in their order."""
    return sorted(folder.glob("*.jsonl"), key=lambda path: path.stem)


def newest(folder: Path) -> Path | None:
    """The log of the last invocation."""
    return next(reversed(logs(folder)), None)


def stats_of(events: Iterable[Event]) -> Stats:
    """The figures of all these events."""
    return reduce(counted, events, Stats())


def counted(stats: Stats, event: Event) -> Stats:
    """The figures with one event more."""
    changed: dict[str, Any] = {}
    match event:
        case TurnEnded():
            return _with_call(stats, event)
        case ToolRan():
            changed["tools_executed"] = stats.tools_executed + 1
            changed["tools_failed"] = stats.tools_failed + bool(event.error)
            if event.tool in WRITES and not event.error:
                changed["files_modified"] = _with_files(stats, (event.subject,))
        case Compacted():
            changed["compactions"] = stats.compactions + 1
        case Waiting():
            changed["retries"] = stats.retries + 1
        case StepEnded():
            changed["files_modified"] = _with_files(stats, event.files)
        case ContextUpdated():
            changed["peak_usage_percent"] = max(stats.peak_usage_percent, event.usage_percent)
    return replace(stats, **changed)


def _with_call(stats: Stats, call: TurnEnded) -> Stats:
    prompt = call.input_tokens + call.cache_read_tokens + call.cache_write_tokens
    costs = (stats.cost_usd, call.cost_usd)
    return replace(
        stats,
        total_turns=stats.total_turns + (call.purpose == "turn"),
        llm_calls=stats.llm_calls + 1,
        total_tokens_used=stats.total_tokens_used + prompt + call.output_tokens,
        input_tokens=stats.input_tokens + call.input_tokens,
        output_tokens=stats.output_tokens + call.output_tokens,
        cache_read_tokens=stats.cache_read_tokens + call.cache_read_tokens,
        cache_write_tokens=stats.cache_write_tokens + call.cache_write_tokens,
        cost_usd=None if None in costs else sum(each or 0.0 for each in costs),
    )


def _with_files(stats: Stats, files: Iterable[str]) -> tuple[str, ...]:
    """The files changed so far and these, each once, in the order of their first change."""
    new = (path.removeprefix("./") for path in files)
    return tuple(dict.fromkeys((*stats.files_modified, *new)))
