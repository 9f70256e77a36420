"""How a circular run stands, from its journal, and that for a terminal. Changes nothing."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from foundry.circular.history import assignment_of, reverted_of, states_of
from foundry.circular.metrics import CircularMetrics, counted, final_metrics
from foundry.circular.prompt_versions import PromptHistory, prompts_of
from foundry.circular.report import adaptations, state_of
from foundry.circular.schema import IterationState, ProgressState
from foundry.engine.pinned_workflow import kept
from foundry.errors import ProjectError
from foundry.report import units
from foundry.report.render import STYLES
from foundry.report.run_lines import ITERATION_MARKS
from foundry.report.status import StatusReport, status_of
from foundry.report.status_view import facts, head
from foundry.report.terminal_safe import safe
from foundry.schema.base import Value
from foundry.schema.journal import Start
from foundry.store import journal
from foundry.store.git.repository import Repository
from foundry.store.project import Project


class CircularReport(Value):
    """`foundry circular status --json`."""

    run: StatusReport
    progress: ProgressState
    iterations: tuple[IterationState, ...]
    reverted: tuple[int, ...] = ()
    """Iterations whose work a person took back."""
    metrics: CircularMetrics
    prompts: PromptHistory | None = None
    """Every wording of the prompt, where threads may propose some."""
    base_context_hash: str
    circular_prompt_hash: str


def circular_report(project: Project) -> CircularReport:
    """The state of the run in a project; raises ProjectError when it is no circular one."""
    run = status_of(project)
    entries = journal.read(project.journal)
    start = entries[0]
    assignment = assignment_of(entries)
    if assignment is None or not isinstance(start, Start):
        raise ProjectError(
            f"the newest run in {project.root} is not one of `foundry circular`",
            hint="`foundry status` tells of it",
        )
    commits = {each.step: each.sha for each in Repository(project.root).commits(start.run)}
    states = states_of(entries, commits)
    prompts = prompts_of(entries) if assignment.settings.refine else None
    state = state_of(kept(start).workflow, entries)
    return CircularReport(
        run=run,
        progress=state.progress_state,
        iterations=states,
        reverted=tuple(sorted(reverted_of(entries))),
        metrics=final_metrics(
            states, complete=state.progress_state.completion_status == "complete"
        ),
        prompts=prompts.history if prompts else None,
        base_context_hash=state.base_context_hash,
        circular_prompt_hash=state.circular_prompt_hash,
    )


COLUMNS = ("context", "tokens", "files", "resolved", "found", "checks", "time", "ended", "commit")


def circular_view(report: CircularReport) -> RenderableType:
    """The whole report."""
    parts: list[RenderableType] = [head(report.run), facts(report.run), Text(), _progress(report)]
    if report.iterations:
        parts += [Text(), _iterations(report)]
    if lines := adaptations(report.iterations):
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
        mark, tone = ITERATION_MARKS[state.status]
        name = f"{mark} {state.number}{' doubt' if state.kind == 'doubt' else ''}"
        table.add_row(Text(name, STYLES[tone]), *_figures(state, report))
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
