"""`foundry memory`: what earlier turns and steps of a project had before them, did and learned."""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from foundry.cli.main import SectionedGroup

if TYPE_CHECKING:
    from datetime import datetime

    from foundry.schema.memory import Filter, MemoryEntry
    from foundry.store.memory.store import ContextMemoryStore

COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Look": {
        "search": "The turns and steps that fit a question best.",
        "show": "One turn or step, whole, by its id.",
        "timeline": "What happened, in its order.",
        "stats": "How much there is, and what it saves.",
    },
    "Move": {
        "export": "All of it as JSON lines.",
        "import": "What an export holds; the same twice changes nothing.",
        "purge": "Remove for good, by run or by age.",
    },
}


@click.group(cls=SectionedGroup, sections=COMMANDS)
def command() -> None:
    """What earlier turns and steps of a project had before them, did and learned.

    It spans all runs of the project, lies in .context-foundry/local/memory.db and is never
    committed. Secrets are taken out before anything is stored.
    """


Command = Callable[..., Any]

_folder_option = click.option("--dir", "folder", default=".", type=click.Path(path_type=Path),
                            help="The project's folder. Default: this one.")  # fmt: skip

_FILTERS = (
    click.option("--run", metavar="ID", default="", help="Only of this run."),
    click.option("--phase", metavar="NAME", default="", help="Only of this phase."),
    click.option("--step", metavar="ID", default="", help="Only of this step."),
    click.option("--kind", type=click.Choice(["turn", "step"]), help="Only turns, or only steps."),
    click.option("--file", metavar="PATH", default="",
                 help="Only what had to do with this file; the end of its path is enough."),
    click.option("--since", metavar="TIME", help="Only from then on: 10m, 2d (ago), 2026-01-02."),
    click.option("--until", metavar="TIME", help="Only before then."),
)  # fmt: skip


def _filter_options(command: Command) -> Command:
    """The options that say which entries are meant."""
    for option in reversed(_FILTERS):
        command = option(command)
    return command


def _filter_of(options: dict[str, Any]) -> "Filter":
    """What the options mean."""
    from foundry.schema.memory import Filter

    times = {name: _moment_of(options.pop(name)) for name in ("since", "until")}
    return Filter(**options, **times)


def _moment_of(text: str | None) -> "datetime | None":
    """A time as a person gives it."""
    from foundry.report.units import moment
    from foundry.schema.base import now

    return moment(text, now()) if text else None


def _memory_of(folder: Path, *, make: bool = False) -> "ContextMemoryStore":
    """The memory of the project that a folder is in; InputError when it has none."""
    from foundry.errors import InputError
    from foundry.store.memory.store import ContextMemoryStore, nearest

    folder = folder.expanduser().resolve()
    path = nearest(folder)
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}")
    if not make and not path.exists():
        raise InputError(
            f"there is no memory in {folder}",
            hint="A build makes one; `foundry memory import FILE` brings one along",
        )
    return ContextMemoryStore(path, tell=lambda note: click.echo(f"note: {note}", err=True))


@command.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True,
              help="At most so many.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@_filter_options
@_folder_option
def search(query: tuple[str, ...], limit: int, as_json: bool, folder: Path, **options: Any) -> None:
    """The turns and steps that fit QUERY best, best first, with their ids.

    What was said and what was done are both searched, by whole words and by the words within
    names: `parse request` finds parseHTTPRequest. Nothing is printed when nothing fits.
    """
    with _memory_of(folder) as memory:
        found = memory.search(" ".join(query), _filter_of(options), limit)
    if as_json:
        for head in found:
            click.echo(head.model_dump_json(exclude={"number"}))
        return
    from foundry.cli.output import show
    from foundry.report.memory_view import found_view

    show(found_view(found))


