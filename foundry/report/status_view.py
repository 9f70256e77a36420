"""A status report for a terminal of 60 columns or more."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from foundry.report import units
from foundry.report.lines import NEUTRAL, OK
from foundry.report.render import STYLES
from foundry.report.run_lines import STATUS_MARKS
from foundry.report.status import StatusReport
from foundry.report.terminal_safe import safe
from foundry.schema.base import now
from foundry.schema.run import Status
from foundry.schema.summary import TestSummary

PHASES = {
    "done": (OK, "green"),
    "running": (NEUTRAL, "cyan"),
    "begun": (NEUTRAL, "yellow"),
    "pending": ("·", "dim"),
    "skipped": ("-", "dim"),
}
SHOWN_TASKS = 30


def status_view(report: StatusReport) -> RenderableType:
    """The whole report."""
    parts: list[RenderableType] = [head(report), facts(report), Text(), _phases(report)]
    if report.tasks:
        parts += [Text(), _tasks(report)]
    return Group(*parts)


def head(report: StatusReport) -> Text:
    """How it stands, in a line."""
    mark, tone = STATUS_MARKS.get(report.status, (NEUTRAL, "plain"))
    style = "bold cyan" if report.status is Status.RUNNING else f"bold {STYLES[tone]}".strip()
    pid = f", process {report.pid}" if report.pid else ""
    text = Text(f"{mark} {report.status}", style)
    return text.append(f": {safe(report.reason)}{pid}", "default")


def facts(report: StatusReport) -> Table:
    """Where it is, what it used, what it does now."""
    table = Table.grid(padding=(0, 2), pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in _rows(report):
        value = Text(safe(text))
        if name == "spec":
            value.no_wrap, value.overflow = True, "ellipsis"
        table.add_row(name, value)
    return table


def _rows(report: StatusReport) -> Iterator[tuple[str, str]]:
    yield "run", report.run
    yield "spec", report.spec
    yield "place", report.place
    yield "branch", f"{report.branch} · {units.counted(report.commits, 'commit')}"
    yield "used", _used(report)
    if report.reflection.rounds:
        thought = report.reflection
        used = f"{units.money(thought.cost_usd)} · {units.tokens(thought.tokens)} tokens"
        yield "thinking", f"{units.counted(thought.rounds, 'round')} of it · {used}"
    yield (
        "time",
        (
            f"{units.duration(report.active_seconds)} at work, "
            f"{units.duration(report.elapsed_seconds)} since the start"
        ),
    )
    if report.tests.iterations:
        yield "tests", _tests(report.tests)
        yield "proof", report.proof
    for words in report.flags:
        yield "know", words
    if report.due:
        yield ("now" if report.status is Status.RUNNING else "next"), report.due
    since = units.ago((now() - report.last_activity_at).total_seconds())
    yield "last", f"{report.last_activity} ({since})"
    for warning in report.warnings:
        yield "warning", warning


def _used(report: StatusReport) -> str:
    cost = "price unknown" if report.cost_usd is None else units.money(report.cost_usd)
    peak = units.share(report.peak_context_share)
    return f"{cost} · {units.tokens(report.tokens)} tokens · context at most {peak} full"


def _tests(tests: TestSummary) -> str:
    verdict = "passed" if tests.passed else f"{tests.failing} of {tests.checks} checks failing"
    before = f", {tests.preexisting} failing since before" if tests.preexisting else ""
    counts = tests.tests
    single = f" ({counts.total - counts.failed - counts.skipped}/{counts.total})" if counts else ""
    return f"{verdict}{single}{before} · {units.counted(tests.iterations, 'iteration')}"


def _phases(report: StatusReport) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("phase", no_wrap=True)
    table.add_column("", no_wrap=True)
    for heading in ("steps", "failed", "time", "tokens", "cost"):
        table.add_column(heading, justify="right", no_wrap=True)
    done = sum(1 for task in report.tasks if task.state == "done")
    for phase in report.phases:
        mark, style = PHASES[phase.state]
        counted = f"{done}/{len(report.tasks)}" if phase.phase == "builder" else str(phase.steps)
        figures = (
            counted,
            str(phase.failed_attempts or ""),
            units.duration(phase.seconds),
            units.tokens(phase.tokens),
            units.money(phase.cost_usd),
        )
        idle = not phase.steps and not phase.failed_attempts
        name = Text(f"{mark} {safe(phase.phase)}", style)
        table.add_row(name, Text(phase.state, style), *(("",) * 5 if idle else figures))
    return table


def _tasks(report: StatusReport) -> Table:
    done = sum(1 for task in report.tasks if task.state == "done")
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", expand=False)
    table.add_column("")
    table.add_column(f"tasks {done}/{len(report.tasks)}", overflow="ellipsis", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("commit", no_wrap=True)
    for task in report.tasks[:SHOWN_TASKS]:
        mark = Text(OK, "green") if task.state == "done" else Text("·", "dim")
        tried = f" ({task.attempts} attempts)" if task.attempts > 1 else ""
        time = units.duration(task.seconds) if task.state == "done" else ""
        table.add_row(mark, Text(safe(task.title) + tried), time, task.commit[:7])
    more = len(report.tasks) - SHOWN_TASKS
    if more > 0:
        table.add_row("", Text(f"and {more} more: foundry status --json", "dim"))
    return table
