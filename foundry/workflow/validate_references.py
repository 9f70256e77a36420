"""Functions: each is defined once in its scope, and what a step refers to is there and fits."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from foundry.workflow.functions import called, referred
from foundry.workflow.problem import Finding, Loc, meant, shown, some
from foundry.workflow.traverse import (
    Document,
    Place,
    around,
    by_body,
    objects,
    places,
    text,
    texts,
)

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}

Definitions = dict[str, dict[str, Any]]


def calls(document: Document) -> Iterator[Finding]:
    """What is wrong with function definitions, references and calls."""
    yield from _definitions(document, ())
    prose, loops = _in_prose(document), by_body(document)
    for place in places(document):
        yield from _definitions(place.data, place.loc)
        if not place.is_loop:
            for loop in around(place, loops) or (None,):
                scope = _scope(document, loop, place)
                yield from _references(place, scope, prose)
                yield from _calls(place, scope, prose)


def _definitions(data: dict[str, Any], loc: Loc) -> Iterator[Finding]:
    key = "functionDefinitions"
    counts = Counter[str]()
    for where, function in objects(data.get(key), (*loc, key)):
        name = text(function.get("name"))
        counts[name] += 1
        if name and counts[name] == 2:
            yield Finding((*where, "name"), f"{name!r} is defined twice in this scope: keep one")
        for at, parameter in objects(function.get("parameters"), (*where, "parameters")):
            default = parameter.get("default")
            if default is not None and (wrong := _misfit(default, parameter)):
                yield Finding((*at, "default"), wrong)


def _scope(document: Document, loop: Place | None, step: Place) -> Definitions:
    """What a step can name."""
    return {
        text(function.get("name")): function
        for data in (document, loop.data if loop else {}, step.data)
        for _, function in objects(data.get("functionDefinitions"), ())
    }


def _in_prose(document: Document) -> frozenset[str]:
    """Functions that the guidance for all steps explains, as the public documents do."""
    guidance = texts(document.get("metaGuidance"), ())
    return frozenset(name for _, line in guidance for name in called(line))


def _references(place: Place, scope: Definitions, prose: frozenset[str]) -> Iterator[Finding]:
    key = "functionReferences"
    for loc, reference in texts(place.data.get(key), (*place.loc, key)):
        name = referred(reference)
        if not name.isidentifier():
            yield Finding(loc, f"{reference!r} is no reference: write `name()` or `name`")
        else:
            yield from _known(loc, name, scope, prose)


def _calls(place: Place, scope: Definitions, prose: frozenset[str]) -> Iterator[Finding]:
    key = "functionCalls"
    for loc, call in objects(place.data.get(key), (*place.loc, key)):
        name, args = text(call.get("name")), call.get("args")
        if name:
            yield from _known((*loc, "name"), name, scope, prose)
        parameters = dict(_parameters(scope.get(name, {})))
        if parameters:
            yield from _arguments(loc, args if isinstance(args, dict) else {}, parameters)


def _known(loc: Loc, name: str, scope: Definitions, prose: frozenset[str]) -> Iterator[Finding]:
    if name in scope:
        return
    if name in prose or (prose and not scope):
        # Public documents define nothing and explain their functions in metaGuidance, not all of
        # them either: they are read as they are.
        yield Finding(
            loc,
            f"{name!r} is defined nowhere, at most told of in metaGuidance: add it to "
            "functionDefinitions, so that readers get it where it is needed",
            "warning",
        )
        return
    there = some(scope.keys() - {""})
    yield Finding(
        loc,
        f"no function {name!r} is defined here{meant(name, scope)} (defined are: {there}); add it "
        "to functionDefinitions of the step, its loop or the workflow",
    )


def _parameters(function: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for _, parameter in objects(function.get("parameters"), ()):
        if name := text(parameter.get("name")):
            yield name, parameter


def _arguments(loc: Loc, args: dict[str, Any], parameters: Definitions) -> Iterator[Finding]:
    for name, value in args.items():
        where = (*loc, "args", name)
        if name not in parameters:
            known = some(parameters)
            what = f"there is no parameter {name!r}{meant(name, parameters)} (they are: {known})"
            yield Finding(where, what)
        elif wrong := _misfit(value, parameters[name]):
            yield Finding(where, wrong)
    for name, parameter in parameters.items():
        if parameter.get("required") is True and name not in args:
            yield Finding(loc, f"the argument {name!r} is missing: the function needs it")


def _misfit(value: Any, parameter: dict[str, Any]) -> str:
    """What is wrong with an argument; `{{name}}` stands for a value that only a run knows."""
    if isinstance(value, str) and "{{" in value:
        return ""
    kind, allowed = text(parameter.get("type")), parameter.get("enum")
    types = _TYPES.get(kind, (object,))
    if not isinstance(value, types) or (isinstance(value, bool) and kind == "number"):
        return f"is {shown(value)}, and the parameter takes a {kind}"
    if isinstance(allowed, list) and value not in allowed:
        return f"is {shown(value)}, and the parameter takes one of {some([*map(str, allowed)])}"
    return ""
