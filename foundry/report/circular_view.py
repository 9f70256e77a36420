"""The state of a circular run for a terminal: the run, then an iteration a row."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from foundry.circular.metrics import counted
from foundry.circular.report import adapted
from foundry.circular.schema import IterationState, IterationStatus
from foundry.report import units
from foundry.report.circular import CircularReport
from foundry.report.lines import FAILED, NEUTRAL, OK
from foundry.report.status_view import facts, head
from foundry.report.terminal_safe import safe

MARKS = {
    IterationStatus.SUCCESS: (OK, "green"),
    IterationStatus.CONTINUE: (NEUTRAL, "cyan"),
    IterationStatus.BLOCKED: (FAILED, "red"),
    IterationStatus.UNKNOWN: (NEUTRAL, "yellow"),
}
COLUMNS = ("context", "tokens", "files", "resolved", "found", "checks", "time", "ended", "commit")


def circular_view(report: CircularReport) -> RenderableType:
    """The whole report."""
    parts: list[RenderableType] = [head(report.run), facts(report.run), Text(), _progress(report)]
    if report.iterations:
        parts += [Text(), _iterations(report)]
    if lines := adapted(report.iterations):
        parts += [Text(), *(Text(safe(line), "dim") for line in lines)]
    return Group(*parts)


def _progress(report: CircularReport) -> Text:
    progress, overall = report.progress, report.metrics.overall
    return Text(
        f"{progress.completion_status.replace('_', ' ')}: "
        f"{progress.completed_iterations} of at most "
        f"{units.counted(progress.total_iterations, 'iteration')} · "
        f"{units.share(progress.overall_progress)} of the known issues resolved · "
        f"{overall.progress_per_token:.0f} issues per million tokens"
    )


def _iterations(report: CircularReport) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    for name in COLUMNS:
        right = name not in ("ended", "commit")
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    for state in report.iterations:
        mark, style = MARKS[state.status]
        name = f"{mark} {state.number}{' doubt' if state.kind == 'doubt' else ''}"
        table.add_row(Text(name, style), *_figures(state, report))
    return table


def _figures(state: IterationState, report: CircularReport) -> tuple[str, ...]:
    holding = sum(1 for check in state.checks if check.holds)
    ended = (state.verdict or state.ending or state.reason).replace("_", " ")
    undone = state.kind == "work" and state.number in report.reverted
    return (
        units.share(state.peak_context),
        units.tokens(state.tokens),
        str(len(state.files_modified)),
        str(counted(state.issues_resolved)),
        str(counted(state.issues_discovered)),
        f"{holding}/{len(state.checks)}" if state.checks else "",
        units.duration(state.seconds),
        safe(ended) + (", taken back" if undone else ""),
        state.commit[:7],
    )
