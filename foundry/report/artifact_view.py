"""Artifacts for a terminal: Markdown laid out, JSON coloured, evidence as a table."""

import json
from collections.abc import Sequence

from pydantic import ValidationError
from rich.console import Group, RenderableType
from rich.json import JSON
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from foundry.report import units
from foundry.report.artifacts import Item
from foundry.report.lines import FAILED, NEUTRAL, OK
from foundry.report.terminal_safe import safe, safe_block
from foundry.schema.summary import CheckEvidence, CriterionEvidence, Evidence
from foundry.store.project import EVIDENCE

STATES = {"proven": (OK, "green"), "built": (NEUTRAL, "yellow"), "open": (FAILED, "red")}
CHECKS = {"passed": "green", "failed": "red", "preexisting": "yellow", "not_run": "dim"}
OLD_RUN_PARTS = 2


def artifact_view(name: str, text: str) -> RenderableType:
    """An artifact as its kind is read best; what is broken is shown as it is."""
    if name.rsplit("/", 1)[-1] == EVIDENCE:
        try:
            return evidence_view(Evidence.model_validate_json(text))
        except ValidationError:
            return _json(text)
    if name.endswith(".md"):
        return Markdown(safe_block(text), hyperlinks=False)
    return _json(text) if name.endswith(".json") else Text(safe_block(text).rstrip("\n"))


def list_view(items: Sequence[Item], now: float) -> RenderableType:
    """What there is: name, size, age, what it is. Earlier runs get one line each."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("artifact", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("age", justify="right", no_wrap=True)
    table.add_column("", style="dim")
    for item in _folded(items):
        age = units.duration(max(0.0, now - item.modified))
        table.add_row(Text(safe(item.name)), units.size(item.size), age, _one_line(item.what))
    return table


def _one_line(text: str) -> Text:
    return Text(text, no_wrap=True, overflow="ellipsis")


def evidence_view(evidence: Evidence) -> RenderableType:
    """Requirement → state → task → check → exit code → commit."""
    proven = sum(1 for each in evidence.requirements if each.state == "proven")
    head = f"{proven} of {units.counted(len(evidence.requirements), 'requirement')} proven"
    parts: list[RenderableType] = [Text(f"{evidence.status}: {head}", "bold")]
    for requirement in evidence.requirements:
        mark, style = STATES[requirement.state]
        title = Text(f"\n{mark} {requirement.id} ", style)
        title.append(f"{requirement.state} ", style).append(safe(requirement.text), "default")
        parts += [title, _criteria(requirement.criteria)]
    for name, checks in (
        ("Final checks", evidence.final_checks),
        ("Commands in the documentation", evidence.documentation),
    ):
        if checks:
            parts += [Text(f"\n{name}", "bold"), _checks(checks)]
    return Group(*parts)


def _criteria(criteria: Sequence[CriterionEvidence]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    for ratio, width in ((None, None), (1, None), (None, 12), (None, 15), (None, 7)):
        table.add_column(ratio=ratio, width=width, overflow="fold")
    for each in criteria:
        task, commit = Text(safe(each.task), "dim"), Text(each.commit[:7], "dim")
        table.add_row("", Text(safe(each.criterion)), task, _exit(each.check), commit)
    return table


def _checks(checks: Sequence[CheckEvidence]) -> Table:
    table = Table.grid(padding=(0, 2))
    for check in checks:
        table.add_row(Text(f"  {safe(check.name)}"), Text(safe(check.command), "dim"), _exit(check))
    return table


def _exit(check: CheckEvidence | None) -> Text:
    if check is None:
        return Text("no check", "dim")
    status = check.status.replace("_", " ")
    code = "" if check.exit_code is None else f", exit {check.exit_code}"
    return Text(f"{status}{code}", CHECKS[check.status])


def _folded(items: Sequence[Item]) -> list[Item]:
    """The items with the files of each earlier run as one."""
    shown: dict[str, Item] = {}
    for item in items:
        parts = item.name.split("/")
        old = parts[0] == "history" and len(parts) > OLD_RUN_PARTS
        name = "/".join(parts[:OLD_RUN_PARTS]) + "/" if old else item.name
        size = item.size + (shown[name].size if name in shown else 0)
        shown[name] = Item(name, size, item.modified, item.what)
    return list(shown.values())


def _json(text: str) -> RenderableType:
    try:
        return JSON.from_data(json.loads(text), ensure_ascii=False)
    except ValueError:
        return Text(safe_block(text))
