"""`foundry memory show`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from foundry.cli.remembered import memory_of, place_option

if TYPE_CHECKING:
    from foundry.schema.memory import MemoryEntry
    from foundry.store.memory.store import ContextMemoryStore


@click.command("show")
@click.argument("entry_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="As a line of an export.")
@place_option
def command(entry_id: str, as_json: bool, folder: Path) -> None:
    """One turn or step, whole: its task, words, calls, results, files, state and summaries.

    The beginning of an ID is enough where no other begins so.
    """
    with memory_of(folder) as memory:
        entry = _entry(memory, entry_id.strip("[]"))
    if as_json:
        from foundry.store.memory.transfer import to_line

        click.echo(to_line(entry))
        return
    from foundry.report.memory_view import entry_text
    from foundry.report.terminal_safe import encodable, safe_block

    click.echo(encodable(safe_block(entry_text(entry)), sys.stdout.encoding))


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
