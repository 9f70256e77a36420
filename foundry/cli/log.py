"""`foundry log`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from foundry.report.log_view import Wanted
    from foundry.report.replay import Logged, Reader
    from foundry.store.project import Project


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, default=".",
                type=click.Path(path_type=Path))  # fmt: skip
@click.option("-f", "--follow", is_flag=True, help="Go on until the build ends, or Ctrl-C.")
@click.option("-n", "count", type=click.IntRange(min=0), help="Only the last N events.")
@click.option("-v", "--verbose", is_flag=True, help="Reasoning, model calls, tools, results too.")
@click.option("--all", "everything", is_flag=True, help="All invocations, not the newest alone.")
@click.option("--kind", "kinds", metavar="KIND", multiple=True,
              help="Only events of this kind, such as llm_call, tool_execution, compaction, "
              "check. Repeatable.")  # fmt: skip
@click.option("--step", "--phase", metavar="NAME", default="",
              help="Only a phase or a step: builder, builder[2].")  # fmt: skip
@click.option("--conversation", metavar="ID", default="",
              help="What was said in a conversation, whatever was taken out of it later; -v "
              "shows long texts whole. With --kind, --failures, --grep or --stats its "
              "events.")  # fmt: skip
@click.option("--since", metavar="TIME", help="From here on: 10m, 2h, 14:30, 2026-01-02T14:30.")
@click.option("--until", metavar="TIME", help="Up to here.")
@click.option("--failures", is_flag=True, help="Only what failed, was refused or tried again.")
@click.option("--grep", "text", metavar="TEXT", default="", help="Only events that hold this text.")
@click.option("--stats", is_flag=True, help="What it came to: turns, tools, tokens, files.")
@click.option("--json", "as_json", is_flag=True, help="The log's own JSON lines.")
def command(folder: Path, conversation: str, **options: Any) -> None:
    """What happened in the newest build in or beside DIR, line by line."""
    from foundry.engine.workspace import find

    project, ask = find(folder), _asked(conversation, options)
    if conversation and not (ask.wanted.single or ask.stats or ask.follow):
        _print(([line] for line in _said(project, conversation, ask)), ask.count)
        return
    logs = _logs(project)
    if not ask.all_of_them:
        logs = logs[-1:]
    if ask.stats:
        _stats(project, logs, ask)
    elif ask.follow:
        _follow(project, logs, ask)
    else:
        _print(_shown(_old(project, logs), ask), ask.count)


@dataclass(frozen=True)
class _Asked:
    """The options, read."""

    wanted: "Wanted"
    all_of_them: bool
    follow: bool
    count: int | None
    verbose: bool
    as_json: bool
    stats: bool


def _asked(conversation: str, options: dict[str, Any]) -> _Asked:
    from foundry.report.log_view import Wanted
    from foundry.report.units import moment
    from foundry.schema.base import now

    since, until = (
        moment(options[name], now()) if options[name] else None for name in ("since", "until")
    )
    wanted = Wanted(
        kinds=_kinds(options["kinds"]),
        step=options["step"],
        conversation=conversation,
        since=since,
        until=until,
        failures=options["failures"],
        text=options["text"],
    )
    return _Asked(
        wanted,
        all_of_them=bool(options["everything"] or since or until or conversation),
        **{name: options[name] for name in ("follow", "count", "verbose", "as_json", "stats")},
    )


def _kinds(names: Iterable[str]) -> frozenset[str]:
    from foundry.errors import InputError
    from foundry.report.replay import kinds

    for name in names:
        if name not in kinds():
            known = ", ".join(kinds())
            raise InputError(f"there is no kind of event {name!r}", hint=f"They are {known}")
    return frozenset(names)


def _logs(project: "Project") -> list[Path]:
    from foundry.errors import InputError
    from foundry.store.session_log import logs

    found = logs(project.logs)
    if not found:
        raise InputError(
            f"there is no log in {project.logs}",
            hint="It is kept on the machine that ran the build, and never committed",
        )
    return found


def _old(project: "Project", logs: Iterable[Path]) -> Iterator["Logged"]:
    """The events of logs as they are now, and a note where something can't be read."""
    from foundry.report.replay import Reader, is_torn, whole_lines
    from foundry.store.lock import is_locked

    reader = Reader()
    for log in logs:
        yield from reader.read(whole_lines(log))
        if is_torn(log) and not is_locked(project):
            reader.damaged += 1
    _note(reader)