@command.command("show")
@click.argument("entry_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="As a line of an export.")
@_folder_option
def show_entry(entry_id: str, as_json: bool, folder: Path) -> None:
    """One turn or step, whole: its task, words, calls, results, files, state and summaries.

    The beginning of an ID is enough where no other begins so.
    """
    with _memory_of(folder) as memory:
        entry = _entry(memory, entry_id.strip("[]"))
    if as_json:
        from foundry.store.memory.transfer import to_line

        click.echo(to_line(entry))
        return
    from foundry.cli.output import say
    from foundry.report.memory_view import entry_text
    from foundry.report.terminal_safe import safe_block

    say(safe_block(entry_text(entry)))


def _entry(memory: "ContextMemoryStore", wanted: str) -> "MemoryEntry":
    from foundry.errors import InputError

    ids = memory.matching(wanted, 6) if wanted else []
    if len(ids) > 1:
        raise InputError(f"several entries begin with {wanted!r}: {', '.join(ids)}")
    found = memory.get(ids[0]) if ids else None
    if found is None:
        raise InputError(
            f"there is no entry {wanted!r} in {memory.path}",
            hint="`foundry memory timeline` lists them",
        )
    return found


@command.command("timeline")
@click.option("-n", "count", type=click.IntRange(1, 1_000_000), default=50, show_default=True,
              help="The newest so many.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@_filter_options
@_folder_option
def timeline(count: int, as_json: bool, folder: Path, **options: Any) -> None:
    """What happened, oldest first: each turn and step with its id and its summary."""
    with _memory_of(folder) as memory:
        heads = memory.heads(_filter_of(options), limit=count, newest_first=True)[::-1]
    if as_json:
        for head in heads:
            click.echo(head.model_dump_json(exclude={"number", "score"}))
        return
    from foundry.cli.output import show
    from foundry.report.memory_view import timeline_view

    show(timeline_view(heads))


@command.command("stats")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@_folder_option
def stats(as_json: bool, folder: Path) -> None:
    """How much there is: turns, steps, tokens of originals and summaries, bytes; and how much of
    it a conversation that begins now is told."""
    from foundry.conversation.memory.accumulate import accumulated
    from foundry.model.tokens import CHARACTERS_PER_TOKEN

    with _memory_of(folder) as memory:
        found, path = memory.stats(), memory.path
        prompt_tokens = int(len(accumulated(memory.past(""))) / CHARACTERS_PER_TOKEN)
    if as_json:
        click.echo(
            json.dumps({**found.model_dump(mode="json"), "told_tokens": prompt_tokens}, indent=2)
        )
        return
    from foundry.cli.output import show
    from foundry.report.memory_view import stats_view

    show(stats_view(found, prompt_tokens, path))


@command.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@_folder_option
def export(file: Path, folder: Path) -> None:
    """Write all of it to FILE as JSON lines; `-` is stdout.

    docs/memory.schema.json describes a line. A memory whose file gets damaged is made anew from
    what can be read of it and from exports beside it: .context-foundry/local/memory*.jsonl.
    """
    from foundry.report.units import counted
    from foundry.store.memory.transfer import write_export, write_lines

    with _memory_of(folder) as memory:
        if str(file) == "-":
            write_lines(memory.entries(), sys.stdout)
            return
        count = write_export(memory.entries(), file)
    click.echo(f"{file}: {counted(count, 'line')}")


@command.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@_folder_option
def import_export(file: Path, folder: Path) -> int:
    """Store what an export holds under the ids that it has there.

    What is there already stays as it is. A line that is no entry, or was changed since it was
    written, is told on stderr with its number and left out; then the exit code is 1.
    """
    from foundry.report.terminal_safe import safe
    from foundry.report.units import counted
    from foundry.store.memory.transfer import in_batches, read_export

    new = known = wrong = 0
    with _memory_of(folder, make=True) as memory:
        for some in in_batches(read_export(file)):
            brought = memory.take(some.entries)
            new, known = new + brought, known + len(some.entries) - brought
            wrong += len(some.problems)
            for problem in some.problems:
                click.echo(safe(f"{file}:{problem.line}: {problem.reason}"), err=True)
    left_out = f", {counted(wrong, 'line')} left out" if wrong else ""
    click.echo(f"{new:,} new, {known:,} known already{left_out}")
    return 1 if wrong else 0


@command.command("purge")
@click.option("--run", metavar="ID", default="", help="What is of this run.")
@click.option("--before", metavar="TIME", help="What ended before then: 30d (ago), 2026-01-02.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_folder_option
def purge(run: str, before: str | None, yes: bool, folder: Path) -> None:
    """Remove originals, summaries and what finds them, for good, by run or by age.

    With --run and --before only what is both. What only the removed entries held is gone from the
    file, too; exports, and damaged files that were set aside beside it, stay as they are.
    """
    from foundry.schema.memory import Filter

    if not run and not before:
        raise click.UsageError("say what to remove: --run or --before")
    at = _moment_of(before)
    with _memory_of(folder) as memory:
        count = len(memory.heads(Filter(run=run, until=at)))
        if count and not yes:
            if not sys.stdin.isatty():
                raise click.UsageError(f"--yes removes {count:,} of them without a question")
            click.confirm(f"Remove {count:,} turns and steps for good?", abort=True)
        removed = memory.purge(run=run, before=at)
    click.echo(f"removed {removed:,} {'entry' if removed == 1 else 'entries'}")
