"""How a circular run stands, from its journal. Reads, and changes nothing."""

from foundry.circular.history import assignment_of, reverted_of, states_of
from foundry.circular.metrics import CircularMetrics
from foundry.circular.prompt_versions import prompts_of
from foundry.circular.report import metrics_of, state_of
from foundry.circular.schema import IterationState, Progress, PromptHistory
from foundry.engine.pinned_workflow import kept
from foundry.errors import ProjectError
from foundry.report.status import StatusReport, status_of
from foundry.schema.base import Value
from foundry.schema.journal import Start
from foundry.store import journal
from foundry.store.git.repository import Repository
from foundry.store.project import Project


class CircularReport(Value):
    """`foundry circular status --json`."""

    run: StatusReport
    progress: Progress
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
        metrics=metrics_of(state.progress_state.completion_status == "complete", states),
        prompts=prompts.history if prompts else None,
        base_context_hash=state.base_context_hash,
        circular_prompt_hash=state.circular_prompt_hash,
    )
