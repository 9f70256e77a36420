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

    project, chosen = find(folder), _read_options(conversation, options)
    if conversation and not (chosen.wanted.single or chosen.stats or chosen.follow):
        _print(([line] for line in _conversation(project, conversation, chosen)), chosen.count)
        return
    logs = _logs(project)
    if not chosen.all_of_them:
        logs = logs[-1:]
    if chosen.stats:
        _stats(project, logs, chosen)
    elif chosen.follow:
        _follow(project, logs, chosen)
    else:
        _print(_lines_by_event(_recorded(project, logs), chosen), chosen.count)


@dataclass(frozen=True)
class _Options:
    """The options, read."""

    wanted: "Wanted"
    all_of_them: bool
    follow: bool
    count: int | None
    verbose: bool
    as_json: bool
    stats: bool


def _read_options(conversation: str, options: dict[str, Any]) -> _Options:
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
    return _Options(
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


def _recorded(project: "Project", logs: Iterable[Path]) -> Iterator["Logged"]:
    """The events of logs as they are now, and a note where something can't be read."""
    from foundry.report.replay import Reader, is_torn, whole_lines
    from foundry.store.lock import is_locked

    reader = Reader()
    for log in logs:
        yield from reader.read(whole_lines(log))
        if is_torn(log) and not is_locked(project):
            reader.damaged += 1
    _report_damage(reader)


def _report_damage(reader: "Reader") -> None:
    from foundry.report.units import counted

    if reader.damaged:
        click.echo(f"{counted(reader.damaged, 'damaged or torn line')} passed over", err=True)


def _follow(project: "Project", logs: list[Path], chosen: _Options) -> None:
    skip = 0
    if chosen.count is not None:
        skip = max(
            0, sum(1 for _ in _lines_by_event(_recorded(project, logs), chosen)) - chosen.count
        )
    growing = _Growing(project, logs[-1])

    def events() -> Iterator["Logged"]:
        yield from _recorded(project, logs[:-1])
        yield from growing.events()

    try:
        for number, group in enumerate(_lines_by_event(events(), chosen)):
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
        _report_damage(reader)


def _lines_by_event(logged: Iterable["Logged"], chosen: _Options) -> Iterator[list[str]]:
    """The lines of each event that is wanted."""
    from foundry.cli.output import ascii_line
    from foundry.report.log_view import Selection, log_lines

    if not chosen.as_json:
        yield from log_lines(
            logged, chosen.wanted, verbose=chosen.verbose, dated=chosen.all_of_them
        )
        return
    selection = Selection(chosen.wanted)
    for each in logged:
        if selection.takes(each):
            yield [ascii_line(each.data)]


def _stats(project: "Project", logs: list[Path], chosen: _Options) -> None:
    """What the wanted events came to; counted anew, since a killed process wrote no figures."""
    from foundry.cli.output import ascii_line
    from foundry.report.details import stats_rows
    from foundry.report.lines import Line, plain
    from foundry.report.log_view import Selection
    from foundry.store.session_log import as_fields, stats_of

    selection = Selection(chosen.wanted)
    stats = stats_of(each.event for each in _recorded(project, logs) if selection.takes(each))
    if chosen.as_json:
        _say([ascii_line(as_fields(stats))])
        return
    _say([plain(Line(text, label=name or " ")) for name, text in stats_rows(stats)])


def _conversation(project: "Project", conversation: str, chosen: _Options) -> Iterator[str]:
    """A saved conversation; verbose shows long blocks whole."""
    from foundry.cli.output import ascii_line
    from foundry.report.log_view import conversation_lines
    from foundry.store.transcripts import find, read_transcript

    messages = read_transcript(find(project.conversations, conversation)).messages
    if chosen.as_json:
        return (ascii_line(message) for message in messages)
    return conversation_lines(messages, whole=chosen.verbose)


def _print(groups: Iterable[list[str]], count: int | None) -> None:
    from collections import deque

    for group in groups if count is None else deque(groups, maxlen=count):
        _say(group)


def _say(lines: Iterable[str]) -> None:
    from foundry.cli.output import say

    for line in lines:
        say(line)
