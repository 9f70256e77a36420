"""`foundry log`."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from foundry.report.replay import Logged
    from foundry.store.project import Project


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, default=".",
                type=click.Path(path_type=Path))  # fmt: skip
@click.option("-f", "--follow", is_flag=True, help="Go on until the build ends, or Ctrl-C.")
@click.option("-n", "count", type=click.IntRange(min=0), help="Only the last N lines.")
@click.option("-v", "--verbose", is_flag=True, help="Every model turn and tool call too.")
@click.option("--all", "everything", is_flag=True, help="All invocations, not the newest alone.")
@click.option("--json", "as_json", is_flag=True, help="The log's own JSON lines.")
def command(
    folder: Path,
    follow: bool,
    count: int | None,
    verbose: bool,
    everything: bool,
    as_json: bool,
) -> None:
    """What happened in the newest build in or beside DIR, line by line."""
    from foundry.engine.workspace import find

    project = find(folder)
    logs = _logs(project, everything=everything)
    shown = _shown(_old(logs[:-1] if follow else logs), verbose, as_json)
    if not follow:
        _print(shown, count)
        return
    _print(shown, None)
    try:
        _follow(project, logs[-1], count, verbose, as_json)
    except KeyboardInterrupt:
        return  # whoever only looks on ends nothing


def _logs(project: "Project", *, everything: bool) -> list[Path]:
    from foundry.errors import InputError

    logs = sorted(project.logs.glob("*.jsonl"))
    if not logs:
        raise InputError(
            f"there is no log in {project.logs}",
            hint="It is kept on the machine that ran the build, and never committed",
        )
    return logs if everything else logs[-1:]


def _follow(project: "Project", log: Path, count: int | None, verbose: bool, as_json: bool) -> None:
    from foundry.report.replay import read_line
    from foundry.report.tail import follow
    from foundry.report.working import is_worked_on
    from foundry.schema.events import RunEnded

    skip = 0
    if count is not None:
        skip = max(0, len(list(_shown(_old([log]), verbose, as_json))) - count)
    ended = False

    def events() -> Iterator["Logged"]:
        nonlocal ended
        for line in follow(log, lambda: is_worked_on(project)):
            if logged := read_line(line):
                ended = isinstance(logged.event, RunEnded)
                yield logged
                if ended:
                    return

    for number, text in enumerate(_shown(events(), verbose, as_json)):
        if number >= skip:
            _say(text)
    if not ended:
        click.echo("no process works on this run any more: `foundry resume` goes on", err=True)


def _old(logs: Iterable[Path]) -> Iterator["Logged"]:
    from foundry.report.replay import replay
    from foundry.report.tail import whole_lines

    for log in logs:
        yield from replay(whole_lines(log))


def _shown(logged: Iterable["Logged"], verbose: bool, as_json: bool) -> Iterator[str]:
    import json

    from foundry.cli.plain import stamped
    from foundry.report.narrate import Narrator

    narrator = Narrator(details=verbose)
    for each in logged:
        if as_json:
            yield json.dumps(json.loads(each.raw))  # the same data, in ASCII
        else:
            yield from stamped(each.at, narrator.tell(each.event))


def _print(lines: Iterable[str], count: int | None) -> None:
    from collections import deque

    for text in lines if count is None else deque(lines, maxlen=count):
        _say(text)


def _say(text: str) -> None:
    """One line; unlike a view it fails with the pipe, so that `foundry log -f | head` ends."""
    import sys

    from foundry.report.safe import encodable

    click.echo(encodable(text, sys.stdout.encoding))
