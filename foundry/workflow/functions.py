"""Which functions a step can name, and which of them it does. Definitions are prose. Pure."""

import re
from collections.abc import Iterator

from foundry.schema.workflow import Function, LoopStep, Step, Workflow

_CALLED = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\(", re.ASCII)


def in_scope(workflow: Workflow, loop: LoopStep | None, step: Step) -> dict[str, Function]:
    """The functions that a step can name: its own hide its loop's, those hide the workflow's."""
    scopes = (workflow, loop, step)
    return {
        function.name: function
        for scope in scopes
        if scope is not None
        for function in scope.function_definitions
    }


def referenced(workflow: Workflow, loop: LoopStep | None, step: Step) -> tuple[Function, ...]:
    """The functions that a step names, and those that their definitions name.

    A step names a function in `functionReferences`, in `functionCalls`, or by writing `name(` in
    its prompt or guidance.
    """
    scope = in_scope(workflow, loop, step)
    wanted = list(_named(step))
    found: dict[str, Function] = {}
    for name in wanted:  # grows by what the definitions name
        if name in scope and name not in found:
            found[name] = scope[name]
            wanted.extend(called(scope[name].definition))
    return tuple(found.values())


def referred(reference: str) -> str:
    """The name in a reference: `name()` and `name` are the same."""
    return reference.strip().removesuffix("()")


def called(text: str) -> Iterator[str]:
    """Every name that a text writes as a call, `name(`."""
    return (match[1] for match in _CALLED.finditer(text))


def _named(step: Step) -> Iterator[str]:
    yield from map(referred, step.function_references)
    yield from (call.name for call in step.function_calls)
    for text in (step.prompt, *step.guidance):
        yield from called(text)
