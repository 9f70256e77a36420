"""What a reader is told of a step, and how much of it: decided here and nowhere else.

A fresh conversation has no "above" and always gets everything. A reader that keeps its thread gets
a loop's overview and functions once, every body step in full the first time, and from then on what
has changed with a reference to the rest (seed 001, progressive disclosure). Nothing that is left
out is lost: `rehydrate` tells all of it again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from foundry.schema.workflow import Function, LoopStep, Workflow
from foundry.workflow.cursor import Instruction
from foundry.workflow.describe import (
    again_text,
    functions_text,
    item_text,
    iteration_text,
    loop_overview,
    step_text,
)
from foundry.workflow.functions import referenced
from foundry.workflow.loops import Context
from foundry.workflow.placeholders import fill

Reader = Literal["fresh", "thread"]
"""`fresh` begins empty and is forgotten; `thread` remembers what it was told."""

REFERENCE = "Refer to the phase guidance above; `rehydrate: true` gives it again."


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What is told: `step` and `guidance` in the words of the seed, `context` only the loop's."""

    step: Mapping[str, Any]
    guidance: Mapping[str, Any]
    context: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def disclose(
    workflow: Workflow, instruction: Instruction, reader: Reader, *, rehydrate: bool = False
) -> Disclosure:
    """What `reader` needs to do the step that is due."""
    if reader == "fresh":
        return _as_one_text(workflow, instruction)
    if rehydrate or instruction.previous is None:
        return _whole(workflow, instruction, overview=rehydrate or instruction.entering)
    return _again(workflow, instruction)


def _as_one_text(workflow: Workflow, instruction: Instruction) -> Disclosure:
    """Everything as one text: for a conversation that begins with it."""
    loop, step = instruction.loop, instruction.step
    text, warnings = step_text(step, instruction.context)
    functions = functions_text(referenced(workflow, loop, step))
    parts = (
        text,
        functions,
        loop_overview(instruction),
        iteration_text(instruction),
        item_text(instruction),
    )
    prompt = "\n\n".join(part for part in parts if part)
    return Disclosure(
        _described(instruction), {"prompt": prompt}, _loop_context(instruction), warnings
    )


def _whole(workflow: Workflow, instruction: Instruction, *, overview: bool) -> Disclosure:
    """The step in full, and its loop's overview or a reference to it."""
    loop, step = instruction.loop, instruction.step
    text, warnings = step_text(step, instruction.context)
    guidance: dict[str, Any] = {
        "prompt": "\n\n".join(filter(None, (text, iteration_text(instruction))))
    }
    if loop is not None and overview:
        guidance["loopPhaseGuidance"] = _overview(loop, instruction)
    elif loop is not None:
        guidance["phaseReference"] = REFERENCE
    functions = _functions(workflow, instruction, overview=overview)
    if functions:
        guidance["functionDefinitions"] = [
            each.model_dump(mode="json", by_alias=True, exclude_unset=True) for each in functions
        ]
    return Disclosure(_described(instruction), guidance, _loop_context(instruction), warnings)


def _again(workflow: Workflow, instruction: Instruction) -> Disclosure:
    """A body step that the reader knows: what is new, and where the rest stands."""
    loop, step, previous = instruction.loop, instruction.step, instruction.previous
    assert loop is not None
    assert previous is not None
    again = again_text(step, previous, instruction.context)
    guidance: dict[str, Any] = {
        "prompt": f"{again}\n\n{iteration_text(instruction)}",
        "phaseReference": REFERENCE,
    }
    functions = referenced(workflow, loop, step)
    if functions:
        guidance["functionReferences"] = [f"{each.name}()" for each in functions]
    return Disclosure(_named(instruction), guidance, _loop_context(instruction))


def _functions(
    workflow: Workflow, instruction: Instruction, *, overview: bool
) -> tuple[Function, ...]:
    """The functions that the step needs; with a loop's overview come those of its whole body."""
    loop, step = instruction.loop, instruction.step
    mine = {each.name: each for each in referenced(workflow, loop, step)}
    if loop is None:
        return tuple(mine.values())
    shared = {each.name: each for each in loop.function_definitions}
    for other in loop.steps:
        own = {each.name for each in other.function_definitions}
        needed = referenced(workflow, loop, other)
        shared |= {each.name: each for each in needed if each.name not in own}
    if overview:
        return tuple({**shared, **mine}.values())
    return tuple(each for name, each in mine.items() if shared.get(name) != each)


def _overview(loop: LoopStep, instruction: Instruction) -> dict[str, Any]:
    config = loop.loop.model_dump(mode="json", by_alias=True, exclude_unset=True)
    overview: dict[str, Any] = {
        "loopId": loop.id,
        "phaseTitle": fill(loop.title, instruction.context).text,
        "totalSteps": len(loop.steps),
        "steps": [
            {"id": each.id, "title": fill(each.title, instruction.context).text}
            for each in loop.steps
        ],
        "loop": config,
    }
    if loop.loop.type == "forEach":
        overview["totalItems"] = instruction.total
    return overview


def _described(instruction: Instruction) -> dict[str, Any]:
    """The step without the words that the prompt has."""
    step = instruction.step
    kept = {"ask_for_files", "has_validation", "validation_criteria", "function_references",
            "function_calls"}  # fmt: skip
    fields = step.model_dump(mode="json", by_alias=True, exclude_unset=True, include=kept)
    return _named(instruction) | fields


def _named(instruction: Instruction) -> dict[str, Any]:
    """What every reply says of a step; a person's word is asked for every time anew."""
    step = instruction.step
    named: dict[str, Any] = {"id": step.id, "title": fill(step.title, instruction.context).text}
    return named | ({"requiresConfirmation": True} if instruction.needs_confirmation else {})


def _loop_context(instruction: Instruction) -> Context:
    """The loop's variables and the seed's `_currentLoop`; the run's own stay on our side."""
    loop = instruction.loop
    if loop is None:
        return {}
    names = (loop.loop.iteration_var, loop.loop.item_var, loop.loop.index_var)
    own = [name for name in names if name in instruction.context]
    if loop.loop.type != "forEach":
        own = own[:1]
    return {
        **{name: instruction.context[name] for name in own},
        "_currentLoop": {
            "loopId": loop.id,
            "loopType": loop.loop.type,
            "iteration": instruction.number,
            "isFirstIteration": instruction.number == 1,
        },
    }
