"""Everything that is wrong with a document, at once: its structure, its meaning, its oddities."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from foundry.schema.workflow import Workflow
from foundry.workflow.document_conditions import regexes
from foundry.workflow.oddities import oddities
from foundry.workflow.parsing import plain
from foundry.workflow.problem import Finding, Loc, Problem, shown
from foundry.workflow.traverse import Document
from foundry.workflow.validate_references import calls
from foundry.workflow.validate_rules import criteria
from foundry.workflow.validate_structure import validated
from foundry.workflow.validate_variables import braces, variables
from foundry.workflow.wiring import NESTED, wiring

__all__ = ["Problem", "checked", "problems", "sorted_problems"]


def problems(
    raw: object, *, strict: bool = False, names: Collection[str] = ()
) -> tuple[Problem, ...]:
    """All problems of a document, errors first, each kind in the document's own order.

    `raw` is any value at all. `names` are variables that a run is known to bring beside those that
    the document speaks of. `strict` makes errors of warnings, and looks for expressions in braces.
    """
    made_plain = plain(raw)
    document = made_plain.value
    _, errors = _checked(document)
    found = [*made_plain.findings, *errors]
    if isinstance(document, dict):
        found += oddities(document)
        found += braces(document, names, strict=strict)
    return sorted_problems(document, found, strict=strict)


def checked(raw: object) -> tuple[Workflow | None, tuple[Problem, ...]]:
    """The workflow that a document is, or None and its errors; warnings are not looked for."""
    made_plain = plain(raw)
    workflow, found = _checked(made_plain.value)
    errors = [each for each in (*made_plain.findings, *found) if each.level == "error"]
    if errors:
        return None, sorted_problems(made_plain.value, errors)
    return workflow, ()


def sorted_problems(
    document: Any, found: Collection[Finding], *, strict: bool = False
) -> tuple[Problem, ...]:
    """Findings as problems: errors first, then as they stand in the document, each once."""
    findings = [Finding(each.loc, each.message, "error") if strict else each for each in found]
    numbers = {loc: number for number, loc in enumerate(_positions(document))} if findings else {}
    findings.sort(key=lambda each: (each.level != "error", _place(each.loc, numbers)))
    return tuple(dict.fromkeys(each.problem for each in findings))


def _checked(document: Any) -> tuple[Workflow | None, list[Finding]]:
    if not isinstance(document, dict):
        return None, [Finding((), f"is {shown(document)}: a workflow is an object with steps")]
    document.pop("$schema", None)  # for editors
    workflow, structure = validated(document)
    meaning = list(_meaning(document))
    nested = {each.loc for each in meaning if each.message == NESTED}
    told = [each for each in structure if not any(_inside(each.loc, loc) for loc in nested)]
    return workflow, [*told, *meaning]


def _meaning(document: Document) -> Iterator[Finding]:
    for check in (wiring, calls, regexes, criteria, variables):
        yield from check(document)


def _inside(loc: Loc, outer: Loc) -> bool:
    return loc[: len(outer)] == outer


def _positions(value: Any, loc: Loc = ()) -> Iterator[Loc]:
    """Every place, as a document is read from the top."""
    yield loc
    items: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    for key, each in enumerate(value) if isinstance(value, list) else items:
        yield from _positions(each, (*loc, key))


def _place(loc: Loc, numbers: dict[Loc, int]) -> int:
    """The number of a place, or of what it would be in."""
    while loc not in numbers:
        loc = loc[:-1]
    return numbers[loc]
