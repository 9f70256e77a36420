"""The steps that the harness does itself, by the name that a workflow gives them."""

from collections.abc import Callable

from foundry.circular.measure import measure
from foundry.engine.checks import run_baseline, run_checks
from foundry.engine.deploy import Ask, run_deploy
from foundry.engine.feedback import QUIET, feedback_result
from foundry.engine.result import Evidence, Result
from foundry.engine.step_context import Desk
from foundry.errors import WorkflowError
from foundry.schema.checks import CheckResult

Acted = tuple[Result, tuple[CheckResult, ...]]
Intend = Callable[[str], None]


def act(desk: Desk, intend: Intend, ask: Ask) -> Acted | None:
    """Do the action of the step that is due; None when a person has to decide first."""
    name = desk.instruction.step.action
    if name not in ACTIONS:
        raise WorkflowError(f"{desk.instruction.id}: there is no action {name!r}")
    return ACTIONS[name](desk, intend, ask)


def _deploy(desk: Desk, intend: Intend, ask: Ask) -> Acted | None:
    result = run_deploy(desk, intend, ask)
    return None if result is None else (result, ())


ACTIONS: dict[str, Callable[[Desk, Intend, Ask], Acted | None]] = {
    "baseline": lambda desk, _intend, _ask: run_baseline(desk),
    "checks": lambda desk, _intend, _ask: run_checks(desk),
    "learn": lambda desk, _intend, _ask: (feedback_result(desk, QUIET, Evidence()), ()),
    "deploy": _deploy,
    "measure": lambda desk, _intend, ask: measure(desk, ask),
}
