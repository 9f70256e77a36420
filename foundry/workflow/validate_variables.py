"""Variables: those of a loop don't hide each other, and what stands in braces is provided."""

import re
from collections.abc import Collection, Iterator
from typing import Any

from foundry.workflow.document_conditions import asked
from foundry.workflow.placeholders import in_braces, is_name, unknown_name
from foundry.workflow.problem import Finding, Loc
from foundry.workflow.traverse import Document, Place, around, by_body, places, text, texts

VARIABLES = {
    "iterationVar": "currentIteration",
    "itemVar": "currentItem",
    "indexVar": "currentIndex",
}
"""A loop's variables by the fields that name them, with the names that they have otherwise."""

_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*", re.ASCII)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")


def variables(document: Document) -> Iterator[Finding]:
    """Variables of a loop that have one name, or that of something else."""
    context = document.get("context")
    given = set(context) if isinstance(context, dict) else set()
    for place in places(document):
        if place.is_loop and place.loop is None:
            yield from _loop_variables(place, given)


def braces(document: Document, names: Collection[str], *, strict: bool) -> Iterator[Finding]:
    """Warnings about `{{name}}` that nothing provides; `names` is what a run is known to bring.

    Public documents write prose and expressions in braces (`{{itemIndex + 1}}`, Mermaid's
    `{{"text"}}`). An expression is told of only when `strict` is asked for, and only where it has
    a name that there is: then somebody expects it to be worked out, and it never is.
    """
    everywhere = _names(document) | set(names)
    by_id = by_body(document)
    yield from _unknown((), document, everywhere, strict=strict)
    for place in places(document):
        loops = (place,) if place.is_loop else around(place, by_id)
        here = everywhere.union(*(_own(loop).values() for loop in loops))
        yield from _unknown(place.loc, place.data, here, strict=strict)


def _loop_variables(loop: Place, given: set[str]) -> Iterator[Finding]:
    own = _own(loop)
    for field, name in own.items():
        loc: Loc = (*loop.loc, "loop", field if field in loop.settings else "type")
        same = next((other for other in own if own[other] == name), field)
        if same != field:
            yield Finding(loc, f"{same} and {field} are both {name!r}: give one another name")
        elif name in given:
            yield Finding(
                loc, f"{name!r} hides the variable of the context inside this loop: rename one",
                "warning",
            )  # fmt: skip
        elif name in (_root(loop.settings.get("items")), _root(loop.settings.get("count"))):
            yield Finding(
                loc, f"{name!r} hides what the loop runs over inside of it: rename it", "warning"
            )


def _own(loop: Place) -> dict[str, str]:
    """The names of a loop's variables, by the fields for them."""
    each = loop.settings.get("type") == "forEach"
    fields = VARIABLES if each else ("iterationVar",)
    return {field: text(loop.settings.get(field)) or VARIABLES[field] for field in fields}


def _names(document: Document) -> set[str]:
    """What the document itself speaks of: its context, its conditions, what its loops run over."""
    context = document.get("context")
    names = {str(name) for name in context} if isinstance(context, dict) else set()
    names.update(map(_root, asked(document)))
    for place in places(document):
        names |= {_root(place.settings.get(key)) for key in ("items", "count")}
    return names - {""}


def _root(path: Any) -> str:
    return text(path).split(".")[0]


def _unknown(loc: Loc, data: dict[str, Any], names: set[str], *, strict: bool
             ) -> Iterator[Finding]:  # fmt: skip
    for where, written in _written(loc, data):
        for inside in dict.fromkeys(in_braces(written)):
            if is_name(inside):
                if _root(inside) not in names:
                    yield Finding(where, unknown_name(inside, names), "warning")
            elif strict and names & set(_WORD.findall(_QUOTED.sub("", inside))):
                yield Finding(
                    where,
                    f"{{{{{inside}}}}} is not worked out, only names and paths are filled in: let "
                    "an earlier step put the value into the context",
                )


def _written(loc: Loc, data: dict[str, Any]) -> Iterator[tuple[Loc, str]]:
    """The texts in which variables are filled in."""
    for key in ("title", "prompt", "agentRole"):
        if text(data.get(key)):
            yield (*loc, key), data[key]
    for key in ("guidance", "metaGuidance"):
        yield from texts(data.get(key), (*loc, key))
