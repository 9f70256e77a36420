"""The artifacts of a project: what there is, which one a name means, and how it is laid out."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from rich.console import Group, RenderableType
from rich.json import JSON
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from foundry.engine.counts import told
from foundry.errors import InputError
from foundry.report import units
from foundry.report.lines import CHECK_MARKS, FAILED, NEUTRAL, OK
from foundry.report.render import STYLES
from foundry.report.terminal_safe import safe, safe_block
from foundry.schema.flag import Ruling
from foundry.schema.summary import CheckEvidence, CriterionEvidence, Evidence
from foundry.store.project import ARTIFACTS, EVIDENCE, FOLDER, Project

HIDDEN = ("local",)


@dataclass(frozen=True, slots=True)
class Item:
    """An artifact: its name below .context-foundry, bytes, and when it was written (epoch)."""

    name: str
    size: int
    modified: float
    what: str


def items(project: Project) -> list[Item]:
    """Every artifact, in the order of the pipeline; what is local is not among them."""
    names = list(ARTIFACTS)

    def kind(name: str) -> int:
        return next((n for n, begin in enumerate(names) if name.startswith(begin)), len(names))

    found = []
    for path in _files(project.folder):
        name, stat = path.relative_to(project.folder).as_posix(), path.stat()
        what = [*ARTIFACTS.values(), ""][kind(name)]
        found.append(Item(name, stat.st_size, stat.st_mtime, what))
    return sorted(found, key=lambda item: (kind(item.name), item.name))


def choose(project: Project, name: str) -> list[Item]:
    """The artifact that a name or the beginning of one means; several for a folder.

    Raises InputError that lists what there is.
    """
    wanted = name.removeprefix(f"{FOLDER}/").strip("/")
    if ".." in Path(name).parts or Path(name).is_absolute():
        raise InputError(f"{name!r} is not the name of an artifact", hint=_known(items(project)))
    have = items(project)
    for matches in (
        [item for item in have if item.name == wanted],
        [item for item in have if item.name.startswith(f"{wanted}/")],
    ):
        if matches and wanted:
            return matches
    begin = [item for item in have if wanted and item.name.startswith(wanted)]
    begin = begin or [i for i in have if wanted and Path(i.name).name.startswith(wanted)]
    if len(begin) == 1:
        return begin
    if begin:
        several = ", ".join(item.name for item in begin)
        raise InputError(f"{name!r} may mean several artifacts", hint=f"They are {several}")
    raise InputError(f"there is no artifact {name!r}", hint=_known(have))


def _files(folder: Path) -> list[Path]:
    """Regular files; no links, so that nothing outside the folder is ever shown."""
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not any(part.is_symlink() for part in (path, *path.parents) if part != folder.parent)
        and path.relative_to(folder).parts[0] not in HIDDEN
        and not path.name.startswith(".")
    ]


def _known(have: list[Item]) -> str:
    shown = [item.name for item in have if not item.name.startswith("history/")]
    return f"There are {', '.join(shown)}" if shown else "There are none yet"


STATES = {
    "proven": (OK, "green"),
    "tested": (OK, "default"),
    "claimed": (NEUTRAL, "yellow"),
    "missing": (FAILED, "red"),
}
OLD_RUN_PARTS = 2


def artifact_view(name: str, text: str) -> RenderableType:
    """An artifact as its kind is read best; what is broken is shown as it is."""
    if name.rsplit("/", 1)[-1] == EVIDENCE:
        try:
            return evidence_view(Evidence.model_validate_json(text))
        except ValidationError:
            return _json(text)
    if name.endswith(".md"):
        return markdown_view(text)
    return _json(text) if name.endswith(".json") else Text(safe_block(text).rstrip("\n"))


def markdown_view(text: str) -> RenderableType:
    """Markdown laid out; nothing in it reaches the terminal as a control sequence or a link."""
    return Markdown(safe_block(text), hyperlinks=False)


def list_view(items: Sequence[Item], now: float) -> RenderableType:
    """What there is: name, size, age, what it is. Earlier runs get one line each."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("artifact", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("age", justify="right", no_wrap=True)
    table.add_column("", style="dim")
    for item in _folded(items):
        age = units.duration(max(0.0, now - item.modified))
        what = Text(item.what, no_wrap=True, overflow="ellipsis")
        table.add_row(Text(safe(item.name)), units.size(item.size), age, what)
    return table


def evidence_view(evidence: Evidence) -> RenderableType:
    """Requirement → state → task → check → exit code → commit."""
    head = f"{evidence.status}: {told(evidence.counts)}".rstrip(": ")
    parts: list[RenderableType] = [Text(head, "bold")]
    parts += [Text(f"{NEUTRAL} {safe(each)}", "yellow") for each in evidence.reasons]
    for requirement in evidence.requirements:
        mark, style = STATES[requirement.state]
        title = Text(f"\n{mark} {requirement.id} ", style)
        kind = "" if requirement.testable else " (no command can tell)"
        title.append(f"{requirement.state}{kind} ", style).append(safe(requirement.text), "default")
        parts += [title, _criteria(requirement.criteria)]
    for name, checks in (
        ("Final checks", evidence.final_checks),
        ("Commands in the documentation", evidence.documentation),
    ):
        if checks:
            parts += [Text(f"\n{name}", "bold"), _checks(checks)]
    for name, words in (
        ("To know before you trust it", [flag.words for flag in evidence.flags]),
        ("What the reviewer said of changed tests", [_ruled(each) for each in evidence.rulings]),
        ("Remarks of the reviewer", evidence.remarks),
        ("Work that no check misses", evidence.unnoticed),
        ("Statements that no check misses", evidence.survivors),
    ):
        if words:
            parts += [Text(f"\n{name}", "bold"), *(Text(f"  {safe(each)}") for each in words)]
    return Group(*parts)


def _ruled(ruling: Ruling) -> str:
    verdict = "justified" if ruling.justified else "not justified"
    return f"{ruling.flag}: {verdict}: {ruling.reason}"


def _criteria(criteria: Sequence[CriterionEvidence]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    for ratio, width in ((None, None), (1, None), (None, 12), (None, 18), (None, 7)):
        table.add_column(ratio=ratio, width=width, overflow="fold")
    for each in criteria:
        task, commit = Text(safe(each.task), "dim"), Text(each.commit[:7], "dim")
        shown = _exit(each.check)
        if each.before and not each.before.ok:
            shown.append(f", {each.before.verdict} before", "dim")
        table.add_row("", Text(safe(each.criterion)), task, shown, commit)
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
    return Text(f"{status}{code}", STYLES[CHECK_MARKS[check.status][1]])


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
