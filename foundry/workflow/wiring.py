"""Ids and bodies: every step has a name of its own, and every loop a body that it can repeat."""

from collections.abc import Iterator

from foundry.workflow.problem import Finding, json_path, meant, some
from foundry.workflow.traverse import Document, Place, places, top_level

NESTED = (
    "a loop can't stand in another's body: put it on the top level. To repeat something for each "
    "pair of two lists, let an earlier step make one list of the pairs for a single forEach"
)


def wiring(document: Document) -> Iterator[Finding]:
    """What is wrong with ids, bodies by id, and loops in loops."""
    yield from _repeated_ids(document)
    outside = {place.id: place for place in top_level(document) if place.id}
    steps = [each for each, place in outside.items() if not place.is_loop]
    inside = {place.id for place in places(document) if place.loop is not None}
    for place in places(document):
        if place.is_loop and place.loop is not None:
            yield Finding(place.loc, NESTED)
        elif place.is_loop and isinstance(place.data.get("body"), str):
            yield from _body(place, outside, inside, steps)


def _repeated_ids(document: Document) -> Iterator[Finding]:
    first: dict[str, Place] = {}
    for place in places(document):
        if not place.id:
            continue
        if place.id in first:
            where = json_path(first[place.id].loc)
            yield Finding(
                (*place.loc, "id"),
                f"the id {place.id!r} is that of {where} already: give this step another",
            )
        first.setdefault(place.id, place)


def _body(
    loop: Place, outside: dict[str, Place], inside: set[str], steps: list[str]
) -> Iterator[Finding]:
    name, loc = loop.data["body"], (*loop.loc, "body")
    body = outside.get(name)
    if name == loop.id:
        yield Finding(loc, "a loop can't be its own body: name another step, or write it here")
    elif body is None and name in inside:
        yield Finding(
            loc,
            f"{name!r} stands in another loop's body: move it to the top level, or write the "
            "steps here",
        )
    elif body is None:
        what = f"there is no step {name!r}{meant(name, steps)} (steps are: {some(steps)})"
        yield Finding(loc, what)
    elif body.is_loop:
        yield Finding(loc, f"{name!r} is a loop: {NESTED}")
    elif body.data.get("runCondition") is not None:
        yield Finding(
            (*body.loc, "runCondition"),
            f"this step is the body of the loop {loop.id!r}, which decides when it runs: move the "
            "condition to the loop, or write the step into its body, where it may have one",
        )