def _note(reader: "Reader") -> None:
    from foundry.report.units import counted

    if reader.damaged:
        click.echo(f"{counted(reader.damaged, 'damaged or torn line')} passed over", err=True)


def _follow(project: "Project", logs: list[Path], ask: _Asked) -> None:
    skip = 0
    if ask.count is not None:
        skip = max(0, sum(1 for _ in _shown(_old(project, logs), ask)) - ask.count)
    growing = _Growing(project, logs[-1])

    def events() -> Iterator["Logged"]:
        yield from _old(project, logs[:-1])
        yield from growing.events()

    try:
        for number, group in enumerate(_shown(events(), ask)):
            if number >= skip:
                _say(group)
    except KeyboardInterrupt:
        return  # whoever only looks on ends nothing
    if not growing.ended:
        click.echo("no process works on this run any more: `foundry resume` goes on", err=True)


@dataclass
class _Growing:
    """A log that is still written."""

    project: "Project"
    log: Path
    ended: bool = field(default=False, init=False)

    def events(self) -> Iterator["Logged"]:
        """What it holds and what comes, until the run ends or nobody works on it."""
        from foundry.report.replay import Reader, follow
        from foundry.schema.events import RunEnded, Stats
        from foundry.store.lock import is_locked

        reader = Reader()
        for logged in reader.read(follow(self.log, lambda: is_locked(self.project))):
            yield logged
            if self.ended and isinstance(logged.event, Stats):
                break
            self.ended = isinstance(logged.event, RunEnded)
        _note(reader)


def _shown(logged: Iterable["Logged"], ask: _Asked) -> Iterator[list[str]]:
    """The lines of each event that is wanted."""
    from foundry.cli.output import ascii_line
    from foundry.report.log_view import Selection, log_lines

    if not ask.as_json:
        yield from log_lines(logged, ask.wanted, verbose=ask.verbose, dated=ask.all_of_them)
        return
    selection = Selection(ask.wanted)
    for each in logged:
        if selection.takes(each):
            yield [ascii_line(each.data)]


def _stats(project: "Project", logs: list[Path], ask: _Asked) -> None:
    """What the wanted events came to; counted anew, since a killed process wrote no figures."""
    from foundry.cli.output import ascii_line
    from foundry.report.details import stats_rows
    from foundry.report.lines import Line, plain
    from foundry.report.log_view import Selection
    from foundry.store.session_log import as_fields, stats_of

    selection = Selection(ask.wanted)
    stats = stats_of(each.event for each in _old(project, logs) if selection.takes(each))
    if ask.as_json:
        _say([ascii_line(as_fields(stats))])
        return
    _say([plain(Line(text, label=name or " ")) for name, text in stats_rows(stats)])


def _said(project: "Project", conversation: str, ask: _Asked) -> Iterator[str]:
    """A saved conversation; verbose shows long blocks whole."""
    from foundry.cli.output import ascii_line
    from foundry.report.log_view import conversation_lines
    from foundry.store.transcripts import find, read_transcript

    messages = read_transcript(find(project.conversations, conversation)).messages
    if ask.as_json:
        return (ascii_line(message) for message in messages)
    return conversation_lines(messages, whole=ask.verbose)


def _print(groups: Iterable[list[str]], count: int | None) -> None:
    from collections import deque

    for group in groups if count is None else deque(groups, maxlen=count):
        _say(group)


def _say(lines: Iterable[str]) -> None:
    """Lines; unlike a view it fails with the pipe, so that `foundry log -f | head` ends."""
    import sys

    from foundry.cli.output import Sink
    from foundry.report.terminal_safe import encodable

    for text in lines:
        click.echo(encodable(text, Sink(sys.stdout).encoding))
