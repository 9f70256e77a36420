"""What of a circular run stands in .context-foundry/circular/: rendered from the journal. Pure.

state.json has the seed's contents, for people and programs; report.md the seed's metrics. Nothing
here is ever read back: what is damaged or edited is written anew with the next step.
"""

from collections.abc import Sequence

from foundry.circular.assignment import context_text, fingerprint
from foundry.circular.history import (
    assignment_of,
    last_mark,
    left_of,
    measured,
    reverted_of,
    standing,
    states_of,
)
from foundry.circular.metrics import CircularMetrics, counted, final_metrics, overall_progress, work
from foundry.circular.prompt_versions import prompts_of
from foundry.circular.schema import (
    CircularState,
    CompletionStatus,
    Issue,
    IterationState,
    IterationStatus,
    ProgressState,
)
from foundry.schema.journal import Entry, Start, Stop
from foundry.schema.workflow import LoopStep, Workflow
from foundry.store.artifacts import to_json

STATE = "circular/state.json"
PROMPT = "circular/prompt.md"
PROMPTS = "circular/prompts.json"
"""Every version of the prompt, with what became of it; prompt.md is always the person's own."""
BASE = "circular/base-context.md"
REPORT = "circular/report.md"

MAX_ISSUES = 100


def circular_views(workflow: Workflow, entries: tuple[Entry, ...]) -> dict[str, str]:
    """The artifacts after the last of `entries`."""
    state = state_of(workflow, entries)
    views = {STATE: to_json(state), PROMPT: _prompt(entries) + "\n"}
    assignment, prompts = assignment_of(entries), prompts_of(entries)
    if assignment and assignment.base_context:
        views[BASE] = context_text(assignment.base_context) + "\n"
    if assignment and prompts and assignment.settings.refine:
        views[PROMPTS] = to_json(prompts.history)
    last = entries[-1]
    if isinstance(last, Stop):
        views[REPORT] = completion_report(state.progress_state, entries, last)
    return views


def state_of(workflow: Workflow, entries: tuple[Entry, ...]) -> CircularState:
    """The state that a journal tells of."""
    states = states_of(entries)
    status = _completion(entries, states)
    kept = measured(standing(states, entries))
    assignment, prompts = assignment_of(entries), prompts_of(entries)
    source = assignment.context_source if assignment else None
    loops = (step.loop for step in workflow.steps if isinstance(step, LoopStep))
    return CircularState(
        run=entries[0].run,
        progress_state=ProgressState(
            total_iterations=next((loop.max_iterations for loop in loops), 0),
            completed_iterations=len(work(states)),
            overall_progress=overall_progress(kept, complete=status == "complete"),
            completion_status=status,
        ),
        iteration_history=tuple(map(_short, states)),
        base_context_hash=source.sha256 if source else "",
        circular_prompt_hash=prompts.active.sha256 if prompts else fingerprint(_prompt(entries)),
    )


def _completion(entries: tuple[Entry, ...], states: tuple[IterationState, ...]) -> CompletionStatus:
    """Complete only when the claim withstood its doubts; blocked when a breaker ended it."""
    last = work(states)[-1] if work(states) else None
    if last and last.status is IterationStatus.SUCCESS and not reverted_of(entries):
        return "complete"
    measure = last_mark(entries).measure
    tripped = measure is not None and bool(measure.trip)
    return "blocked" if tripped or (last and last.verdict == "blocked") else "in_progress"


def _prompt(entries: tuple[Entry, ...]) -> str:
    if assignment := assignment_of(entries):
        return assignment.prompt
    return next(entry.spec for entry in entries if isinstance(entry, Start))


def _short(state: IterationState) -> IterationState:
    """Without the output of checks, which the journal has."""
    checks = tuple(check.model_copy(update={"output": ""}) for check in state.checks)
    return state.model_copy(update={"checks": checks})


