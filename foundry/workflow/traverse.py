"""The steps of a document that may be wrong in any way: whoever looks at one finds it here."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from foundry.workflow.problem import Loc

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """A step or a loop as it is written; `loop` is the one whose inline body it is in."""

    loc: Loc
    data: dict[str, Any]
    loop: "Place | None" = None

    @property
    def id(self) -> str:
        """The step's id, empty where it has none."""
        return text(self.data.get("id"))

    @property
    def is_loop(self) -> bool:
        """Whether it repeats a body."""
        return "type" in self.data or "loop" in self.data

    @property
    def settings(self) -> dict[str, Any]:
        """How a loop repeats its body."""
        settings = self.data.get("loop")
        return settings if isinstance(settings, dict) else {}


def places(document: Document) -> Iterator[Place]:
    """Every step and loop, a loop before its body, as they are written."""
    for loc, data in objects(document.get("steps"), ("steps",)):
        place = Place(loc, data)
        yield place
        if place.is_loop:
            for inner, step in objects(data.get("body"), (*loc, "body")):
                yield Place(inner, step, place)


def top_level(document: Document) -> Iterator[Place]:
    """The steps and loops that are in no body."""
    return (place for place in places(document) if place.loop is None)


def by_body(document: Document) -> dict[str, list[Place]]:
    """The loops that name a step as their body, by its id."""
    loops: dict[str, list[Place]] = {}
    for place in top_level(document):
        if place.is_loop and isinstance(place.data.get("body"), str):
            loops.setdefault(place.data["body"], []).append(place)
    return loops


def around(place: Place, loops: dict[str, list[Place]]) -> list[Place]:
    """The loops that a step is in: inline, or because they name it as their body."""
    return [place.loop] if place.loop is not None else loops.get(place.id, [])


def objects(value: Any, loc: Loc) -> Iterator[tuple[Loc, dict[str, Any]]]:
    """The objects of a list, with their places; nothing where there is no list."""
    for number, each in enumerate(value if isinstance(value, list) else ()):
        if isinstance(each, dict):
            yield (*loc, number), each


def texts(value: Any, loc: Loc) -> Iterator[tuple[Loc, str]]:
    """The texts of a list, with their places."""
    for number, each in enumerate(value if isinstance(value, list) else ()):
        if isinstance(each, str):
            yield (*loc, number), each


def text(value: Any) -> str:
    """The value where it is text, and otherwise nothing."""
    return value if isinstance(value, str) else ""
