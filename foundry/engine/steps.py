"""Questions about the steps of a workflow. Pure; workflows are resolved ones."""

from foundry.schema.workflow import LoopStep, Step, Workflow

MADE = ("builder", "fix")
"""The contracts whose steps change the project by a plan."""

CHECKS = "checks"

CHECKING = (CHECKS, "measure")
"""The actions that run the checks."""


def roles(workflow: Workflow) -> tuple[str, ...]:
    """Whose models answer, in the order in which they first do."""
    return tuple(dict.fromkeys(step.role for step in workflow.all_steps if not step.action))


def task_step(workflow: Workflow, number: int) -> str:
    """The step that builds the task of this number (from 1), or nothing without such a loop."""
    for outer in workflow.steps:
        for step in outer.steps if isinstance(outer, LoopStep) else ():
            if step.contract == "builder":
                return f"{outer.id}[{number}]/{step.id}"
    return ""


def made_something(workflow: Workflow, step: str) -> bool:
    """Whether a journalled step changed the project by a plan."""
    made = {each.id for each in workflow.all_steps if each.contract in MADE and not each.action}
    return step.rsplit("/", 1)[-1] in made


def has_checks(workflow: Workflow) -> bool:
    """Whether a step of the workflow runs the checks."""
    return any(step.action in CHECKING for step in workflow.all_steps)


def with_checks(workflow: Workflow) -> Workflow:
    """The workflow with a last step that runs the checks, unless it has one that does."""
    if has_checks(workflow):
        return workflow
    taken = {step.id for step in (*workflow.steps, *workflow.all_steps)}
    names = (f"{CHECKS}{number or ''}" for number in range(len(taken) + 1))
    last = Step(
        id=next(name for name in names if name not in taken),
        title="Run the checks",
        action=CHECKS,
        required=True,
    )
    return workflow.model_copy(update={"steps": (*workflow.steps, last)})
