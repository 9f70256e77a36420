"""Validation criteria: their patterns compile, and their schemas are JSON Schemas."""

from collections.abc import Iterator
from typing import Any

from foundry.workflow.document_conditions import rules
from foundry.workflow.problem import Finding, Loc
from foundry.workflow.regex import FLAGS, Anything, compiled_with_lookaheads
from foundry.workflow.traverse import Document, places, text

_USED = {
    "contains": {"value"},
    "regex": {"pattern", "flags"},
    "length": {"min", "max"},
    "schema": {"schema"},
}
_ALL = frozenset().union(*_USED.values())


def criteria(document: Document) -> Iterator[Finding]:
    """What is wrong inside of rules that are well-formed."""
    for place in places(document):
        key = "validationCriteria"
        for loc, rule in rules(place.data.get(key), (*place.loc, key)):
            yield from _rule(loc, rule)


def _rule(loc: Loc, rule: dict[str, Any]) -> Iterator[Finding]:
    kind = text(rule.get("type"))
    if kind == "regex" and (pattern := text(rule.get("pattern"))):
        yield from _pattern(loc, pattern, text(rule.get("flags")))
    if kind == "schema" and isinstance(rule.get("schema"), dict):
        from foundry.workflow.output_schema import faults

        for inner, message in faults(rule["schema"]):
            yield Finding((*loc, "schema", *inner), message)
    for name in sorted((_ALL - _USED.get(kind, _ALL)) & rule.keys()):
        message = f"means nothing to a {kind} rule: remove it, or make it a rule of its own"
        yield Finding((*loc, name), message, "warning")


def _pattern(loc: Loc, pattern: str, flags: str) -> Iterator[Finding]:
    try:
        found = compiled_with_lookaheads(pattern, flags)
    except ValueError as error:
        where = "flags" if set(flags) - set(FLAGS) else "pattern"
        yield Finding((*loc, where), str(error))
        return
    if isinstance(found, Anything):
        yield Finding(
            (*loc, "pattern"),
            f"every text matches {pattern!r}, at its end at the latest: begin it with '^'",
            "warning",
        )
