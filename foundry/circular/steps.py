"""The kinds of step that circular prompting brings: found through Foundry's own entry points.

A thread that works, the same where it may propose another wording of the prompt, and one that
doubts that it is done; between them the action that measures what an iteration came to.
"""

from dataclasses import replace

from foundry.circular.adaptation import tuned_doubt, tuned_work
from foundry.circular.measure import measure
from foundry.circular.outcome import doubt_cut_short, doubt_result, work_cut_short, work_result
from foundry.circular.parallel import side_by_side
from foundry.circular.prompt_values import circular_values
from foundry.circular.report import circular_views, headline
from foundry.circular.schema import RefiningSubmission, Submission
from foundry.engine import gates
from foundry.engine.step_context import StepContext
from foundry.engine.step_kind import Evidence, StepAction, StepKind


def _work_gate(ctx: StepContext, done: Submission) -> Evidence:
    """The verdict agrees with itself, and what was changed can be committed."""
    problems = _contradictions(done)
    return Evidence(problems) if problems else gates.committable(ctx)


def _doubt_gate(_ctx: StepContext, done: Submission) -> Evidence:
    """The verdict agrees with itself; a doubt changes nothing."""
    return Evidence(_contradictions(done))


def _contradictions(done: Submission) -> tuple[str, ...]:
    """Where a verdict and its lists contradict each other."""
    left = (*done.remaining, *done.found)
    if done.verdict == "done" and left:
        return (f"verdict is done, and yet there is something left: {'; '.join(left)[:300]}",)
    if done.verdict == "more" and not left:
        return ("verdict is more: name in `remaining` what is left, one entry each",)
    return ()


WORK = StepKind(
    name="circular",
    submission=Submission,
    values=circular_values,
    gate=_work_gate,
    result=work_result,
    edits=True,
    hold=side_by_side,
    cut_short=work_cut_short,
    tuned=tuned_work,
    views=circular_views,
    headline=headline,
)
REFINING = replace(WORK, name="circular-refining", submission=RefiningSubmission)
DOUBT = StepKind(
    name="circular-doubt",
    submission=Submission,
    values=circular_values,
    gate=_doubt_gate,
    result=doubt_result,
    cut_short=doubt_cut_short,
    tuned=tuned_doubt,
)
MEASURE = StepAction("measure", measure, runs_checks=True)
