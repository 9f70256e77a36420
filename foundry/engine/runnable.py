"""Whether a workflow can be run here: the templates, tools and kinds of step that it names.

A document can be valid and still not be runnable here. Everything is found before a run begins.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from foundry.context.templates import template_problems
from foundry.engine.step_kind import ACTIONS, STEPS, kind_of
from foundry.errors import PluginError
from foundry.schema.variables import OWN_NAMES
from foundry.schema.workflow import LoopStep, Step, Workflow
from foundry.tools.toolset import TOOLS
from foundry.workflow.problem import Problem

Found = Iterator[tuple[str, str]]


def runnable_problems(workflow: Workflow, folder: Path | None = None) -> tuple[Problem, ...]:
    """What the workflow names and nobody has, all of it, with its JSON path.

    `folder` is where the workflow's own templates are. Paths are those of `workflow` as it is
    given: for a document's own, one whose bodies are not resolved yet.
    """
    found = _of_workflow(workflow, folder)
    return tuple(Problem(path, message, "error") for path, message in found)


def _of_workflow(workflow: Workflow, folder: Path | None) -> Found:
    if workflow.system:
        yield from _template("$.system", workflow.system, folder)
    for name in workflow.context:
        yield from _own(f"$.context.{name}", name)
    for number, step in enumerate(workflow.steps):
        path = f"$.steps[{number}]"
        if isinstance(step, Step):
            yield from _of_step(path, step, folder, _loop_over(workflow, step))
            continue
        yield from _of_loop(path, step)
        for place, each in enumerate(step.body if isinstance(step.body, tuple) else ()):
            yield from _of_step(f"{path}.body[{place}]", each, folder, step)


def _of_loop(path: str, step: LoopStep) -> Found:
    loop = step.loop
    for field, name in (("iterationVar", loop.iteration_var), ("itemVar", loop.item_var),
                        ("indexVar", loop.index_var)):  # fmt: skip
        yield from _own(f"{path}.loop.{field}", name)


def _of_step(path: str, step: Step, folder: Path | None, loop: LoopStep | None) -> Found:
    if step.template:
        yield from _template(f"{path}.template", step.template, folder)
    if step.action and step.action not in ACTIONS:
        yield f"{path}.action", _unknown("action", step.action, ACTIONS.names())
    if step.action and step.validation_criteria:
        yield f"{path}.validationCriteria", "an action hands in nothing that they could judge"
    yield from ((f"{path}.contract", problem) for problem in _of_kind(step, loop))
    for number, tool in enumerate(step.tools or ()):
        if tool not in TOOLS:
            yield f"{path}.tools[{number}]", _unknown("tool", tool, TOOLS.names())
    for number, name in enumerate(step.reads):
        wanted = PurePosixPath(name)
        if wanted.is_absolute() or ".." in wanted.parts or not wanted.parts:
            yield f"{path}.reads[{number}]", f"{name!r} is no artifact: name a file of its folder"


def _of_kind(step: Step, loop: LoopStep | None) -> Iterator[str]:
    if step.contract not in STEPS:
        yield _unknown("contract", step.contract, STEPS.names())
        return
    try:
        if why := kind_of(step).misplaced(loop):
            yield f"{step.contract!r} {why}"
    except PluginError as error:
        yield str(error)


def _loop_over(workflow: Workflow, step: Step) -> LoopStep | None:
    """The loop whose body a step is that stands by itself."""
    loops = (each for each in workflow.steps if isinstance(each, LoopStep))
    return next((each for each in loops if each.body == step.id), None)


def _template(path: str, template: str, folder: Path | None) -> Found:
    for problem in template_problems(template, folder):
        yield path, problem


def _own(path: str, name: str) -> Found:
    if name in OWN_NAMES:
        yield path, f"{name!r} is set by the harness itself: choose another name"


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    return f"there is no {what} {name!r}; known are {', '.join(known)}"
