"""What of a circular run stands in .context-foundry/circular/: rendered from the journal. Pure.

state.json has the seed's contents, for people and programs. Nothing here is ever read back: what
is damaged or edited is written anew with the next step.
"""

from foundry.circular.base_context import fingerprint
from foundry.circular.history import (
    assignment_of,
    last_mark,
    measured,
    reverted_of,
    standing,
    states_of,
)
from foundry.circular.metrics import progress_state, work
from foundry.circular.prompt_values import rendered
from foundry.circular.prompts import prompts_of
from foundry.circular.report import completion_report
from foundry.circular.schema import CompletionStatus, IterationState, IterationStatus
from foundry.circular.state_schema import CircularState, Progress
from foundry.schema.journal import Entry, Start, Stop
from foundry.schema.workflow import LoopStep, Workflow
from foundry.store.artifacts import to_json

STATE = "circular/state.json"
PROMPT = "circular/prompt.md"
PROMPTS = "circular/prompts.json"
"""Every version of the prompt, with what became of it; prompt.md is always the person's own."""
BASE = "circular/base-context.md"
REPORT = "circular/report.md"


def circular_views(workflow: Workflow, entries: tuple[Entry, ...]) -> dict[str, str]:
    """The artifacts after the last of `entries`."""
    state = state_of(workflow, entries)
    views = {STATE: to_json(state), PROMPT: _prompt(entries) + "\n"}
    assignment, prompts = assignment_of(entries), prompts_of(entries)
    if assignment and assignment.base_context:
        views[BASE] = rendered(assignment.base_context) + "\n"
    if assignment and prompts and assignment.settings.refine:
        views[PROMPTS] = to_json(prompts.history)
    last = entries[-1]
    if isinstance(last, Stop):
        views[REPORT] = completion_report(state.progress_state, entries, last)
    return views


def state_of(workflow: Workflow, entries: tuple[Entry, ...]) -> CircularState:
    """The state that a journal tells of."""
    states = states_of(entries)
    total = most_iterations(workflow)
    status = completion_status(entries, states)
    progress = progress_state(measured(standing(states, entries)), total, status=status)
    assignment, prompts = assignment_of(entries), prompts_of(entries)
    return CircularState(
        run=entries[0].run,
        progress_state=Progress(
            total_iterations=total,
            completed_iterations=len(work(states)),
            overall_progress=progress.overall_progress,
            completion_status=progress.completion_status,
        ),
        iteration_history=tuple(map(_short, states)),
        base_context_hash=assignment.context_source.sha256
        if assignment and assignment.context_source
        else "",
        circular_prompt_hash=prompts.active.sha256 if prompts else fingerprint(_prompt(entries)),
    )


def most_iterations(workflow: Workflow) -> int:
    """How many iterations a run may have."""
    loops = (step.loop for step in workflow.steps if isinstance(step, LoopStep))
    return next((loop.max_iterations for loop in loops), 0)


def completion_status(
    entries: tuple[Entry, ...], states: tuple[IterationState, ...]
) -> CompletionStatus:
    """Complete only when the claim withstood its doubts; blocked when a breaker ended it."""
    last = work(states)[-1] if work(states) else None
    if last and last.status is IterationStatus.SUCCESS and not reverted_of(entries):
        return "complete"
    measure = last_mark(entries).measure
    tripped = measure is not None and bool(measure.trip)
    return "blocked" if tripped or (last and last.verdict == "blocked") else "in_progress"


def _prompt(entries: tuple[Entry, ...]) -> str:
    assignment = assignment_of(entries)
    return assignment.prompt if assignment else next(
        entry.spec for entry in entries if isinstance(entry, Start)
    )  # fmt: skip


def _short(state: IterationState) -> IterationState:
    """Without the output of checks, which the journal has."""
    checks = tuple(check.model_copy(update={"output": ""}) for check in state.checks)
    return state.model_copy(update={"checks": checks})
