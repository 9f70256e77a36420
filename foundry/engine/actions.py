"""The steps that the harness does itself, by the name that a workflow gives them."""

from collections.abc import Callable

from foundry.engine.checks import run_baseline, run_checks
from foundry.engine.deploy import Ask, run_deploy
from foundry.engine.desk import Desk
from foundry.engine.feedback import QUIET, feedback_result
from foundry.engine.result import Evidence, Result
from foundry.errors import WorkflowError
from foundry.schema.checks import CheckResult

Acted = tuple[Result, tuple[CheckResult, ...]]


def act(desk: Desk, intend: Callable[[str], None], ask: Ask) -> Acted | None:
    """Do the action of the step that is due; None when a person has to decide first."""
    match desk.instruction.step.action:
        case "baseline":
            return run_baseline(desk)
        case "checks":
            return run_checks(desk)
        case "learn":
            return feedback_result(desk, QUIET, Evidence()), ()
        case "deploy":
            result = run_deploy(desk, intend, ask)
            return None if result is None else (result, ())
        case unknown:
            raise WorkflowError(f"{desk.instruction.id}: there is no action {unknown!r}")
