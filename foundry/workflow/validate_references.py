"""What is named is there: ids are unique, bodies exist, functions are defined, arguments fit."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from foundry.schema.workflow import Function, LoopStep, Parameter, Step, Workflow
from foundry.workflow.functions import called, in_scope, referred
from foundry.workflow.problem import Finding, Loc, did_you_mean, json_path, name_list, value_text
from foundry.workflow.traverse import loops_around, loops_by_body, nodes
from foundry.workflow.validate_structure import NESTED

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}

Scope = Mapping[str, Function]


def repeated_ids(workflow: Workflow) -> Iterator[Finding]:
    """Ids that another step has already."""
    first: dict[str, Loc] = {}
    for node in nodes(workflow):
        loc = first.setdefault(node.step.id, node.loc)
        if loc != node.loc:
            yield Finding(
                (*node.loc, "id"),
                f"the id {node.step.id!r} is that of {json_path(loc)} already: give this step "
                "another",
            )


def bodies(workflow: Workflow) -> Iterator[Finding]:
    """Loops that name a body which they can't repeat."""
    top = {step.id: (number, step) for number, step in enumerate(workflow.steps)}
    known = [name for name, (_, step) in top.items() if isinstance(step, Step)]
    inside = {node.step.id for node in nodes(workflow) if node.loop is not None}
    for number, loop in enumerate(workflow.steps):
        if not isinstance(loop, LoopStep) or not isinstance(loop.body, str):
            continue
        name, loc = loop.body, ("steps", number, "body")
        at, body = top.get(name, (0, None))
        if name == loop.id:
            what = "a loop can't be its own body: name another step, or write it here"
            yield Finding(loc, what)
        elif body is None and name in inside:
            yield Finding(
                loc,
                f"{name!r} stands in another loop's body: move it to the top level, or write the "
                "steps here",
            )
        elif body is None:
            what = f"there is no step {name!r}{did_you_mean(name, known)}"
            yield Finding(loc, f"{what} (steps are: {name_list(known)})")
        elif isinstance(body, LoopStep):
            yield Finding(loc, f"{name!r} is a loop: {NESTED}")
        elif body.run_condition is not None:
            yield Finding(
                ("steps", at, "runCondition"),
                f"this step is the body of the loop {loop.id!r}, which decides when it runs: move "
                "the condition to the loop, or write the step into its body, where it may have one",
            )


def functions(workflow: Workflow) -> Iterator[Finding]:
    """Functions that are defined twice, are not there, or are called with what does not fit."""
    yield from _definitions(workflow.function_definitions, ())
    explained = {name for line in workflow.meta_guidance for name in called(line)}
    by_body = loops_by_body(workflow)
    for node in nodes(workflow):
        step = node.step
        yield from _definitions(step.function_definitions, node.loc)
        if isinstance(step, Step):
            for loop in loops_around(node, by_body) or (None,):
                yield from _named(node.loc, step, in_scope(workflow, loop, step), explained)


def _definitions(functions: tuple[Function, ...], loc: Loc) -> Iterator[Finding]:
    counts = Counter[str]()
    for number, function in enumerate(functions):
        where = (*loc, "functionDefinitions", number)
        counts[function.name] += 1
        if counts[function.name] == 2:
            what = f"{function.name!r} is defined twice in this scope: keep one"
            yield Finding((*where, "name"), what)
        for at, parameter in enumerate(function.parameters):
            if parameter.default is not None and (wrong := _misfit(parameter.default, parameter)):
                yield Finding((*where, "parameters", at, "default"), wrong)


def _named(loc: Loc, step: Step, scope: Scope, explained: Collection[str]) -> Iterator[Finding]:
    for number, reference in enumerate(step.function_references):
        where, name = (*loc, "functionReferences", number), referred(reference)
        if not name.isidentifier():
            yield Finding(where, f"{reference!r} is no reference: write `name()` or `name`")
        elif name not in scope:
            yield _undefined(where, name, scope, explained)
    for number, call in enumerate(step.function_calls):
        where = (*loc, "functionCalls", number)
        if call.name not in scope:
            yield _undefined((*where, "name"), call.name, scope, explained)
        elif scope[call.name].parameters:
            yield from _arguments(where, call.args, scope[call.name].parameters)


def _undefined(loc: Loc, name: str, scope: Scope, explained: Collection[str]) -> Finding:
    if name in explained or (explained and not scope):
        # Public documents define nothing and explain their functions in metaGuidance, not all of
        # them either: they are read as they are.
        return Finding(
            loc,
            f"{name!r} is defined nowhere, at most told of in metaGuidance: add it to "
            "functionDefinitions, so that readers get it where it is needed",
            "warning",
        )
    return Finding(
        loc,
        f"no function {name!r} is defined here{did_you_mean(name, scope)} (defined are: "
        f"{name_list(scope)}); add it to functionDefinitions of the step, its loop or the workflow",
    )


def _arguments(
    loc: Loc, args: Mapping[str, Any], parameters: tuple[Parameter, ...]
) -> Iterator[Finding]:
    known = {parameter.name: parameter for parameter in parameters}
    for name, value in args.items():
        where = (*loc, "args", name)
        if name not in known:
            what = f"there is no parameter {name!r}{did_you_mean(name, known)}"
            yield Finding(where, f"{what} (they are: {name_list(known)})")
        elif wrong := _misfit(value, known[name]):
            yield Finding(where, wrong)
    for name, parameter in known.items():
        if parameter.required and name not in args:
            yield Finding(loc, f"the argument {name!r} is missing: the function needs it")


def _misfit(value: Any, parameter: Parameter) -> str:
    """What is wrong with an argument; `{{name}}` stands for a value that only a run knows."""
    if isinstance(value, str) and "{{" in value:
        return ""
    kind, allowed = parameter.type, parameter.enum
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind == "number"):
        return f"is {value_text(value)}, and the parameter takes a {kind}"
    if allowed is not None and value not in allowed:
        names = [f"{each:g}" if type(each) is float else str(each) for each in allowed]
        return f"is {value_text(value)}, and the parameter takes one of {name_list(names)}"
    return ""
