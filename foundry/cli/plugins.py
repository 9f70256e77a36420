"""`foundry plugins`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from rich.console import RenderableType

    from foundry.plugins import Plugin, Registry

REGISTRIES = (
    "foundry.tools.toolset:TOOLS",
    "foundry.model.pool:PROVIDERS",
    "foundry.sandbox.base:SANDBOXES",
    "foundry.engine.step_kind:STEPS",
    "foundry.engine.step_kind:ACTIONS",
    "foundry.engine.announce:NOTIFIERS",
    "foundry.report.sections:SECTIONS",
)


class _Row(NamedTuple):
    plugin: "Plugin"
    problem: str
    """Why it can't be used, in one line; empty when it can."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON array, for programs.")
def command(as_json: bool) -> None:
    """What is found by name, and where it comes from.

    Foundry's own parts, and those that installed packages bring by an entry point of the group
    `foundry.plugins`, named SORT.NAME. Each is loaded to see whether it can be used, so code of
    these packages runs.
    """
    import sys
    from contextlib import redirect_stdout

    with redirect_stdout(sys.stderr):  # what a package prints when it is loaded is no part of ours
        rows = list(_rows())
    if as_json:
        import json

        click.echo(json.dumps([_fields(row) for row in rows], indent=2))
        return
    from foundry.cli.output import show

    show(_table(rows))


def _rows() -> Iterator[_Row]:
    """What every registry has, then what belongs to none."""
    from importlib import import_module

    from foundry.plugins import installed

    registries: list[Registry[Any]] = []
    for target in REGISTRIES:
        module, _, attribute = target.partition(":")
        registries.append(getattr(import_module(module), attribute))
    for registry in registries:
        for plugin in registry.plugins():
            yield _Row(plugin, _problem(registry, plugin))
    sorts = [registry.sort for registry in registries]
    for plugin in installed():
        if plugin.sort not in sorts:
            known = ", ".join(sorts)
            yield _Row(plugin, f"there is no sort {plugin.sort!r}; there are {known}")


def _problem(registry: "Registry[Any]", plugin: "Plugin") -> str:
    from foundry.errors import PluginError
    from foundry.plugins import OURS

    ours = [each.name for each in registry.plugins() if each.origin == OURS]
    if plugin.origin != OURS and plugin.name in ours:
        return f"not used: the {plugin.sort} {plugin.name!r} is Foundry's own"
    try:
        registry.load(plugin)
        registry.get(plugin.name)  # two packages may bring the same name
    except PluginError as error:
        return " ".join(error.message.split())
    return ""


def _fields(row: _Row) -> dict[str, Any]:
    plugin = row.plugin
    return {
        "sort": plugin.sort,
        "name": plugin.name,
        "origin": plugin.origin,
        "target": plugin.target,
        "loads": not row.problem,
        "problem": row.problem,
    }


def _table(rows: list[_Row]) -> "RenderableType":
    from rich.table import Table
    from rich.text import Text

    from foundry.report.lines import FAILED, OK
    from foundry.report.terminal_safe import safe

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name in ("", "sort", "name", "from"):
        table.add_column(name, no_wrap=True)
    table.add_column("", overflow="fold")
    for plugin, problem in rows:
        mark = Text(FAILED, "red") if problem else Text(OK, "green")
        cells = (plugin.sort, plugin.name, plugin.origin, problem)
        table.add_row(mark, *(Text(safe(cell)) for cell in cells))
    return table
