"""The steps, conditions and rules of a workflow, each with its location in the document."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from foundry.schema.condition import Condition
from foundry.schema.criteria import Composition, Criteria, Criterion, Rule
from foundry.schema.workflow import LoopStep, Step, Workflow
from foundry.workflow.problem import Loc


@dataclass(frozen=True, slots=True)
class Node:
    """A step or a loop; `loop` is the one whose inline body it is in."""

    loc: Loc
    step: Step | LoopStep
    loop: LoopStep | None = None


def nodes(workflow: Workflow) -> Iterator[Node]:
    """Every step and loop as they are written, a loop before its inline body."""
    for number, step in enumerate(workflow.steps):
        loc: Loc = ("steps", number)
        yield Node(loc, step)
        if isinstance(step, LoopStep) and not isinstance(step.body, str):
            for inner, each in enumerate(step.body):
                yield Node((*loc, "body", inner), each, step)


def loops_by_body(workflow: Workflow) -> dict[str, list[LoopStep]]:
    """The loops that name a step as their body, by its id."""
    loops: dict[str, list[LoopStep]] = {}
    for step in workflow.steps:
        if isinstance(step, LoopStep) and isinstance(step.body, str):
            loops.setdefault(step.body, []).append(step)
    return loops


def loops_around(node: Node, by_body: dict[str, list[LoopStep]]) -> list[LoopStep]:
    """The loops that a step is in: inline, or because they name it as their body."""
    return [node.loop] if node.loop is not None else by_body.get(node.step.id, [])


def conditions(workflow: Workflow) -> Iterator[tuple[Loc, Condition]]:
    """Every condition of steps, loops and rules."""
    for node in nodes(workflow):
        step = node.step
        if step.run_condition is not None:
            yield (*node.loc, "runCondition"), step.run_condition
        if isinstance(step.require_confirmation, Condition):
            yield (*node.loc, "requireConfirmation"), step.require_confirmation
        if isinstance(step, LoopStep) and step.loop.condition is not None:
            yield (*node.loc, "loop", "condition"), step.loop.condition
        for loc, rule in rules(node):
            if rule.condition is not None:
                yield (*loc, "condition"), rule.condition


def rules(node: Node) -> Iterator[tuple[Loc, Rule]]:
    """Every rule of a step's validation criteria."""
    if isinstance(node.step, Step):
        yield from _rules(node.step.validation_criteria, (*node.loc, "validationCriteria"))


def fields_given(value: BaseModel) -> set[str]:
    """The fields that a document gives, by the names that it uses."""
    fields = type(value).model_fields
    return {fields[name].alias or name for name in value.model_fields_set}


def _rules(criteria: Criteria | Criterion | None, loc: Loc) -> Iterator[tuple[Loc, Rule]]:
    match criteria:
        case Rule():
            yield loc, criteria
        case Composition():
            for word in ("and", "or", "not"):
                yield from _rules(getattr(criteria, f"{word}_"), (*loc, word))
        case tuple():
            for number, each in enumerate(criteria):
                yield from _rules(each, (*loc, number))
