"""The shipped workflow with what a person asked for: threshold, iterations, confirmations. Pure."""

from foundry.schema.workflow import LoopStep, Step, Workflow

DOUBT = "doubt"


def shaped(
    workflow: Workflow,
    *,
    threshold: float,
    max_iterations: int,
    confirmations: int = 1,
    refine: bool = False,
) -> Workflow:
    """The workflow in which every thread ends at `threshold`, with so many doubting threads."""
    return workflow.model_copy(
        update={
            "steps": tuple(
                _shaped_loop(step, threshold, max_iterations, confirmations, refine=refine)
                if isinstance(step, LoopStep)
                else step
                for step in workflow.steps
            )
        }
    )


def _shaped_loop(
    step: LoopStep, threshold: float, most: int, confirmations: int, *, refine: bool
) -> LoopStep:
    body = [_within(each, threshold) for each in step.steps if each.id != DOUBT]
    if refine:
        body = [_refining(each) for each in body]
    doubt = next(_within(each, threshold) for each in step.steps if each.id == DOUBT)
    names = (DOUBT, *(f"{DOUBT}-{number}" for number in range(2, confirmations + 1)))
    doubts = [doubt.model_copy(update={"id": name}) for name in names]
    loop = step.loop.model_copy(update={"max_iterations": most})
    return step.model_copy(update={"loop": loop, "body": (*body, *doubts)})


def _within(step: Step, threshold: float) -> Step:
    budget = step.budget.model_copy(update={"threshold": threshold})
    return step.model_copy(update={"budget": budget})


def _refining(step: Step) -> Step:
    """A step whose thread may propose another wording of the prompt, where it is one that works."""
    works = step.contract == "circular"
    return step.model_copy(update={"contract": "circular-refining"}) if works else step
