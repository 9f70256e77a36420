"""The steps that the harness does itself, by the name that a workflow gives them."""

from collections.abc import Callable

from foundry.circular.measure import measure
from foundry.engine.checks import run_baseline, run_checks
from foundry.engine.deploy import Ask, run_deploy
from foundry.engine.feedback import QUIET, feedback_result
from foundry.engine.result import Evidence, Result
from foundry.engine.step_context import StepContext
from foundry.errors import WorkflowError
from foundry.schema.command import CheckResult

Acted = tuple[Result, tuple[CheckResult, ...]]
Intend = Callable[[str], None]


def act(ctx: StepContext, intend: Intend, ask: Ask) -> Acted | None:
    """Do the action of the step that is due; None when a person has to decide first."""
    name = ctx.instruction.step.action
    if name not in ACTIONS:
        raise WorkflowError(f"{ctx.instruction.id}: there is no action {name!r}")
    return ACTIONS[name](ctx, intend, ask)


def _deploy(ctx: StepContext, intend: Intend, ask: Ask) -> Acted | None:
    result = run_deploy(ctx, intend, ask)
    return None if result is None else (result, ())


ACTIONS: dict[str, Callable[[StepContext, Intend, Ask], Acted | None]] = {
    "baseline": lambda ctx, _intend, _ask: run_baseline(ctx),
    "checks": lambda ctx, _intend, _ask: run_checks(ctx),
    "learn": lambda ctx, _intend, _ask: (feedback_result(ctx, QUIET, Evidence()), ()),
    "deploy": _deploy,
    "measure": lambda ctx, _intend, ask: measure(ctx, ask),
}
