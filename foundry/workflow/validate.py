"""Everything that is wrong with a document: its structure first, then its meaning and oddities."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from foundry.schema.workflow import Workflow
from foundry.workflow.parsing import plain
from foundry.workflow.problem import Finding, Loc, Problem, value_text
from foundry.workflow.validate_references import bodies, functions, repeated_ids
from foundry.workflow.validate_structure import validated
from foundry.workflow.validate_values import oddities, patterns
from foundry.workflow.validate_variables import loop_variables, unknown_placeholders


def problems(
    raw: object, *, strict: bool = False, names: Collection[str] = ()
) -> tuple[Problem, ...]:
    """The problems of a document, errors first, each kind in the document's own order.

    `raw` is any value at all. A document whose structure is wrong has no other problems yet: they
    are told once it is mended. `names` are variables that a run is known to bring beside those that
    the document speaks of. `strict` makes errors of warnings, and looks for expressions in braces.
    """
    document = plain(raw)
    workflow, found = _validated(document.value)
    found = [*document.findings, *found]
    if workflow is not None:
        found += oddities(workflow)
        found += unknown_placeholders(workflow, names, strict=strict)
    return sorted_problems(document.value, found, strict=strict)


def validated_workflow(raw: object) -> tuple[Workflow | None, tuple[Problem, ...]]:
    """The workflow that a document is, or None and its errors."""
    document = plain(raw)
    workflow, found = _validated(document.value)
    errors = [each for each in (*document.findings, *found) if each.level == "error"]
    if errors:
        return None, sorted_problems(document.value, errors)
    return workflow, ()


def sorted_problems(
    document: Any, found: Collection[Finding], *, strict: bool = False
) -> tuple[Problem, ...]:
    """Findings as problems: errors first, then as they stand in the document, each once."""
    findings = [Finding(each.loc, each.message, "error") if strict else each for each in found]
    numbers = {loc: number for number, loc in enumerate(_locations(document))} if findings else {}
    findings.sort(key=lambda each: (each.level != "error", _number(each.loc, numbers)))
    return tuple(dict.fromkeys(each.problem for each in findings))


def _validated(document: Any) -> tuple[Workflow | None, list[Finding]]:
    if not isinstance(document, dict):
        return None, [Finding((), f"is {value_text(document)}: a workflow is an object with steps")]
    document.pop("$schema", None)  # for editors
    workflow, structure = validated(document)
    if workflow is None:
        return None, list(structure)
    rules = (repeated_ids, bodies, functions, patterns, loop_variables)
    return workflow, [finding for rule in rules for finding in rule(workflow)]


def _locations(value: Any, loc: Loc = ()) -> Iterator[Loc]:
    """Every location, as a document is read from the top."""
    yield loc
    items: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    for key, each in enumerate(value) if isinstance(value, list) else items:
        yield from _locations(each, (*loc, key))


def _number(loc: Loc, numbers: dict[Loc, int]) -> int:
    """The number of a location, or of what it would be in."""
    while loc not in numbers:
        loc = loc[:-1]
    return numbers[loc]
