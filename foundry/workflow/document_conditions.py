"""The conditions of a document: where they stand, which names they ask about, and their regexes."""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from foundry.schema.condition import Condition
from foundry.workflow import conditions
from foundry.workflow.problem import Finding, Loc
from foundry.workflow.traverse import Document, objects, places, text


def regexes(document: Document) -> Iterator[Finding]:
    """Patterns in conditions that do not compile. A condition that is malformed has none yet."""
    for loc, raw in written(document):
        try:
            condition = Condition.model_validate(raw, by_alias=True, by_name=False)
        except ValidationError:
            continue
        for suffix, message in conditions.problems(condition):
            yield Finding((*loc, *_parts(suffix)), message)


def asked(document: Document) -> Iterator[str]:
    """The names and paths that conditions ask about, also the malformed ones."""
    for _, raw in written(document):
        yield from _variables(raw)


def written(document: Document) -> Iterator[tuple[Loc, dict[str, Any]]]:
    """Every condition, with its place."""
    for place in places(document):
        for gate in ("runCondition", "requireConfirmation"):
            if isinstance(place.data.get(gate), dict):
                yield (*place.loc, gate), place.data[gate]
        if isinstance(place.settings.get("condition"), dict):
            yield (*place.loc, "loop", "condition"), place.settings["condition"]
        key = "validationCriteria"
        for loc, rule in rules(place.data.get(key), (*place.loc, key)):
            if isinstance(rule.get("condition"), dict):
                yield (*loc, "condition"), rule["condition"]


def rules(criteria: Any, loc: Loc) -> Iterator[tuple[Loc, dict[str, Any]]]:
    """Every rule of validation criteria, with its place."""
    if isinstance(criteria, list):
        for inner, each in objects(criteria, loc):
            yield from rules(each, inner)
    elif isinstance(criteria, dict) and "type" in criteria:
        yield loc, criteria
    elif isinstance(criteria, dict):
        for word in ("and", "or", "not"):
            if word in criteria:
                yield from rules(criteria[word], (*loc, word))


def _variables(raw: dict[str, Any]) -> Iterator[str]:
    if name := text(raw.get("var")):
        yield name
    for word in ("and", "or"):
        for _, part in objects(raw.get(word), ()):
            yield from _variables(part)
    if isinstance(raw.get("not"), dict):
        yield from _variables(raw["not"])


def _parts(suffix: str) -> Loc:
    """`.and[0].matches` as a way through the document."""
    steps = suffix.replace("[", ".").replace("]", "").strip(".").split(".")
    return tuple(int(each) if each.isdecimal() else each for each in steps)