def completion_report(progress: ProgressState, entries: tuple[Entry, ...], stop: Stop) -> str:
    """circular/report.md: how it ended, what it took, iteration by iteration."""
    states = states_of(entries)
    metrics = final_metrics(states, complete=progress.completion_status == "complete")
    overall = metrics.overall
    cost = "unknown" if overall.total_cost_usd is None else f"${overall.total_cost_usd:.2f}"
    figures = (
        f"- status: {stop.status} ({progress.completion_status})",
        f"- iterations: {len(work(states))} of at most {progress.total_iterations}, and "
        f"{len(states) - len(work(states))} that doubted",
        f"- tokens: {overall.total_tokens_consumed:,}",
        f"- time at work: {overall.total_execution_time:.0f} s",
        f"- cost: {cost}",
        f"- completion rate: {overall.completion_rate:.0%}",
        f"- error rate: {overall.error_rate:.0%}",
        f"- issues resolved per million tokens: {overall.progress_per_token:g}",
    )
    text = [
        "# Completion report",
        f"**{stop.status}**: {stop.reason}",
        "\n".join(figures),
        "## Iterations",
        _table(metrics, states),
    ]
    for title, lines in (
        ("How it adapted", adaptations(states)),
        ("Versions of the prompt", _versions(entries)),
        ("Known and not resolved", _open(entries, states)),
    ):
        if lines:
            text += [f"## {title}", "\n".join(f"- {each}" for each in lines)]
    return "\n\n".join(text) + "\n"


def adaptations(states: Sequence[IterationState]) -> tuple[str, ...]:
    """Why the threads were set up as they were, where that changed; and what was not merged."""
    before: dict[tuple[str, str], str] = {}
    lines = []
    for state in states:
        who = f"{'doubt of ' if state.kind == 'doubt' else ''}iteration {state.number}"
        for name, why in state.reasons.items():
            if before.get((state.kind, name)) != why:
                lines.append(f"{who}, {name}: {why}")
            before[state.kind, name] = why
        lines += [f"{who}, {each.title}: not merged: {each.why} (kept in {each.ref or 'no ref'})"
                  for each in state.partitions if not each.merged]  # fmt: skip
    return tuple(lines)


def headline(entries: tuple[Entry, ...]) -> str:
    """What the iterations came to, in a sentence; nothing where there was none."""
    states = states_of(entries)
    if not states:
        return ""
    kept = standing(states, entries)
    resolved = sum(counted(state.issues_resolved) for state in kept)
    files = {path for state in kept for path in state.files_modified}
    worked = len(work(states))
    return "; ".join(
        (
            f"{_counted(worked, 'iteration')}, {_counted(len(states) - worked, 'doubting thread')}",
            f"{_counted(resolved, 'issue')} resolved, {len(_open(entries, states))} known and open",
            f"{_counted(len(files), 'file')} changed",
            f"error rate {final_metrics(states, complete=False).overall.error_rate:.0%}",
        )
    )


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _table(metrics: CircularMetrics, states: Sequence[IterationState]) -> str:
    rows = [
        "| | status | ended | context | tokens | files | resolved | found | seconds | model "
        "| threshold | prompt |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row, state in zip(metrics.per_iteration, states, strict=True):
        name = f"{row.number}" if state.kind == "work" else f"{row.number} doubt"
        rows.append(
            f"| {name} | {state.status} | {state.ending or row.reason} "
            f"| {row.context_window_usage:.0%} | {row.tokens_consumed:,} | {row.files_modified} "
            f"| {row.issues_resolved} | {row.issues_discovered} "
            f"| {row.execution_duration:.1f} | {row.model} | {state.threshold:.0%} "
            f"| {state.prompt_version} |"
        )
    return "\n".join(rows)


def _versions(entries: Sequence[Entry]) -> tuple[str, ...]:
    """What became of each version of the prompt; nothing where there is only the original."""
    prompts = prompts_of(entries)
    found = prompts.history.versions if prompts else ()
    lines = (f"{each.number} {each.decision}{each.verdict and f': {each.verdict}'}"
             f"{each.why and f' ({each.why})'}" for each in found)  # fmt: skip
    return tuple(lines) if len(found) > 1 else ()


def _open(entries: tuple[Entry, ...], states: Sequence[IterationState]) -> tuple[str, ...]:
    """What checks found and no later iteration resolved, and what the last threads said is left."""
    states = measured(standing(states, entries))
    last = work(states)[-1:]
    if not last or last[0].status is IterationStatus.SUCCESS:
        return ()
    found: dict[str, Issue] = {}
    for state in states:
        found |= {each.id: each for each in state.issues_discovered if each.kind != "reported"}
        for issue in state.issues_resolved:
            found.pop(issue.id, None)
    failing = (f"{check.name}: {check.verdict}" for check in last[0].checks if not check.holds)
    issues = (issue.description for issue in found.values())
    return tuple(dict.fromkeys((*failing, *issues, *left_of(entries))))[:MAX_ISSUES]
